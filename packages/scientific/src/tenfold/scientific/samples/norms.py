"""Samples of norms under their older names, of differences, and of all dimensions but one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples
from tenfold.types.dtypes import BY_NAME

WIDE = tuple(BY_NAME[name] for name in ("float32", "float64", "complex64", "complex128"))


@samples("frobenius_norm", dtypes=WIDE, reference=lambda x, dim, keepdim=False: np.sqrt(
    (np.abs(x) ** 2).sum(tuple(dim) if isinstance(dim, (tuple, list)) and dim else dim or None, keepdims=keepdim)
))  # fmt: skip
def _frobenius(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 4), 1, note="one dimension")
    yield Sample(make(2, 3, 4), (0, -1), True, note="two, kept")
    yield Sample(make(2, 3), (), note="all")


error_samples("frobenius_norm")(
    lambda make: [ErrorSample(make(2, 3, 4), (0, 1, 2), error=RuntimeError, match="at most 2 dimensions, but got 3")]
)


@samples("nuclear_norm", dtypes=WIDE)
def _nuclear(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 4), note="matrix")
    yield Sample(make(2, 3, 4), (0, 2), note="dimensions")
    yield Sample(make(2, 3), True, note="kept")


error_samples("nuclear_norm")(lambda make: [ErrorSample(make(2, 3), (0,), error=RuntimeError, match="must be a 2-tuple")])


@samples("norm_except_dim", dtypes=WIDE)
def _except(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 4), note="first dimension")
    yield Sample(make(2, 3, 4), 1, 2, note="another norm")
    yield Sample(make(2, 3), 2, -1, note="all")


error_samples("norm_except_dim")(lambda make: [ErrorSample(make(2, 3), 2, 5, error=IndexError, match="Dimension out of range")])
