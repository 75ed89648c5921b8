"""NumPy kernels of variance, norms and counts."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import numpy as np

from tenfold.cpu.half import widened
from tenfold.cpu.quiet import quiet
from tenfold.cpu.reduction.reductions import mean
from tenfold.cpu.reduction.sums import add_reduce, axes, total
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.ops.reduction.statistics import spread_arguments


def _variance(input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    """Two passes, and what the average's rounding adds to the squares taken off: (sum d^2 - |sum d|^2 / n) / (n - c)."""
    dim, correction = spread_arguments(dim, unbiased, correction)
    if input.dtype.kind not in "fc" or not input.size:
        return NotImplemented
    axis = axes(dim, input.ndim)
    average = mean(input, axis, True)
    count = input.size // average.size
    if count <= correction:
        return NotImplemented
    deviation = np.asarray(input - average)
    rest = total(deviation, axis, keepdim)
    if input.dtype.kind == "c":
        deviation, rest = squared(deviation), squared(rest)
    else:
        np.multiply(deviation, deviation, deviation)
        rest = rest * rest
    kind = deviation.dtype.type
    result = total(deviation, axis, keepdim) - rest / kind(count)
    return np.maximum(result / kind(count - correction), kind(0))


def _spread(input: Any, arguments: Any, function: Any) -> Any:
    """A function of the variance; what leaves float32's range is computed again in float64, and sums that leave that, scaled."""
    variance = _variance(input, *arguments)
    if variance is NotImplemented:
        return variance
    if not isfinite(np.add.reduce(variance, None)):
        if variance.dtype == np.float32:
            variance = _variance(input.astype(np.complex128 if input.dtype.kind == "c" else np.float64), *arguments)
            return np.asarray(variance if function is None else function(variance)).astype(np.float32)
        variance = _variance(input * 2.0**-64, *arguments) * 2.0**128
    return variance if function is None else function(variance)


def squared(x: Any) -> Any:
    """|x|^2 of complex numbers."""
    return x.real * x.real + x.imag * x.imag


@kernel(op.var, device="cpu")
@widened
@quiet
def var(input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    return _spread(input, (dim, unbiased, keepdim, correction), None)


@kernel(op.std, device="cpu")
@widened
@quiet
def std(input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    return _spread(input, (dim, unbiased, keepdim, correction), np.sqrt)


@kernel(op.vector_norm, device="cpu")
@widened
@quiet
def vector_norm(input: Any, ord: Any, dim: Any, keepdim: bool) -> Any:
    axis = axes(dim, input.ndim)
    if ord and _alone(input.shape, axis):
        ord = inf  # of one number every norm is its size, which no power takes out of range
    sizes = input if ord == 2 and input.dtype.kind == "f" else np.abs(input)  # a square has no sign
    return power_sum(sizes, ord, axis, keepdim)


def _alone(shape: tuple[int, ...], axis: Any) -> bool:
    """Whether nothing is added along the axes."""
    if type(axis) is int:
        return shape[axis] == 1
    return all(n == 1 for n in (shape if axis is None else [shape[a] for a in axis]))


def power_sum(x: Any, p: Any, axis: Any, keepdim: bool) -> Any:
    """The p-norm along axes, of sizes that are not negative."""
    if p == 2:
        return np.sqrt(total(x * x, axis, keepdim))
    if p == 1:
        return total(x, axis, keepdim)
    if p in (inf, -inf):
        return (np.maximum if p > 0 else np.minimum).reduce(x, axis, None, None, keepdim)  # type: ignore[call-overload] # by position, which is faster
    if p == 0:
        return add_reduce(x != 0, axis, x.dtype, None, keepdim)
    powers = total(np.power(x, p), axis, keepdim)
    if p < 0 and not x.size and (powers.size or any(x.shape[a] == 0 for a in (axis if isinstance(axis, tuple) else (axis,)))):
        raise RuntimeError("norms of no numbers")  # the rule says it in full
    return np.power(powers, 1.0 / p)


# Counts


_MOST = 2**63 - 1


@kernel(op.bincount, device="cpu")
def bincount(input: Any, weights: Any, minlength: int) -> Any:
    if input.ndim != 1 or (input.size and input.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs")
    if input.size and input.max() >= _MOST:  # for which NumPy writes beyond its counts
        raise RuntimeError(f"bincount: maximum value of input overflowed, it should be < {_MOST} but got {input.max()}")
    if weights is None or not input.size:
        return np.bincount(input, minlength=minlength).astype(np.int64)
    counts = np.bincount(input, weights, minlength)
    return counts.astype(np.float32) if weights.dtype == np.float32 else counts
