"""Maximum and average pooling over windows of a fixed size, and their gradients, in one to three dimensions.

Every tap of the window is one pass over the part of the output where the tap lies inside the input, so nothing is padded.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.blocks import row_blocks
from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.ops.pool import windows as ops
from tenfold.nn.window import Sizes, Window, mean_factors, overlaps, window_over

Array = np.ndarray[Any, Any]

PLANE_BYTES = 1 << 18
SMALL_BYTES = 1 << 14


def as_planes(x: Array, ndim: int) -> Array:
    """View `x` as (planes, *S), the last `ndim` dimensions spatial."""
    return x.reshape(prod(x.shape[: x.ndim - ndim]), *x.shape[x.ndim - ndim :])


@array_kernel(laid_out=2)
def max_pool(
    input: Array, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> tuple[Array, Array]:
    """The largest element of each window, and its index in the flattened input plane (int64); NaN wins."""
    ndim = len(kernel_size)
    planes = as_planes(input, ndim)
    window = window_over(planes.shape[1:], kernel_size, stride, padding, dilation, ceil_mode)
    shape = (*input.shape[: input.ndim - ndim], *window.outputs)
    if input.nbytes <= SMALL_BYTES and ndim == 2 and stride == kernel_size and not any(padding) and max(dilation) == 1:
        found = _tiled_max(planes, window)
        if found is not None:
            return found[0].reshape(shape), found[1].reshape(shape)
    values = np.empty((len(planes), *window.outputs), input.dtype)
    indices = np.empty(values.shape, np.int64)
    if values.size:
        where = _tap_index(window)
        plane_bytes = (prod(window.inputs) + 4 * window.positions) * input.itemsize
        for part in row_blocks(len(planes), plane_bytes, PLANE_BYTES):
            indices[part] = where(_largest(planes[part], window, values[part]))
        if max(window.dilation) > 1:  # a dilated window can straddle a short input and contain none of it
            np.clip(indices, 0, prod(window.inputs) - 1, out=indices)
    return values.reshape(shape), indices.reshape(shape)


def _tiled_max(planes: Array, window: Window) -> tuple[Array, Array] | None:
    """The maxima of tiles that do not overlap, in few array operations; None where a tile holds a NaN or is cut off."""
    (kH, kW), (H, W) = window.kernel, window.outputs
    if (H * kH, W * kW) != window.inputs or not planes.size:
        return None
    tiles = planes.reshape(-1, H, kH, W, kW).transpose(0, 1, 3, 2, 4).reshape(-1, kH * kW)
    taps = tiles.argmax(1)
    values = tiles[np.arange(len(taps)), taps]
    if np.add.reduce(values != values):
        return None
    shape = (-1, H, W)
    return values.reshape(shape), _tap_index(window)(taps.reshape(shape))


@kernel(ops.max_pool2d, device="cpu")
def max_pool2d(
    input: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    """Small planes in whole tiles, where neither indices nor a gradient is wanted; all else is the body's business."""
    if type(kernel_size) is not int or kernel_size < 1 or return_indices or padding != 0 or dilation != 1:
        return NotImplemented
    if input.nbytes > SMALL_BYTES or input.ndim not in (3, 4) or not input.size or not input.flags.c_contiguous:
        return NotImplemented
    *lead, H, W = input.shape
    if stride not in (None, kernel_size) or H % kernel_size or W % kernel_size or input.dtype.kind != "f":
        return NotImplemented
    tiles = input.reshape(*lead, H // kernel_size, kernel_size, W // kernel_size, kernel_size)
    return np.maximum.reduce(tiles, (-3, -1))


def _lowest(dtype: np.dtype[Any]) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _largest(planes: Array, window: Window, values: Array) -> Array:
    """Write each window's maximum and return which tap has it: the first of equals, or the last NaN.

    The tap is kept as `taps - tap`, so that a product with the comparison and a maximum replace every branch.
    """
    values.fill(_lowest(values.dtype))
    pairs = overlaps(window)
    for _, outputs, inputs in pairs:
        target = values[(slice(None), *outputs)]
        np.maximum(target, planes[(slice(None), *inputs)], out=target)
    counter = np.dtype(np.uint8 if window.taps < 256 else np.uint32)
    best = np.zeros(values.shape, counter)
    for tap, outputs, inputs in pairs:
        region = (slice(None), *outputs)
        hit = np.equal(planes[(slice(None), *inputs)], values[region]).view(np.uint8)
        np.maximum(best[region], hit * counter.type(window.taps - tap), out=best[region])
    if not best.all():
        _mark_nan(planes, window, best)
    return np.subtract(counter.type(window.taps), best, out=best)


def _mark_nan(planes: Array, window: Window, best: Array) -> None:
    """Point the windows whose maximum is NaN, which equals no tap, at their last NaN."""
    unmarked = best == 0
    for tap, outputs, inputs in overlaps(window):
        region = (slice(None), *outputs)
        tapped = planes[(slice(None), *inputs)]
        np.copyto(best[region], best.dtype.type(window.taps - tap), where=unmarked[region] & (tapped != tapped))


class _TapIndex:
    """Turns tap numbers into flat indices of the input plane."""

    __slots__ = ("starts", "steps")

    def __init__(self, window: Window) -> None:
        strides = [prod(window.inputs[axis + 1 :]) for axis in range(len(window.inputs))]
        steps = [sum(o * s for o, s in zip(offset, strides, strict=True)) for offset in window.offsets()]
        self.steps = np.array(steps, np.int64)
        starts = np.zeros(window.outputs, np.int64)
        for axis, size in enumerate(window.outputs):
            first = (np.arange(size) * window.stride[axis] - window.padding[axis]) * strides[axis]
            starts += first.reshape(-1, *[1] * (len(window.outputs) - axis - 1))
        self.starts = starts

    def __call__(self, taps: Array) -> Array:
        index = self.steps.take(taps, mode="clip")  # faster than "raise"; only a window without elements needs it
        index += self.starts
        return index


@lru_cache(maxsize=64)
def _tap_index(window: Window) -> _TapIndex:
    return _TapIndex(window)


@array_kernel(laid_out=1)
def max_pool_grad(grad: Array, indices: Array, input_shape: Sizes, ndim: int) -> Array:
    """The gradient of a maximum pooling over the last `ndim` dimensions: `grad` is added where each maximum came from."""
    out = np.zeros(tuple(input_shape), grad.dtype)
    if grad.size and out.size:
        _scatter_planes(as_planes(grad, ndim), as_planes(indices, ndim), as_planes(out, ndim))
    return out


def _scatter_planes(grad: Array, indices: Array, out: Array) -> None:
    plane = out[0].size
    flat = out.reshape(-1)
    starts = np.arange(0, out.size, plane)
    for part in row_blocks(len(grad), plane * out.itemsize, PLANE_BYTES):
        targets = indices[part].reshape(part.stop - part.start, -1) + starts[: part.stop - part.start, None]
        block = flat[part.start * plane : part.stop * plane]
        np.add.at(block, targets.reshape(-1), grad[part].reshape(-1))  # flat and of one dtype: NumPy's fast loop


@array_kernel(laid_out=1)
def avg_pool(
    input: Array,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    """The mean of each window, one dimension after the other: whole rows first, then what is left of them."""
    ndim = len(kernel_size)
    planes = as_planes(input, ndim)
    window = window_over(planes.shape[1:], kernel_size, stride, padding, (1,) * ndim, ceil_mode)
    out = np.empty((len(planes), *window.outputs), input.dtype)
    scale = mean_factors(window, count_include_pad, divisor_override).astype(input.dtype)
    if out.size:
        for part in row_blocks(len(planes), 2 * prod(window.inputs) * input.itemsize, PLANE_BYTES):
            sums = planes[part]
            for axis in range(1, ndim + 1):
                sums = _sum_windows(sums, window, axis)
            np.multiply(sums, scale, out=out[part])
    return out.reshape(*input.shape[: input.ndim - ndim], *window.outputs)


@array_kernel(laid_out=1)
def avg_pool_grad(
    grad: Array,
    input_shape: Sizes,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    """The gradient of `avg_pool`: every element of `grad` is shared out over its window."""
    ndim = len(kernel_size)
    inputs = tuple(input_shape[len(input_shape) - ndim :])
    window = window_over(inputs, kernel_size, stride, padding, (1,) * ndim, ceil_mode)
    out = np.empty(tuple(input_shape), grad.dtype)
    scale = mean_factors(window, count_include_pad, divisor_override).astype(grad.dtype)
    if out.size:
        planes, results = as_planes(grad, ndim), as_planes(out, ndim)
        for part in row_blocks(len(planes), 2 * prod(inputs) * grad.itemsize, PLANE_BYTES):
            shares = planes[part] * scale
            for axis in range(ndim, 0, -1):
                shares = _spread_windows(shares, window, axis)
            results[part] = shares
    return out


def _axis_overlaps(window: Window, axis: int) -> Any:
    """The overlaps of a window along one dimension of an array of planes, as full indices."""
    at = axis - 1
    for offset in range(0, window.kernel[at] * window.dilation[at], window.dilation[at]):
        pair = window.overlap(at, offset)
        if pair is not None:
            lead = (slice(None),) * axis
            yield (*lead, pair[0]), (*lead, pair[1])


def _sum_windows(x: Array, window: Window, axis: int) -> Array:
    out = np.zeros((*x.shape[:axis], window.outputs[axis - 1], *x.shape[axis + 1 :]), x.dtype)
    for outputs, inputs in _axis_overlaps(window, axis):
        out[outputs] += x[inputs]
    return out


def _spread_windows(grad: Array, window: Window, axis: int) -> Array:
    out = np.zeros((*grad.shape[:axis], window.inputs[axis - 1], *grad.shape[axis + 1 :]), grad.dtype)
    for outputs, inputs in _axis_overlaps(window, axis):
        out[inputs] += grad[outputs]
    return out


for _function in (max_pool, max_pool_grad, avg_pool, avg_pool_grad):
    kernel(getattr(ops, _function.__name__), device="cpu")(_function)
