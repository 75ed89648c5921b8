"""Convolution and its two gradients by implicit products, of one to three dimensions: the operators of tenfold-nn.

float32, float16 and bfloat16; other dtypes, and planes of more than 2**31 elements, go through the operators' bodies.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import cast
from tenfold.cuda.kernels.handwritten import F32, F64, FLOATS, Handwritten, contiguous, near, start
from tenfold.cuda.precision import convolution_precision
from tenfold.dispatch.operators import op

FEW = 16  # channels below which the sum runs over channels and taps at once
PROGRAMS = 256  # that a gradient of windows is shared out to, so that all of a GPU takes part
FEWEST = 512  # positions of a share of it


class Planes(NamedTuple):
    """An array (N, C, *S) as five sizes and strides in elements."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]


def planes(array: Any) -> Planes:
    """The array's geometry, dimensions of size 1 in front of its spatial ones."""
    missing = (0,) * (5 - array.ndim)
    own = tuple(0 if n == 1 else s // array.dtype.itemsize for n, s in zip(array.shape, array.strides))
    ones = (1,) * len(missing)
    return Planes((*array.shape[:2], *ones, *array.shape[2:]), (*own[:2], *missing, *own[2:]))


def _three(values: Any, default: int) -> tuple[int, ...]:
    return (*(default,) * (3 - len(values)), *map(int, values))


def window_constants(kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> tuple[tuple[str, int], ...]:
    """The constants of a window, by the names that the programs give them."""
    found = []
    for letter, values, default in (("K", kernel_size, 1), ("S", stride, 1), ("P", padding, 0), ("D", dilation, 1)):
        found += [(letter + axis, n) for axis, n in zip("DHW", _three(values, default))]
    return tuple(found)


def _served(*arrays: Any) -> bool:
    first = arrays[0]
    if first.dtype not in FLOATS or first.dtype == F64:
        return False
    return all(a is None or (a.dtype == first.dtype and 0 < a.size < 2**31 and a.ndim <= 5) for a in arrays)


def sixteenths(*planes: Planes) -> bool:
    """Whether channels and all strides but theirs are multiples of 16."""
    return all(p.sizes[1] % 16 == 0 and not any(s % 16 for s in (p.strides[0], *p.strides[2:])) for p in planes)


def power(n: int, least: int, most: int) -> int:
    """The power of 2 that is not less than n, within limits that are such powers."""
    return max(least, min(most, 1 << max(n - 1, 0).bit_length()))


def channels_last(x: Any) -> bool:
    """Whether an array (N, C, *S) lies channels last in memory, and in no other way."""
    return bool(x.ndim > 2 and x.shape[1] > 1 and prod(x.shape[2:]) > 1 and x.strides[1] == x.dtype.itemsize)


def allocated(shape: tuple[int, ...], like: Any, index: int, last: bool | None = None) -> Any:
    """An array (N, C, *S) of the dtype of another, channels last in memory if those of `like` are."""
    now = runtime.current()
    if not (channels_last(like) if last is None else last):
        return now.empty(shape, like.dtype, index)
    block = now.empty((shape[0], *shape[2:], shape[1]), like.dtype, index)
    return block.transpose((0, len(shape) - 1, *range(1, len(shape) - 1)))


def _correlated(x: Any, weight: Any, bias: Any, shape: tuple[int, ...], window: Any, groups: int, transposed: bool) -> Any:
    """The correlation of x with the windows of `weight`, or its transpose, of a shape (N, C, *S)."""
    now, x, weight = runtime.current(), near(x), near(weight)
    index = now.index_of(x)
    out = allocated(shape, x, index, channels_last(x) or (x.ndim > 3 and channels_last(weight)))
    source, result, windows = planes(x), planes(out), planes(weight)
    inputs, outputs = x.shape[1] // groups, shape[1] // groups
    to, of = (1, 0) if transposed else (0, 1)
    positions = out.size // shape[1]
    columns = power(outputs, 16, 128 if positions >= 4096 else 64)
    rows = power(positions, 16, 128 if columns <= 64 else 64)
    flat = inputs < FEW
    inner = power(inputs * prod(weight.shape[2:]) if flat else inputs, 16, 32)
    strides = windows.strides
    whole = not (inputs % 16 or outputs % 16 or any(s % 16 for s in (strides[to], *strides[2:])))
    aligned = whole and sixteenths(source, result)
    constants = (
        ("BIAS", int(bias is not None)), ("TRANSPOSED", int(transposed)), ("FLAT", int(flat)),
        ("UNIT", int(source.strides[1] == 1)), ("UNIT_W", int(strides[of] == 1)), ("LAST", int(result.strides[1] == 1)),
        ("ALIGNED", int(aligned)), ("PRECISION", convolution_precision(x.dtype)), *window,
        ("ROWS", rows), ("COLUMNS", columns), ("INNER", inner),
    )  # fmt: skip
    program = Handwritten("correlate", constants, 8 if rows * columns > 8192 else 4, 3, True)
    numbers = (positions, inputs, outputs, *source.sizes[2:], *result.sizes[2:], *source.strides, *result.strides)
    grid = (-(-positions // rows), -(-outputs // columns), groups)
    arguments = (out, x, weight, x if bias is None else contiguous(bias), *numbers, strides[to], strides[of], *strides[2:])
    start(program, grid, arguments, index)
    return out


@kernel(op.convolution, device="cuda")
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
    if input.ndim != weight.ndim or not _served(input, weight, bias):
        return NotImplemented
    geometry = op.convolution.shape_rule(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    if 0 in geometry.shape or prod(geometry.shape) >= 2**31:
        return NotImplemented
    window = window_constants(weight.shape[2:], stride, padding, dilation)
    return _correlated(input, weight, bias, tuple(geometry.shape), window, groups, transposed)


@kernel(op.convolution_input_grad, device="cuda")
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
    if grad.ndim != weight.ndim or not _served(grad, weight) or 0 in input_shape or prod(input_shape) >= 2**31:
        return NotImplemented
    window = window_constants(weight.shape[2:], stride, padding, dilation)
    return _correlated(grad, weight, None, tuple(input_shape), window, groups, not transposed)


@kernel(op.convolution_weight_grad, device="cuda")
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
    width = prod(shape[1:])
    positions = g.size // g.shape[1]
    rows, columns, inner = power(outputs, 16, 64), power(width, 16, 64), power(positions, 16, 32)
    tiles = -(-outputs // rows) * -(-width // columns)
    shares = max(1, min(PROGRAMS // (tiles * groups), positions // FEWEST))
    share = -(-positions // (shares * inner)) * inner
    shares = -(-positions // share)
    parts = now.empty((shares, *shape), F32 if shares > 1 else x.dtype, index)
    of, by = planes(x), planes(g)
    flags = (("UNIT", int(by.strides[1] == 1)), ("ALIGNED", int(not (inputs % 16 or outputs % 16) and sixteenths(of, by))))
    tile = (("ROWS", rows), ("COLUMNS", columns), ("INNER", inner))
    constants = (*flags, ("PRECISION", convolution_precision(x.dtype)), *window, *tile)
    program = Handwritten("correlate_windows", constants, 4, 3, True)
    numbers = (positions, share, inputs, outputs, *of.sizes[2:], *by.sizes[2:], *by.strides, *of.strides, prod(shape))
    start(program, (tiles, groups, shares), (parts, g, x, *numbers), index)
    return cast(parts.sum(axis=0), x.dtype) if shares > 1 else parts[0]
