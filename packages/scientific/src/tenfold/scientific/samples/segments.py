"""Samples of reductions of segments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples


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
