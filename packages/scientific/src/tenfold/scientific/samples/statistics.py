"""Samples of quantiles, covariance and correlation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

FLOATS = (tenfold.float32, tenfold.float64)


def quantile(skip_nan: bool) -> Any:
    def reference(input: Any, q: Any, dim: Any = None, keepdim: bool = False, interpolation: str = "linear") -> Any:
        function: Any = np.nanquantile if skip_nan else np.quantile
        return function(input, q, axis=dim, keepdims=keepdim, method=interpolation)

    return reference


def _quantile(make: Make) -> Iterator[Sample]:
    for q in (0.3, 0.5):
        yield Sample(make(5, distinct=True), q, note="all")
        yield Sample(make(3, 4, distinct=True), q, dim=1, note="dim")
    yield Sample(make(3, 4, distinct=True), 0.4, dim=0, keepdim=True, note="keepdim")
    yield Sample(make(5, distinct=True), 0.4, interpolation="nearest", note="nearest")


for _name in ("quantile", "nanquantile"):
    samples(_name, reference=quantile(skip_nan=_name == "nanquantile"), dtypes=FLOATS, data_dependent="its body reads q")(
        _quantile
    )
    error_samples(_name)(lambda make: [ErrorSample(make(3), 1.5, error=RuntimeError, match=r"\[0, 1\]")])


def _covariance(input: Any, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    return np.cov(input, ddof=correction)


@samples("cov", reference=_covariance)
def _cov(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 5))
    yield Sample(make(3, 5), correction=0, note="correction")
    yield Sample(make(5), note="1-d")


@samples("corrcoef", reference=np.corrcoef)
def _corrcoef(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 5, dtype=make.dtype if make.dtype.category >= 2 else tenfold.float32))


for _name in ("cov", "corrcoef"):
    error_samples(_name)(lambda make: [ErrorSample(make(2, 2, 2), error=RuntimeError, match="dimensions")])
