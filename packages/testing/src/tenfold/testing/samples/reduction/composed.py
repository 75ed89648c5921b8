"""Samples of operators composed of others: integrals, distances, membership."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.samples import NONZERO, ErrorSample, Make, Sample, error_samples, samples


def _sampled(make: Make) -> Iterator[Sample]:
    yield Sample(make(5))
    yield Sample(make(2, 3), dx=2, dim=0, note="dx")
    yield Sample(make(2, 3), make.of([0, 1, 3]), note="points")
    yield Sample(make(2, 3), make.of([[0, 1, 3], [1, 1, 2]]), note="points for each")
    yield Sample(make(3, 4, layout="transposed"), note="transposed")
    yield Sample(make(0, 3), note="empty")


def _sampled_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), make(2), error=RuntimeError, match="one `x` value for each sample point")
    yield ErrorSample(make(3), dim=1, error=IndexError, match="Dimension out of range")


for _name in ("trapezoid", "cumulative_trapezoid"):
    samples(_name)(_sampled)
    error_samples(_name)(_sampled_errors)


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


@samples("combinations")
def _combinations(make: Make) -> Iterator[Sample]:
    for n, r in ((4, 2), (3, 3), (2, 3), (3, 0), (0, 2)):
        yield Sample(make(n), r, note=f"{r} of {n}")
    yield Sample(make(3), 2, True, note="with replacement")
    yield Sample(make(3, layout="strided"), note="strided")


error_samples("combinations")(lambda make: [ErrorSample(make(2, 2), error=RuntimeError, match="1D vector")])


@samples("unravel_index", dtypes=(tenfold.int64, tenfold.int32), reference=np.unravel_index)
def _unravel_index(make: Make) -> Iterator[Sample]:
    yield Sample(make.ints(5, low=0, high=6, dtype=make.dtype), (2, 3))
    yield Sample(make.ints(2, 2, low=0, high=24, dtype=make.dtype), (2, 3, 4), note="3-d")
    yield Sample(make.ints(0, low=0, high=6, dtype=make.dtype), (2, 3), note="empty")


error_samples("unravel_index")(lambda make: [ErrorSample(make(2), (2, 3), error=TypeError, match="integer dtype")])


def _offsets(make: Make, *values: Any) -> Any:
    return tenfold.tensor(list(values), device=make.device)


def _segments(data: Any, offsets: Any, reduce: str, initial: Any) -> Any:
    """The reductions one by one, in NumPy."""
    if offsets.ndim > 1:
        return np.stack([_segments(d, o, reduce, initial) for d, o in zip(data, offsets)])
    start = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -np.inf, "amin": np.inf}[reduce] if initial is None else initial
    combine = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}[reduce]
    rows = []
    for a, b in pairwise(int(end) for end in offsets):
        row = combine.reduce(data[a:b], axis=0, initial=start)
        rows.append(row / (b - a) if reduce == "mean" and b > a else row)
    return np.stack(rows)


def _reduced(data: Any, reduce: str, lengths: Any = None, offsets: Any = None, initial: Any = None, **_: Any) -> Any:
    if offsets is None:
        offsets = np.concatenate([np.zeros_like(lengths[..., :1]), np.cumsum(lengths, -1)], -1)
    return _segments(data, offsets, {"max": "amax", "min": "amin"}.get(reduce, reduce), initial)


@samples("reduced_segments", reference=_segments)
def _reduced_segments(make: Make) -> Iterator[Sample]:
    for reduce in ("sum", "mean", "prod", "amax", "amin"):
        yield Sample(make(5), _offsets(make, 0, 2, 5), reduce, None, note=reduce)
        yield Sample(make(5, 2), _offsets(make, 0, 2, 2, 5), reduce, 0.5, note=f"{reduce}, an empty segment, a start")
    yield Sample(make(2, 4, 3), _offsets(make, [0, 1, 4], [0, 3, 4]), "sum", None, note="batches")


@error_samples("reduced_segments")
def _reduced_segments_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3).to(tenfold.int64), _offsets(make, 0, 3), "sum", None, error=NotImplementedError, match="floating")


@samples("segment_reduce", reference=_reduced)
def _segment_reduce(make: Make) -> Iterator[Sample]:
    for reduce in ("sum", "mean", "prod", "max", "min"):
        yield Sample(make(5), reduce, lengths=_offsets(make, 2, 3), note=reduce)
    yield Sample(make(2, 4), "sum", lengths=_offsets(make, [1, 3], [4, 0]), axis=1, note="batches")
    yield Sample(make(5), "sum", offsets=_offsets(make, 0, 2, 5), initial=1.0, note="offsets")


@error_samples("segment_reduce")
def _segment_reduce_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), "sum", error=RuntimeError, match="Either lengths or offsets must be defined")
    yield ErrorSample(make(3), "sum", lengths=_offsets(make, 1, 1), error=RuntimeError, match="to sum to data.size")
    yield ErrorSample(make(3), "other", lengths=_offsets(make, 3), error=RuntimeError, match="must be either sum")
