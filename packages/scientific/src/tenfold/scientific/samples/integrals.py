"""Samples of integrals by the trapezoidal rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples


def _areas(y: Any, x: Any, dx: Any, dim: int) -> Any:
    y = np.moveaxis(y, dim, -1)
    if x is None:
        widths = dx
    else:
        widths = np.diff(x if x.ndim == 1 else np.moveaxis(x, dim, -1))
    return (y[..., 1:] + y[..., :-1]) / 2 * widths


def trapezoid(y: Any, x: Any = None, dx: Any = 1, dim: int = -1) -> Any:
    """At equal distances by the sum less half of both ends, as PyTorch has it: an infinite end gives nan."""
    if x is not None or y.dtype.kind == "b" or not y.ndim or not y.shape[dim]:
        return _areas(y, x, dx, dim).sum(-1)
    ends = np.take(y, 0, dim) * 0.5 + np.take(y, -1, dim) * 0.5
    return (y.sum(dim) - ends) * dx


def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1, dim: int = -1) -> Any:
    return np.moveaxis(_areas(y, x, dx, dim).cumsum(-1), -1, dim)


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


for _name, _reference in (("trapezoid", trapezoid), ("cumulative_trapezoid", cumulative_trapezoid)):
    samples(_name, reference=_reference)(_sampled)
    error_samples(_name)(_sampled_errors)
