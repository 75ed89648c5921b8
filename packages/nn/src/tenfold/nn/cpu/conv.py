"""Convolution over one, two or three dimensions and its gradients, as matrix products over unfolded planes.

A padded plane is stored as one flat row per stride phase. In that layout a tap of the window is a shift, so unfolding
copies long contiguous runs whatever the stride; the few columns that wrap around a row are dropped at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tenfold.cpu.blocks import row_blocks
from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.cpu.unread import finite, spread_within
from tenfold.nn.ops.conv import convolution as ops
from tenfold.nn.window import Sizes, Window, window_over

Array = np.ndarray[Any, Any]

COLUMN_BYTES = 1 << 21
SHORT_PLANE = 32
# Wrapped columns cost products with every output channel; copying short rows instead costs the same at about 8 channels.
WASTED_CHANNELS = 8
MOST_MULTIPLES = 2


def _single_too(of_batches: Callable[..., Array]) -> Callable[..., Array]:
    """A kernel of batches, for images (C, *S) without one, too: how results lie in memory is told from a batch of one."""

    @wraps(of_batches)
    def run(first: Array, second: Array, third: Any, stride: Sizes, *steps: Any) -> Array:
        if first.ndim > len(stride) + 1:
            return of_batches(first, second, third, stride, *steps)
        if second.ndim == first.ndim:  # of the weights' gradient, which has no batch
            return of_batches(first[None], second[None], third, stride, *steps)
        given = third if third is None or isinstance(third, np.ndarray) else (1, *third)
        single: Array = of_batches(first[None], second, given, stride, *steps)[0]
        return single

    return run


@_single_too
@array_kernel(laid_out=1, formats=2)
def convolution(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Array:
    """Cross-correlation of `input` with `weight`, or its transpose; (N, C, *S), (O, C / groups, *K) -> (N, O, *P)."""
    if not transposed:
        window = window_over(input.shape[2:], weight.shape[2:], stride, padding, dilation)
        _require_positions((weight.shape[0], *weight.shape[2:], *window.outputs))
        return _correlate(input, weight, bias, window, groups)
    window = _transposed_window(input.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding)
    _require_positions(window.inputs)
    out = _spread(input, weight, window, groups)
    if bias is not None:
        out += _per_channel(bias, out.ndim)
    return out


@_single_too
@array_kernel(laid_out=1, formats=2)
def convolution_input_grad(
    grad: Array,
    weight: Array,
    input_shape: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Array:
    """The gradient of `convolution` with respect to its input, of the shape `input_shape`."""
    if transposed:
        window = Window(*map(tuple, (weight.shape[2:], stride, padding, dilation, grad.shape[2:], input_shape[2:])))
        return _correlate(grad, weight, None, window, groups)
    window = window_over(tuple(input_shape[2:]), weight.shape[2:], stride, padding, dilation)
    return _spread(grad, weight, window, groups)


@_single_too
@array_kernel(laid_out=1, formats=2)
def convolution_weight_grad(
    grad: Array,
    input: Array,
    weight_shape: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Array:
    """The gradient of `convolution` with respect to its weight, of the shape `weight_shape`."""
    wide, narrow = (grad, input) if transposed else (input, grad)
    window = Window(*map(tuple, (weight_shape[2:], stride, padding, dilation, wide.shape[2:], narrow.shape[2:])))
    return _weight_grad(narrow, wide, window, groups).reshape(weight_shape)


def _require_positions(sizes: Sizes) -> None:
    """The operator's shape rule says in detail what does not fit."""
    if min(sizes) < 1:
        raise ValueError(f"convolution: the result would have the sizes {sizes}")


def _transposed_window(
    inputs: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, output_padding: Sizes
) -> Window:
    """The window of the convolution whose input gradient a transposed convolution is."""
    steps = zip(inputs, kernel, stride, padding, dilation, output_padding, strict=True)
    wide = tuple((i - 1) * s - 2 * p + d * (k - 1) + o + 1 for i, k, s, p, d, o in steps)
    return Window(tuple(kernel), tuple(stride), tuple(padding), tuple(dilation), wide, tuple(inputs))


def _correlate(x: Array, weight: Array, bias: Array | None, window: Window, groups: int) -> Array:
    out = np.empty((len(x), weight.shape[0], *window.outputs), x.dtype)
    _correlate_into(out, x, weight, bias, window, groups)
    return out


def _correlate_into(out: Array, x: Array, weight: Array, bias: Array | None, window: Window, groups: int) -> None:
    C = x.shape[1]
    if out.size == 0 or x.size == 0 or weight.size == 0:
        out[...] = 0 if bias is None else _per_channel(bias, out.ndim)
    elif _is_pointwise(window):
        _pointwise(x, weight, bias, window, groups, out)
    elif groups == C and weight.shape[0] <= MOST_MULTIPLES * C:
        _depthwise(x, weight, bias, window, out)
    elif _prefers_merged(window, weight.shape[0] // groups):
        _merged(x, weight, bias, window, groups, out)
    else:
        _by_plane(x, weight, bias, window, groups, out)


def _per_channel(bias: Array, ndim: int) -> Array:
    return bias.reshape(-1, *[1] * (ndim - 2))


def _is_pointwise(window: Window) -> bool:
    return window.taps == 1 and not any(window.padding)


def _prefers_merged(window: Window, channels: int) -> bool:
    return window.positions < SHORT_PLANE or flat_layout(window).waste * channels > WASTED_CHANNELS


def _store(out: Array, value: Array, bias: Array | None) -> None:
    """Write a finished block, adding the bias on the way instead of in a pass of its own."""
    if bias is None:
        np.copyto(out, value)
    else:
        np.add(value, _per_channel(bias, out.ndim), out=out)


class Flat:
    """The phase layout of a window's padded planes: (*stride, *lengths) flattened, where every tap is a slice."""

    __slots__ = ("inside", "length", "rows", "run", "slices", "sources", "taps", "waste")

    def __init__(self, window: Window) -> None:
        padded = [i + 2 * p for i, p in zip(window.inputs, window.padding, strict=True)]
        lengths = [-(-size // s) for size, s in zip(padded, window.stride, strict=True)]
        steps = [prod(lengths[axis + 1 :]) for axis in range(len(lengths))]
        plane = prod(lengths)
        self.length = plane * prod(window.stride)
        self.rows = (window.outputs[0], *lengths[1:])
        self.run = 1 + sum((o - 1) * step for o, step in zip(window.outputs, steps, strict=True))
        self.inside: tuple[Any, ...] = (..., *[slice(o) for o in window.outputs])
        self.waste = prod(self.rows) / max(1, window.positions) - 1
        self.taps: list[slice] = []
        for offset in window.offsets():
            phase = 0
            for o, s in zip(offset, window.stride, strict=True):
                phase = phase * s + o % s
            start = phase * plane + sum(o // s * step for o, s, step in zip(offset, window.stride, steps, strict=True))
            self.taps.append(slice(start, start + self.run))
        self._pair_phases(window, lengths)

    def _pair_phases(self, window: Window, lengths: list[int]) -> None:
        """Pair each phase's part of the flat layout with the strided part of the plane that it holds."""
        self.slices = (*window.stride, *lengths)
        self.sources: list[tuple[Any, Any]] = []
        for phase in product(*[range(s) for s in window.stride]):
            starts = [(r - p) % s for r, p, s in zip(phase, window.padding, window.stride, strict=True)]
            source = tuple(slice(start, None, s) for start, s in zip(starts, window.stride, strict=True))
            axes = zip(starts, window.padding, window.stride, window.inputs, strict=True)
            target = tuple(slice((a + p) // s, (a + p) // s + max(0, -(-(i - a) // s))) for a, p, s, i in axes)
            self.sources.append(((..., *phase, *target), (..., *source)))

    def fill(self, flat: Array, planes: Array) -> None:
        """Copy planes into the layout, whose padding the caller has set to zero."""
        view = flat.reshape(*flat.shape[:-1], *self.slices)
        for target, source in self.sources:
            view[target] = planes[source]

    def empty_into(self, planes: Array, flat: Array) -> None:
        """Copy the layout back to planes, dropping the padding."""
        view = flat.reshape(*flat.shape[:-1], *self.slices)
        for target, source in self.sources:
            planes[source] = view[target]


@lru_cache(maxsize=256)
def flat_layout(window: Window) -> Flat:
    """The layout of a window, worked out once."""
    return Flat(window)


def _by_plane(x: Array, weight: Array, bias: Array | None, window: Window, groups: int, out: Array) -> None:
    """One product (O, C K) @ (C K, run) per image, for large planes: the result is already in the output's order."""
    N, C = x.shape[:2]
    O = weight.shape[0]
    flat = flat_layout(window)
    kernels = weight.reshape(groups, O // groups, -1)
    image_bytes = C * window.taps * flat.run * x.itemsize
    step = max(1, min(N, COLUMN_BYTES // image_bytes))
    planes = np.zeros((step, C, flat.length), x.dtype)
    columns = np.empty((step, C, window.taps, flat.run), x.dtype)
    rows = np.empty((step, groups, O // groups, prod(flat.rows)), x.dtype)
    for part in row_blocks(N, 1, step):
        B = part.stop - part.start
        flat.fill(planes[:B], x[part])
        for tap, where in enumerate(flat.taps):
            columns[:B, :, tap] = planes[:B, :, where]
        np.matmul(kernels, columns[:B].reshape(B, groups, -1, flat.run), out=rows[:B, ..., : flat.run])
        _store(out[part], rows[:B].reshape(B, O, *flat.rows)[flat.inside], bias)


def _merged(x: Array, weight: Array, bias: Array | None, window: Window, groups: int, out: Array) -> None:
    """One product (O, C K) @ (C K, B L) for a block of images, for small planes."""
    O = weight.shape[0]
    kernels = weight.reshape(groups, O // groups, -1)
    for part, columns in _merged_columns(x, window, groups):
        B = part.stop - part.start
        rows = np.matmul(kernels, columns).reshape(O, B, *window.outputs)
        _store(out[part], rows.swapaxes(0, 1), bias)


def _merged_columns(x: Array, window: Window, groups: int) -> Any:
    """Yield blocks of images with their columns, (groups, C K / groups, B L), which hold until the next are asked for."""
    N, C = x.shape[:2]
    padded = _padded(x, window)
    view = _patches(padded, window)
    ndim = len(window.kernel)
    order = (1, *range(2, 2 + ndim), 0, *range(2 + ndim, 2 + 2 * ndim))
    image_bytes = C * window.taps * window.positions * x.itemsize
    blocks = list(row_blocks(N, image_bytes, COLUMN_BYTES))
    memory = np.empty(C * window.taps * blocks[0].stop * window.positions, x.dtype)  # one for all: columns are the most of a peak
    for part in blocks:
        B = part.stop - part.start
        columns = memory[: C * window.taps * B * window.positions].reshape(C, *window.kernel, B, *window.outputs)
        np.copyto(columns, view[part].transpose(order))
        yield part, columns.reshape(groups, C // groups * window.taps, B * window.positions)


def _padded(x: Array, window: Window) -> Array:
    if not any(window.padding):
        return x
    sizes = [i + 2 * p for i, p in zip(window.inputs, window.padding, strict=True)]
    padded = np.zeros((*x.shape[:2], *sizes), x.dtype)
    inside: list[Any] = [slice(p, p + i) for i, p in zip(window.inputs, window.padding, strict=True)]
    padded[(..., *inside)] = x
    return padded


def _patches(padded: Array, window: Window) -> Array:
    """A read-only view (N, C, *K, *P) of every window's elements."""
    strides = padded.strides[2:]
    taps = [step * d for step, d in zip(strides, window.dilation, strict=True)]
    places = [step * s for step, s in zip(strides, window.stride, strict=True)]
    shape = (*padded.shape[:2], *window.kernel, *window.outputs)
    return as_strided(padded, shape, (*padded.strides[:2], *taps, *places), writeable=False)


def _pointwise(x: Array, weight: Array, bias: Array | None, window: Window, groups: int, out: Array) -> None:
    """A 1x1 convolution: the planes are the columns."""
    N, C = x.shape[:2]
    places: list[Any] = [slice(0, (o - 1) * s + 1, s) for o, s in zip(window.outputs, window.stride, strict=True)]
    x = x[(..., *places)]
    kernels = weight.reshape(groups, weight.shape[0] // groups, -1)
    if window.positions < SHORT_PLANE:
        ones = (1,) * len(window.kernel)
        _merged(x, weight, bias, window_over(x.shape[2:], ones, ones, window.padding, ones), groups, out)
        return
    columns = x.reshape(N, groups, C // groups, -1)
    np.matmul(kernels, columns, out=out.reshape(N, groups, -1, window.positions))
    if bias is not None:
        out += _per_channel(bias, out.ndim)


def _depthwise(x: Array, weight: Array, bias: Array | None, window: Window, out: Array) -> None:
    """Every channel by itself: one small product per plane, in blocks of planes that stay in the cache."""
    N, C = x.shape[:2]
    M = weight.shape[0] // C
    flat = flat_layout(window)
    kernels = np.broadcast_to(weight.reshape(1, C, M, -1), (N, C, M, window.taps)).reshape(N * C, M, window.taps)
    planes = x.reshape(N * C, *window.inputs)
    results = out.reshape(N * C, M, *window.outputs)
    step = max(1, min(N * C, COLUMN_BYTES // (window.taps * flat.run * x.itemsize)))
    padded = np.zeros((step, flat.length), x.dtype)
    columns = np.empty((step, window.taps, flat.run), x.dtype)
    rows = np.empty((step, M, prod(flat.rows)), x.dtype)
    for part in row_blocks(N * C, 1, step):
        B = part.stop - part.start
        flat.fill(padded[:B], planes[part])
        for tap, where in enumerate(flat.taps):
            columns[:B, tap] = padded[:B, where]
        np.matmul(kernels[part], columns[:B], out=rows[:B, :, : flat.run])
        results[part] = rows[:B].reshape(B, M, *flat.rows)[flat.inside]
    if bias is not None:
        out += _per_channel(bias, out.ndim)


def _spread(grad: Array, weight: Array, window: Window, groups: int) -> Array:
    """The transpose of `_correlate`: every output is multiplied by the weight and added to the inputs it came from."""
    C = weight.shape[1] * groups
    out = np.zeros((len(grad), C, *window.inputs), grad.dtype)
    if out.size == 0 or grad.size == 0:
        return out
    _spread_into(out, grad, weight, window, groups)
    return out if _is_pointwise(window) or finite(out, weight) else spread_within(grad, weight, window, groups)


def _spread_into(out: Array, grad: Array, weight: Array, window: Window, groups: int) -> None:
    if all(s == 1 for s in window.stride):
        flipped = _flipped(weight, groups)
        padding = tuple(d * (k - 1) - p for k, d, p in zip(window.kernel, window.dilation, window.padding, strict=True))
        back = window_over(window.outputs, window.kernel, window.stride, padding, window.dilation)
        if min(padding) >= 0 and back.outputs == window.inputs:
            _correlate_into(out, grad, flipped, None, back, groups)
            return
    _spread_by_tap(grad, weight, window, groups, out)


def _flipped(weight: Array, groups: int) -> Array:
    """The weight of the transposed map: (O, C / G, *K) -> (C, O / G, *K) with every kernel reversed."""
    O, C = weight.shape[0], weight.shape[1]
    turned = weight.reshape(groups, O // groups, *weight.shape[1:]).swapaxes(1, 2)
    turned = np.flip(turned, tuple(range(3, turned.ndim)))
    return np.ascontiguousarray(turned).reshape(groups * C, O // groups, *weight.shape[2:])


def _spread_by_tap(grad: Array, weight: Array, window: Window, groups: int, out: Array) -> None:
    N, O = grad.shape[:2]
    C = out.shape[1]
    flat = flat_layout(window)
    kernels = weight.reshape(groups, O // groups, -1).swapaxes(1, 2)
    image_bytes = C * window.taps * flat.run * grad.itemsize
    step = max(1, min(N, COLUMN_BYTES // image_bytes))
    rows = np.zeros((step, O, prod(flat.rows)), grad.dtype)
    memory = np.empty((step, groups, C // groups * window.taps, flat.run), np.result_type(weight, grad))
    for part in row_blocks(N, 1, step):
        B = part.stop - part.start
        rows[:B].reshape(B, O, *flat.rows)[flat.inside] = grad[part]
        spread = rows[:B, :, : flat.run].reshape(B, groups, O // groups, flat.run)
        columns = np.matmul(kernels, spread, out=memory[:B]).reshape(B, C, window.taps, flat.run)
        planes = np.zeros((B, C, flat.length), grad.dtype)
        for tap, where in enumerate(flat.taps):
            planes[:, :, where] += columns[:, :, tap]
        flat.empty_into(out[part], planes)


def _weight_grad(grad: Array, x: Array, window: Window, groups: int) -> Array:
    O, C = grad.shape[1], x.shape[1]
    out = np.zeros((groups, O // groups, C // groups * window.taps), grad.dtype)
    if out.size == 0 or grad.size == 0 or x.size == 0:
        return out
    for part, columns in _merged_columns(x, window, groups):
        rows = np.ascontiguousarray(grad[part].swapaxes(0, 1)).reshape(groups, O // groups, -1)
        out += np.matmul(rows, columns.swapaxes(1, 2))
    return out


for _operator, _function in {
    ops.convolution: convolution,
    ops.convolution_input_grad: convolution_input_grad,
    ops.convolution_weight_grad: convolution_weight_grad,
}.items():
    kernel(_operator, device="cpu")(_function)
