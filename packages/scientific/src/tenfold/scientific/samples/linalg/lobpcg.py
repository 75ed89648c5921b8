"""Samples of searches for extreme eigenvalues."""

from __future__ import annotations

from collections.abc import Iterator

import tenfold
from tenfold.tensor.tensor import Tensor
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

REAL = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64"))


def _symmetric(make: Make, *batch: int) -> Tensor:
    """With eigenvalues well apart: vectors of equal ones are anyone's choice."""
    x: Tensor = make(*batch, 6, 6, distinct=True)
    return x + x.mT + tenfold.diag(tenfold.arange(6, dtype=x.dtype, device=x.device) * 4)


@samples("lobpcg", dtypes=REAL, related="eigenvectors are known up to their signs, and a matrix is symmetric or none")
def _lobpcg(make: Make) -> Iterator[Sample]:
    yield Sample(_symmetric(make), 2, note="largest")
    yield Sample(_symmetric(make, 2), largest=False, note="batch, smallest")


@error_samples("lobpcg")
def _errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, 4), error=AssertionError, match="must be square")
    yield ErrorSample(make(5, 5), 2, error=ValueError, match="smaller than 3 x")
