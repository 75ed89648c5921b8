"""Convolution and its two gradients by implicit products, of one to three dimensions: the operators of tenfold-nn.

Of floating dtypes; complex numbers, and planes of more than 2**31 elements, go through the operators' bodies. Groups of a few
channels are grouped.py's.
"""

from __future__ import annotations

from math import gcd, prod
from typing import Any

import numpy as np

from tenfold.cuda import runtime, tuning
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import cudnn_conv, grouped
from tenfold.cuda.kernels.conversion import clone_contiguous
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, contiguous, near, start, statistics_dtype
from tenfold.cuda.kernels.planes import Planes, allocated, channels_last, planes, power, shared, summed, window_constants
from tenfold.cuda.precision import convolution_precision, switches
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op

MOST = 2**31 - 2**17  # elements; the last share's positions may end behind the others
FEW = 16  # channels below which the sum runs over channels and taps at once
TILES = (
    (128, 128, 32, 8, 3),
    (128, 64, 64, 4, 3),
    (64, 128, 64, 8, 3),
    (256, 64, 32, 8, 3),
    (64, 64, 64, 4, 4),
    (32, 64, 64, 4, 4),
)
WINDOW_TILES = ((64, 64, 32, 4, 3), (128, 64, 32, 8, 3), (64, 128, 32, 8, 3), (64, 64, 64, 4, 3), (32, 64, 64, 4, 3))


def rests(window: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """For each dimension the common divisor of dilation and step, and the inverse of the dilation among rests by the step.

    >>> rests(window_constants((3,), (4,), (1,), (3,)))[2::3]
    (('CW', 1), ('IW', 3))
    """
    given, common, inverse = dict(window), [], []
    for axis in "DHW":
        step, dilation = given["S" + axis], given["D" + axis]
        divisor = gcd(step, dilation)
        common.append(("C" + axis, divisor))
        inverse.append(("I" + axis, pow(dilation // divisor, -1, step // divisor) if step > divisor else 0))
    return (*common, *inverse)


def _served(*arrays: Any) -> bool:
    first = arrays[0]
    if first.dtype not in FLOATS:
        return False
    return all(a is None or (a.dtype == first.dtype and 0 < a.size <= MOST and a.ndim <= 5) for a in arrays)


def sixteenths(*planes: Planes) -> bool:
    """Whether channels and all strides but theirs are multiples of 16."""
    return all(p.sizes[1] % 16 == 0 and not any(s % 16 for s in (p.strides[0], *p.strides[2:])) for p in planes)


def _last(x: Any, weight: Any) -> bool:
    """Whether a convolution's result lies channels last."""
    return channels_last(x) or (x.ndim > 3 and channels_last(weight))


def _of_no_channels(x: Any, bias: Any, shape: tuple[int, ...]) -> Any:
    """What a convolution without input channels gives: its bias alone."""
    now = runtime.current()
    if bias is None:
        return now.from_host(np.broadcast_to(np.zeros((), x.dtype), shape), now.index_of(x))
    return clone_contiguous(xp.broadcast_to(bias.reshape(-1, *[1] * (len(shape) - 2)), shape))


def correlated(x: Any, weight: Any, bias: Any, shape: tuple[int, ...], window: Any, groups: int, transposed: bool) -> Any:
    """The correlation of x with the windows of `weight`, or its transpose, of a shape (N, C, *S)."""
    if grouped.serves(x.shape[1] // groups, shape[1] // groups, groups, prod(weight.shape[2:])):
        return grouped.correlated(x, weight, bias, shape, window, groups, transposed)
    now, x, weight = runtime.current(), near(x), near(weight)
    index = now.index_of(x)
    out = allocated(shape, x, index, _last(x, weight))
    source, result, windows = planes(x), planes(out), planes(weight)
    inputs, outputs = x.shape[1] // groups, shape[1] // groups
    to, of = (1, 0) if transposed else (0, 1)
    steps = dict(window)
    apart = (steps["SD"], steps["SH"], steps["SW"]) if transposed else (1, 1, 1)  # results that meet the same taps
    positions = shape[0] * prod(-(-n // s) for n, s in zip(result.sizes[2:], apart))
    flat = inputs < FEW
    depth = inputs * prod(weight.shape[2:]) if flat else inputs
    strides = windows.strides
    near_windows = 1 if strides[of] == 1 else 2 if strides[to] == 1 else 0
    apart_windows = (*(s for s in strides[:2] if s != 1), *strides[2:])
    whole = not (inputs % 16 or outputs % 16 or any(s % 16 for s in apart_windows))
    aligned = whole and sixteenths(source, result)
    constants = (
        ("BIAS", int(bias is not None)), ("TRANSPOSED", int(transposed)), ("FLAT", int(flat)),
        ("UNIT", int(source.strides[1] == 1)), ("UNIT_W", near_windows), ("LAST", int(result.strides[1] == 1)),
        ("ALIGNED", int(aligned)), ("PRECISION", convolution_precision(x.dtype)), *window, *rests(window),
    )  # fmt: skip
    numbers = (positions, inputs, outputs, *source.sizes[2:], *result.sizes[2:], *source.strides, *result.strides)
    arguments = (out, x, weight, x if bias is None else contiguous(bias), *numbers, strides[to], strides[of], *strides[2:])

    def run(tile: tuple[int, ...]) -> None:
        rows, columns, inner, warps, stages = tile
        sizes = (("ROWS", rows), ("COLUMNS", columns), ("INNER", inner))
        grid = (-(-positions // rows) * prod(apart) * -(-outputs // columns) * groups,)
        start(Handwritten("correlate", (*constants, *sizes), warps, stages, True), grid, arguments, index)

    problem = (x.dtype.name, int(transposed), *window, int(flat), int(aligned), outputs, depth, groups, positions)
    tuning.run_chosen("correlate", problem, tiles(x.dtype, positions, outputs, depth), run, index)
    return out


def tiles(dtype: Any, positions: int, outputs: int, depth: int) -> list[tuple[int, int, int, int, int]]:
    """(positions, channels, terms of the sum at a time, warps, stages) of a program's block: a guess first, then others."""
    if dtype == F64:
        return [(power(positions, 16, 32), power(outputs, 16, 32), 16, 4, 1)]
    columns = power(outputs, 16, 128 if positions >= 4096 else 64)
    rows = power(positions, 16, 128 if columns <= 64 else 64)
    inner = power(depth, 16, 32)
    found = [(rows, columns, inner, 8 if rows * columns > 8192 else 4, 3)]
    for wide_rows, wide_columns, wide_inner, warps, stages in TILES:
        sizes = power(positions, 16, wide_rows), power(outputs, 16, wide_columns), power(depth, 16, wide_inner)
        if (*sizes, warps, stages) not in found and sizes[0] * sizes[1] >= rows * columns // 4:
            found.append((*sizes, warps, stages))
    return found


@kernel(op.convolution, device="cuda", plays=switches)
def convolution(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    nothing = 0 in weight.shape  # a sum of no terms, which is the operator's own here: its bias has a gradient of 0
    if input.ndim != weight.ndim or not (nothing or _served(input, weight, bias)):
        return NotImplemented
    geometry = op.convolution.shape_rule(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    if 0 in geometry.shape or prod(geometry.shape) > MOST:
        return NotImplemented
    if nothing:
        return _of_no_channels(input, bias, tuple(geometry.shape))
    window, last = window_constants(weight.shape[2:], stride, padding, dilation), _last(input, weight)
    by_cudnn = cudnn_conv.correlated(input, weight, bias, tuple(geometry.shape), (stride, padding, dilation), transposed, last)
    if by_cudnn is not None:
        return by_cudnn
    return correlated(input, weight, bias, tuple(geometry.shape), window, groups, transposed)


@kernel(op.convolution_input_grad, device="cuda", plays=switches)
def convolution_input_grad(
    grad: Any,
    weight: Any,
    input_shape: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    if grad.ndim != weight.ndim or not _served(grad, weight) or 0 in input_shape or prod(input_shape) > MOST:
        return NotImplemented
    window, last = window_constants(weight.shape[2:], stride, padding, dilation), _last(grad, weight)
    by_cudnn = cudnn_conv.correlated(grad, weight, None, tuple(input_shape), (stride, padding, dilation), not transposed, last)
    if by_cudnn is not None:
        return by_cudnn
    return correlated(grad, weight, None, tuple(input_shape), window, groups, not transposed)


@kernel(op.convolution_weight_grad, device="cuda", plays=switches)
def convolution_weight_grad(
    grad: Any,
    input: Any,
    weight_shape: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    if grad.ndim != len(weight_shape) or not _served(grad, input) or 0 in weight_shape:
        return NotImplemented
    wide, narrow = (grad, input) if transposed else (input, grad)
    last = channels_last(grad) or channels_last(input)
    by_cudnn = cudnn_conv.windows(narrow, wide, tuple(weight_shape), (stride, padding, dilation), last)
    if by_cudnn is not None:
        return by_cudnn
    found = _windows_gradient(
        narrow, wide, tuple(weight_shape), window_constants(weight_shape[2:], stride, padding, dilation), groups
    )
    if prod(weight_shape[2:]) > 1 or grad.ndim < 4 or not (channels_last(grad) or channels_last(input)):
        return found
    return _as_channels_last(found)


def _as_channels_last(x: Any) -> Any:
    """An array (N, C, 1, ...) in one piece whose strides say channels last, as PyTorch's are beside such images."""
    n = x.ndim
    return x.reshape((x.shape[0], *x.shape[2:], x.shape[1])).transpose((0, n - 1, *range(1, n - 1)))


def _windows_gradient(g: Any, x: Any, shape: tuple[int, ...], window: Any, groups: int) -> Any:
    now, x, g = runtime.current(), near(x), near(g)
    index = now.index_of(x)
    inputs, outputs = x.shape[1] // groups, g.shape[1] // groups
    if grouped.serves(inputs, outputs, groups, prod(shape[2:])):
        return grouped.windows_gradient(g, x, shape, window, groups)
    width = prod(shape[1:])
    positions = g.size // g.shape[1]
    of, by = planes(x), planes(g)
    aligned = int(not (inputs % 16 or outputs % 16) and sixteenths(of, by))
    flags = (("UNIT", int(by.strides[1] == 1)), ("ALIGNED", aligned), ("PRECISION", convolution_precision(x.dtype)), *window)
    numbers = (inputs, outputs, *of.sizes[2:], *by.sizes[2:], *by.strides, *of.strides, prod(shape))

    def run(tile: tuple[int, ...]) -> Any:
        rows, columns, inner, warps, stages = tile
        blocks = -(-outputs // rows) * -(-width // columns)
        shares, share = shared(positions, blocks * groups, inner)
        parts = now.empty((shares, *shape), statistics_dtype(x.dtype) if shares > 1 else x.dtype, index)
        sizes = (("ROWS", rows), ("COLUMNS", columns), ("INNER", inner))
        program = Handwritten("correlate_windows", (*flags, *sizes), warps, stages, True)
        start(program, (blocks * groups, shares), (parts, g, x, positions, share, *numbers), index)
        return summed(parts, x.dtype)

    problem = (x.dtype.name, *window, aligned, outputs, width, groups, positions)
    return tuning.run_chosen("correlate_windows", problem, window_tiles(x.dtype, outputs, width, positions), run, index)


def window_tiles(dtype: Any, outputs: int, width: int, positions: int) -> list[tuple[int, int, int, int, int]]:
    """(channels, elements of windows, positions at a time, warps, stages) of a program's block: a guess first, then others."""
    if dtype == F64:
        return [(power(outputs, 16, 32), power(width, 16, 32), 16, 4, 1)]
    found: list[tuple[int, int, int, int, int]] = []
    for rows, columns, inner, warps, stages in WINDOW_TILES:
        tile = (power(outputs, 16, rows), power(width, 16, columns), power(positions, 16, inner), warps, stages)
        if tile not in found:
            found.append(tile)
    return found
