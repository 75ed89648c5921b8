"""Samples of histograms and of derivatives by differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

FLOATS = (tenfold.float32, tenfold.float64)
COUNTS = "counts do not change with the data"
EDGES = "edges and counts depend on the data's numbers"


def _reference(input: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    counts: Any = np.histogram(input, bins, range, density, weight)
    return counts


def _reference_dd(input: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    D = input.shape[-1]
    weights = None if weight is None else weight.reshape(-1)
    ranges: Any = None if range is None else np.reshape(range, (D, 2))
    counts, edges = np.histogramdd(input.reshape(-1, D), bins, ranges, density, weights)
    return counts, tuple(edges)


def _differences(input: Any, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> Any:
    steps = spacing if isinstance(spacing, list) else [1.0 if spacing is None else spacing]
    gradient: Any = np.gradient
    found: Any = gradient(input, *steps, axis=dim, edge_order=edge_order)
    return found if isinstance(found, tuple) else (found,)


FINITE = "a range that is read from the data has to be finite, and edges have to rise"


@samples(
    "histogram",
    reference=_reference,
    dtypes=FLOATS,
    no_gradient=COUNTS,
    no_batching=EDGES,
    no_forward=COUNTS,
    data_dependent=EDGES,
    no_special=FINITE,
)
def _histogram(make: Make) -> Iterator[Sample]:
    yield Sample(make(20), 5, range=(-1.0, 1.0))
    yield Sample(make(4, 5), 4, density=True, note="range from the data")
    yield Sample(make(6), make.of([-1.0, 0.0, 0.25, 2.0], make.dtype), weight=make(6), note="edges, weights")


@samples(
    "histogramdd",
    reference=_reference_dd,
    dtypes=FLOATS,
    no_gradient=COUNTS,
    no_batching=EDGES,
    no_forward=COUNTS,
    data_dependent=EDGES,
    no_special=FINITE,
)
def _histogramdd(make: Make) -> Iterator[Sample]:
    yield Sample(make(20, 2), 3)
    yield Sample(make(4, 5, 3), [2, 1, 3], range=[-1.0, 1.0] * 3, weight=make(4, 5), note="weights")


@samples("gradient", reference=_differences, dtypes=FLOATS)
def _gradient(make: Make) -> Iterator[Sample]:
    yield Sample(make(5))
    yield Sample(make(3, 4), spacing=2.0, dim=1, edge_order=2, note="order 2 at the ends")
    points = [make.of(np.cumsum([0.0, 1.0, 0.5, 2.0]), make.dtype), make.of([0.0, 0.5, 2.0], make.dtype)]
    yield Sample(make(4, 3), spacing=points, edge_order=2, note="coordinates")


@error_samples("histogram")
def _histogram_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), 0, error=RuntimeError, match="bins must be > 0")
    yield ErrorSample(make(3), 2, range=(2.0, 1.0), error=RuntimeError, match="min should not exceed max")


@error_samples("histogramdd")
def _histogramdd_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, 2), [2], error=RuntimeError, match="innermost dimension")


@error_samples("gradient")
def _gradient_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(1), error=RuntimeError, match="at least edge_order")
    yield ErrorSample(make(3), edge_order=3, error=RuntimeError, match="edge_order=2")
    yield ErrorSample(make(3, 3), dim=[0, 0], error=RuntimeError, match="multiple times")


def histc(input: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    between = (float(input.min()), float(input.max())) if min == max == 0 else (min, max)
    return np.histogram(input, bins, between)[0].astype(np.float64)


@samples("histc", reference=histc, dtypes=FLOATS, no_special="a range that is read from the data has to be finite")
def _histc(make: Make) -> Iterator[Sample]:
    yield Sample(make(20), 5, -1, 1)
    yield Sample(make(20), 4, note="range from the data")
    yield Sample(make(3, 4, layout="transposed"), 5, -1, 1, note="transposed")


error_samples("histc")(lambda make: [ErrorSample(make(3), 0, error=RuntimeError, match="bins")])
