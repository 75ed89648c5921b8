"""Pooling to a given output size: window i reads from floor(i * size / out) to ceil((i + 1) * size / out)."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.blocks import row_blocks
from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.cpu.pool.windows import PLANE_BYTES, as_planes, avg_pool, max_pool
from tenfold.nn.ops.pool import adaptive as ops
from tenfold.nn.window import Sizes

Array = np.ndarray[Any, Any]
LARGE_WINDOW = 64  # elements, from which windows are read one by one


def adaptive_windows(size: int, out: int) -> tuple[Array, Array]:
    """The first element and the length of each of the `out` windows over `size` elements."""
    steps = np.arange(out)
    starts = steps * size // max(1, out)
    return starts, -(-(steps + 1) * size // max(1, out)) - starts


def _even_kernel(sizes: Sizes, output_size: Sizes) -> Sizes | None:
    """The one kernel size of all windows, where the output sizes divide the input's."""
    if not all(output_size) or any(size % out or not size for size, out in zip(sizes, output_size, strict=True)):
        return None
    return tuple(size // out for size, out in zip(sizes, output_size, strict=True))


@array_kernel(laid_out=1)
def adaptive_avg_pool(input: Array, output_size: Sizes) -> Array:
    """The mean over windows that divide each dimension as evenly as whole elements allow."""
    ndim = len(output_size)
    planes = as_planes(input, ndim)
    kernel = _even_kernel(planes.shape[1:], output_size)
    out = np.empty((len(planes), *output_size), input.dtype)
    if kernel is not None and prod(output_size) == 1:
        ones = np.ones(prod(kernel), input.dtype)
        np.divide(planes.reshape(len(planes), ones.size) @ ones, ones.size, out=out.reshape(-1))
    elif kernel is not None:
        return avg_pool(input, kernel, kernel, (0,) * ndim, False, True, None)
    else:
        _uneven_means(planes, out)
    return out.reshape(*input.shape[: input.ndim - ndim], *output_size)


def _uneven_means(planes: Array, out: Array) -> None:
    """Average one dimension after the other, the first one first: gathering whole rows leaves less to gather singly."""
    for part in row_blocks(len(planes), 2 * planes.itemsize * prod(planes.shape[1:]), PLANE_BYTES):
        means = planes[part]
        for axis in range(1, planes.ndim):
            size, lengths = out.shape[axis], adaptive_windows(means.shape[axis], out.shape[axis])[1]
            means = _sum_windows(means, axis, size) * _along(1 / lengths, axis, means)
        out[part] = means


def _sum_windows(x: Array, axis: int, size: int) -> Array:
    starts, lengths = adaptive_windows(x.shape[axis], size)
    taps = int(lengths.max(initial=0))
    lead: tuple[Any, ...] = (slice(None),) * axis
    if size < taps:
        out = np.empty((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
        for i, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            np.add.reduce(x[(*lead, slice(start, start + length))], axis, out=out[(*lead, i)])
        return out
    out = x.take(starts, axis)
    for tap in range(1, taps):
        inside = np.flatnonzero(lengths > tap)
        out[(*lead, inside)] += x.take(starts[inside] + tap, axis)
    return out


def _along(values: Array, axis: int, x: Array) -> Array:
    """Shape a vector to broadcast along one axis of `x`, in its dtype."""
    return values.astype(x.dtype).reshape(-1, *[1] * (x.ndim - axis - 1))


@array_kernel(laid_out=1)
def adaptive_avg_pool_grad(grad: Array, input_shape: Sizes, ndim: int) -> Array:
    """The gradient of `adaptive_avg_pool` over the last `ndim` dimensions."""
    if not grad.size:  # no output has read anything
        return np.zeros(tuple(input_shape), grad.dtype)
    out = np.empty(tuple(input_shape), grad.dtype)
    planes, results = as_planes(grad, ndim), as_planes(out, ndim)
    if planes[0:1].size == 1 and results.size:
        results[...] = planes / (results.size // len(results))
        return out
    for part in row_blocks(len(planes), 2 * results.itemsize * prod(results.shape[1:]), PLANE_BYTES):
        shares = planes[part]
        for axis in range(ndim, 0, -1):
            shares = _share_windows(shares, axis, results.shape[axis])
        results[part] = shares
    return out


def _share_windows(grad: Array, axis: int, size: int) -> Array:
    """Share `grad` out along one axis. The outputs that read input j are an adaptive window themselves, with the two
    sizes exchanged: floor(i S / P) <= j < ceil((i + 1) S / P) says the same as floor(j P / S) <= i < ceil((j + 1) P / S).
    """
    shares = grad * _along(1 / adaptive_windows(size, grad.shape[axis])[1], axis, grad)
    if grad.shape[axis] and size % grad.shape[axis] == 0:
        return shares.repeat(size // grad.shape[axis], axis)
    return _sum_windows(shares, axis, size)


@array_kernel(laid_out=2)
def adaptive_max_pool(input: Array, output_size: Sizes) -> tuple[Array, Array]:
    """The largest element of each adaptive window and its index in the flattened input plane (int64); NaN wins."""
    ndim = len(output_size)
    planes = as_planes(input, ndim)
    kernel = _even_kernel(planes.shape[1:], output_size)
    if len(planes) and prod(output_size) > 1 and prod(planes.shape[1:]) >= LARGE_WINDOW * prod(output_size):
        values, indices = _max_by_window(planes, output_size)
    elif kernel is not None and prod(output_size) > 1:
        return max_pool(input, kernel, kernel, (0,) * ndim, (1,) * ndim, False)
    elif kernel is not None:
        values, indices = _global_max(planes.reshape(len(planes), prod(kernel)))
    else:
        values, indices = _uneven_max(planes, output_size)
    shape = (*input.shape[: input.ndim - ndim], *output_size)
    return values.reshape(shape), indices.reshape(shape)


def _global_max(rows: Array) -> tuple[Array, Array]:
    """Each row's maximum and its place: the first of equals, or the last NaN."""
    indices = rows.argmax(1)
    values = rows[np.arange(len(rows)), indices]
    for row in np.flatnonzero(values != values):
        indices[row] = np.flatnonzero(rows[row] != rows[row])[-1]
    return values, indices


def _max_by_window(planes: Array, output_size: Sizes) -> tuple[Array, Array]:
    """Large windows one by one: taps one by one would pass over the results as often as a window has elements."""
    inputs = planes.shape[1:]
    values = np.empty((len(planes), *output_size), planes.dtype)
    indices = np.empty(values.shape, np.int64)
    windows = [list(zip(*adaptive_windows(size, out), strict=True)) for size, out in zip(inputs, output_size, strict=True)]
    for place in np.ndindex(*output_size):
        ends = [windows[axis][i] for axis, i in enumerate(place)]
        rows = planes[(slice(None), *(slice(start, start + length) for start, length in ends))]
        best, at = _global_max(rows.reshape(len(planes), -1))
        inner = np.unravel_index(at, rows.shape[1:])
        values[(slice(None), *place)] = best
        reads = tuple(i + start for i, (start, _) in zip(inner, ends, strict=True))
        indices[(slice(None), *place)] = np.ravel_multi_index(reads, inputs)
    return values, indices


def _uneven_max(planes: Array, output_size: Sizes) -> tuple[Array, Array]:
    """Reduce one dimension after the other, the last one first, which keeps the first of equal maxima in row order."""
    values = np.empty((len(planes), *output_size), planes.dtype)
    indices = np.empty(values.shape, np.int64)
    flat = np.arange(prod(planes.shape[1:])).reshape(1, *planes.shape[1:])
    for part in row_blocks(len(planes), 4 * planes.itemsize * flat.size, PLANE_BYTES):
        best, index = planes[part], flat
        for axis in range(planes.ndim - 1, 0, -1):
            best, index = _max_windows(best, np.broadcast_to(index, best.shape), axis, output_size[axis - 1])
        values[part], indices[part] = best, index
    return values, indices


def _max_windows(x: Array, index: Array, axis: int, size: int) -> tuple[Array, Array]:
    if x.shape[axis] == size:
        return x, index
    starts, lengths = adaptive_windows(x.shape[axis], size)
    best, where = x.take(starts, axis), index.take(starts, axis)
    for tap in range(1, int(lengths.max(initial=0))):
        reads = starts + np.minimum(tap, lengths - 1)
        value = x.take(reads, axis)
        better = (value > best) | (value != value)
        np.copyto(best, value, where=better)
        np.copyto(where, index.take(reads, axis), where=better)
    return best, where


for _function in (adaptive_avg_pool, adaptive_avg_pool_grad, adaptive_max_pool):
    kernel(getattr(ops, _function.__name__), device="cpu")(_function)
