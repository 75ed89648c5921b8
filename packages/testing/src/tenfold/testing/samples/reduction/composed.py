"""Samples of operators composed of others: distances, membership."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.samples import NONZERO, ErrorSample, Make, Sample, error_samples, samples


@samples("cdist")
def _cdist(make: Make) -> Iterator[Sample]:
    for p in (2.0, 1.0, 3.0, float("inf")):
        yield Sample(make(3, 2), make(4, 2), p, note=f"p {p}")
    yield Sample(make(2, 1, 3, 2), make(4, 2), note="batches")
    yield Sample(make(2, 3, layout="transposed"), make(4, 3), note="transposed")
    yield Sample(make(0, 2), make(4, 2), note="empty")


error_samples("cdist")(lambda make: [ErrorSample(make(3, 2), make(4, 3), error=RuntimeError, match="same number of columns")])


@samples("renorm")
def _renorm(make: Make) -> Iterator[Sample]:
    for p in (2, 1, 3.5):
        yield Sample(make(3, 4, domain=NONZERO), p, 0, 1.0, note=f"p {p}")
    yield Sample(make(2, 3, 2, domain=NONZERO), 2, -1, 0.5, note="3-d")


error_samples("renorm")(lambda make: [ErrorSample(make(3), 2, 0, 1.0, error=RuntimeError, match="at least 2 dimensions")])


@samples("sum_to_size")
def _sum_to_size(make: Make) -> Iterator[Sample]:
    for shape, size in (((2, 3), (1, 3)), ((2, 3), (3,)), ((2, 3), ()), ((2, 3), (2, 3)), ((0, 3), (1, 3))):
        yield Sample(make(*shape), size, note=f"to {size}")


error_samples("sum_to_size")(lambda make: [ErrorSample(make(2, 3), (2, 2), error=RuntimeError, match="not expandable")])


def _are_among(elements: Any, test_elements: Any, invert: bool = False) -> Any:
    return np.isin(elements, test_elements, invert=invert)


@samples("isin", reference=_are_among)
def _isin(make: Make) -> Iterator[Sample]:
    for shape, tested in (((2, 3), (4,)), ((), (2, 2)), ((0,), (3,)), ((3,), (0,))):
        yield Sample(make(*shape), make(*tested))
    yield Sample(make(3), 1, note="number")
    yield Sample(make(3), make(2), invert=True, note="invert")


error_samples("isin")(lambda make: [ErrorSample(1, 2, error=TypeError, match="must be a tensor")])


@samples("unravel_index", dtypes=(tenfold.int64, tenfold.int32), reference=np.unravel_index)
def _unravel_index(make: Make) -> Iterator[Sample]:
    yield Sample(make.ints(5, low=0, high=6, dtype=make.dtype), (2, 3))
    yield Sample(make.ints(2, 2, low=0, high=24, dtype=make.dtype), (2, 3, 4), note="3-d")
    yield Sample(make.ints(0, low=0, high=6, dtype=make.dtype), (2, 3), note="empty")


error_samples("unravel_index")(lambda make: [ErrorSample(make(2), (2, 3), error=TypeError, match="integer dtype")])
