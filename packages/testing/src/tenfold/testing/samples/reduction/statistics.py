"""Samples of norms, differences, counts and covariances."""

from __future__ import annotations

from collections.abc import Iterator

import tenfold
from tenfold.testing.samples import NONZERO, ErrorSample, Make, Sample, error_samples, samples

FLOATS = (tenfold.float32, tenfold.float64)


@samples("diff")
def _diff(make: Make) -> Iterator[Sample]:
    for shape, keyword in (((5,), {}), ((2, 4), {"dim": 0}), ((2, 4), {"n": 2}), ((0, 3), {}), ((1,), {})):
        yield Sample(make(*shape), note=f"{keyword}", **keyword)
    yield Sample(make(2, 3), prepend=make(2, 1), append=make(2, 1), note="with ends")
    yield Sample(make(3, 4, layout="transposed"), note="transposed")


error_samples("diff")(lambda make: [ErrorSample(make(2, 3), dim=2, error=IndexError, match="Dimension out of range")])


def _norms(make: Make) -> Iterator[Sample]:
    for p in (2, 1, 3.5, float("inf")):
        yield Sample(make(5, domain=NONZERO), p, note=f"all, {p}")
        yield Sample(make(2, 3, domain=NONZERO), p, 1, note=f"dim, {p}")
        yield Sample(make(3, 4, domain=NONZERO, layout="transposed"), p, 0, True, note=f"transposed, {p}")
    yield Sample(make(0, 3), 2, 0, note="empty")


for _name in ("vector_norm", "norm"):
    samples(_name)(_norms)
    error_samples(_name)(lambda make: [ErrorSample(make(2, 3), 2, 2, error=IndexError, match="Dimension out of range")])


@samples("dist")
def _dist(make: Make) -> Iterator[Sample]:
    for p in (2, 1, 3):
        yield Sample(make(5), make(5), p, note=f"{p}")
    yield Sample(make(2, 1), make(3), note="broadcast")


error_samples("dist")(lambda make: [ErrorSample(make(2), make(3), error=RuntimeError, match="must match the size")])


@samples(
    "bincount", data_dependent="as many counts as the greatest value says", dtypes=(tenfold.int64, tenfold.int32, tenfold.uint8)
)
def _bincount(make: Make) -> Iterator[Sample]:
    yield Sample(make.ints(7, low=0, high=4, dtype=make.dtype))
    yield Sample(make.ints(7, low=0, high=4, dtype=make.dtype), minlength=9, note="minlength")
    yield Sample(make.ints(3, low=0, high=4, dtype=make.dtype), make(3, dtype=tenfold.float64), note="weights")
    yield Sample(make.ints(0, low=0, high=4, dtype=make.dtype), note="empty")


error_samples("bincount")(lambda make: [ErrorSample(make.of([-1], tenfold.int64), error=RuntimeError, match="non-negative")])


@samples("trace")
def _trace(make: Make) -> Iterator[Sample]:
    for shape in ((3, 3), (2, 4), (0, 0)):
        yield Sample(make(*shape))
    yield Sample(make(3, 4, layout="transposed"), note="transposed")


error_samples("trace")(lambda make: [ErrorSample(make(2), error=RuntimeError, match="matrix")])
