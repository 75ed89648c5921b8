"""Convolution over one to three dimensions and its gradients: the operators of tenfold-nn."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.llvm import matrix_windows, patches
from tenfold.llvm.convolution import correlation, input_gradient
from tenfold.llvm.convolution_calls import (
    DTYPES,
    agree,
    known_for_input,
    known_for_weight,
    known_forward,
    settings,
    windows,
)  # fmt: skip
from tenfold.llvm.direct import NARROW
from tenfold.llvm.formats import LAST, Order, channels_first, in_one_piece, last, order_of, ordered
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.large_calls import affine, dot
from tenfold.llvm.planes import Window
from tenfold.llvm.programs import suitable
from tenfold.llvm.storage import BFLOAT16, BY_DTYPE
from tenfold.llvm.unread import heeding
from tenfold.llvm.weight_gradients import weight_gradient
from tenfold.settings.threads import get_num_threads

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]

NOTE = "float32 and float64"


def _pieces(n: int, *arrays: Any) -> tuple[Array, ...] | None:
    """Arrays of n dimensions, with elements and of one dtype that products are made for, row by row; None for others."""
    if any(type(a) is not np.ndarray or a.ndim != n or not a.size or a.dtype not in DTYPES for a in arrays):
        return None
    pieces = tuple(map(in_one_piece, arrays))
    return pieces if suitable(*pieces) else None


def _result(value: Array | None, order: Order | None) -> Any:
    return NotImplemented if value is None else ordered(value, order)


def _only(images: Any) -> Any:
    """The image of a batch of one."""
    return images if images is NotImplemented else images[0]


def _rows(groups: int, transposed: bool, kernel: Sizes, padding: Sizes, *arrays: Array) -> list[Array] | None:
    """Arrays of which a convolution makes products of matrices: rows of channels, where a window has one tap."""
    if groups > 1 or transposed or prod(kernel) > 1 or any(padding):
        return None
    found = [last(a) for a in arrays]
    if any(f is None or a.dtype not in DTYPES or a.dtype is not arrays[0].dtype for f, a in zip(found, arrays, strict=True)):
        return None
    return found  # type: ignore[return-value]


def _taken(x: Array, kernel: Sizes, padding: Sizes, stride: Sizes) -> Array:
    """The pixels that windows of one tap read, channels last, where a stride leaves some out."""
    if prod(stride) == 1 or prod(kernel) > 1 or any(padding):
        return x
    places: tuple[Any, ...] = (..., *[slice(None, None, s) for s in stride])
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x[places], 1, -1)), -1, 1)


def _images(rows: Array, sizes: Sizes) -> Array:
    """Rows of channels as images (N, C, *sizes)."""
    return np.moveaxis(rows.reshape(-1, *sizes, rows.shape[1]), -1, 1)


def _forward(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Any:
    given = (tuple(stride), tuple(padding), tuple(dilation), transposed, tuple(output_padding), groups)
    known = known_forward(input, weight, bias, given)
    if known is not None:
        return known
    if input.ndim == weight.ndim - 1:
        return _only(_forward(input[None], weight, bias, *given))
    kernel = weight.shape[2:]
    read, written = (weight.shape[0], weight.shape[1] * groups) if transposed else (weight.shape[1] * groups, weight.shape[0])
    if input.ndim != weight.ndim or input.shape[1] != read or weight.shape[0] % groups:
        return NotImplemented  # the body says what is wrong
    if bias is not None:
        if bias.shape != (written,) or bias.dtype != input.dtype:
            return NotImplemented
        bias = bias if bias.flags.carray else bias.copy()
    order = order_of(input, weight)
    taken = _taken(input, kernel, padding, stride) if order and not transposed else input
    rows = _rows(groups, transposed, kernel, padding, taken, weight) if order else None
    if rows and input.size and weight.size:
        return _images(affine(rows[0], rows[1], bias), taken.shape[2:])
    window = windows(input.shape[2:], kernel, stride, padding, dilation, output_padding if transposed else None)
    if window is None:
        return NotImplemented
    made = _by_pixels(input, weight, bias, window, groups, transposed) if order else None
    if made is not None:
        return made
    pieces = _pieces(len(kernel) + 2, input, weight)
    if pieces is None:
        return NotImplemented
    input, weight = pieces
    if transposed:
        return _result(_input_gradient(input, weight, bias, window, groups), order)
    return _result(_correlate(input, weight, bias, window, groups), order)


def _last(n: int, groups: int, *arrays: Any) -> list[Any] | None:
    """Images and weights of n dimensions with their channels last in one piece, where patches.py may serve them."""
    if groups > 1 or any(type(a) is not np.ndarray or a.ndim != n or not a.size or a.dtype not in DTYPES for a in arrays):
        return None
    pieces = [in_one_piece(a.transpose(LAST[n])) for a in arrays]
    return pieces if suitable(*pieces) else None


def _by_pixels(x: Array, weight: Array, bias: Array | None, window: Window, groups: int, back: bool) -> Array | None:
    """The convolution, or the gradient of its images, channels last; None where images are turned instead."""
    outer, inner = weight.shape[:2]
    stored = BY_DTYPE.get(x.dtype)
    if groups > 1 or stored is None or min(window.inputs) < 1:
        return None
    if not patches.serves(outer if back else inner, inner if back else outer, len(x), window, stored):
        return None
    found = _last(weight.ndim, groups, x, weight)
    if found is None:
        return None
    images, weights = found
    made = patches.input_gradient(images, weights, window) if back else patches.correlate(images, weights, bias, window)
    if made is not None and back and bias is not None:
        made += bias
    return None if made is None else channels_first(made)


def _correlate(x: Array, weight: Array, bias: Array | None, window: Window, groups: int) -> Array | None:
    sizes = (len(x), x.shape[1], len(weight), groups)
    return correlation(window, *sizes, BY_DTYPE[x.dtype], *settings())(x, weight, bias)


def _input_gradient(grad: Array, weight: Array, bias: Array | None, window: Window, groups: int) -> Array | None:
    if min(window.inputs) < 1:
        return None
    sizes = (len(grad), weight.shape[1] * groups, len(weight), groups)
    plan = input_gradient(window, *sizes, BY_DTYPE[grad.dtype], *settings())
    return plan(grad, weight, bias)


def _for_input(
    grad: Array,
    weight: Array,
    input_shape: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Any:
    given = (tuple(stride), tuple(padding), tuple(dilation), transposed, tuple(output_padding), groups)
    known = known_for_input(grad, weight, tuple(input_shape), given)
    if known is not None:
        return known
    n = weight.ndim
    if grad.ndim == len(input_shape) == n - 1:
        return _only(_for_input(grad[None], weight, (1, *input_shape), *given))
    if grad.ndim != n or len(input_shape) != n:
        return NotImplemented
    wide, narrow = (grad.shape, tuple(input_shape)) if transposed else (tuple(input_shape), grad.shape)
    window = Window(weight.shape[2:], *map(tuple, (stride, padding, dilation, wide[2:], narrow[2:])))
    if not agree(wide, narrow, weight.shape, window, groups):
        return NotImplemented
    order = order_of(grad, weight)
    rows = _rows(groups, transposed, weight.shape[2:], padding, grad, weight) if order and prod(stride) == 1 else None
    if rows and grad.size and weight.size:
        return _images(dot(*rows), grad.shape[2:])
    made = _by_pixels(grad, weight, None, window, groups, not transposed) if order else None
    if made is not None:
        return made
    pieces = _pieces(n, grad, weight)
    if pieces is None:
        return NotImplemented
    grad, weight = pieces
    if not transposed:
        return _result(_input_gradient(grad, weight, None, window, groups), order)
    return _result(_correlate(grad, weight, None, window, groups), order)


def _for_weight(
    grad: Array,
    input: Array,
    weight_shape: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Any:
    given = (tuple(stride), tuple(padding), tuple(dilation), transposed, tuple(output_padding), groups)
    known = known_for_weight(grad, input, tuple(weight_shape), given)
    if known is not None:
        return known
    if grad.ndim == input.ndim == len(weight_shape) - 1:
        return _for_weight(grad[None], input[None], weight_shape, *given)
    if not grad.ndim == input.ndim == len(weight_shape):
        return NotImplemented
    wide, narrow = (grad, input) if transposed else (input, grad)
    window = Window(*map(tuple, (weight_shape[2:], stride, padding, dilation, wide.shape[2:], narrow.shape[2:])))
    if not agree(wide.shape, narrow.shape, tuple(weight_shape), window, groups):
        return NotImplemented
    order = order_of(grad, input)
    taken = _taken(input, window.kernel, padding, stride) if order and not transposed else input
    rows = _rows(groups, transposed, window.kernel, padding, grad, taken) if order else None
    if rows and grad.size and input.size:
        return ordered(dot(rows[0].T, rows[1]).reshape(weight_shape), order)
    turned = _last(len(weight_shape), groups, wide, narrow) if order and narrow.shape[1] >= NARROW else None
    made = patches.weight_gradient(turned[0], turned[1], window) if turned else None
    if made is not None:
        return channels_first(made)
    pieces = _pieces(len(weight_shape), wide, narrow)
    if pieces is None:
        return NotImplemented
    wide, narrow = pieces
    sizes = (len(wide), wide.shape[1], narrow.shape[1], groups)
    return _result(weight_gradient(window, *sizes, BY_DTYPE[wide.dtype], get_num_threads())(wide, narrow), order)


def _by_unit(*arrays: Any) -> bool:
    """Whether the unit for bfloat16 may serve arrays."""
    return all(type(a) is np.ndarray and a.dtype == BFLOAT16.dtype and a.size and a.flags.aligned for a in arrays)


def _laid(found: Any, *arrays: Array) -> Any:
    """What the unit gave, in the order of memory that a result for these arrays has."""
    order = None if found is NotImplemented else order_of(*arrays)
    if found is NotImplemented or (order and found.transpose(order).flags.c_contiguous):
        return found
    return ordered(found, order) if order else in_one_piece(found).reshape(-1).reshape(found.shape)  # of size 1 the usual strides


def _unit_forward(
    input: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int,
) -> Any:  # fmt: skip
    if groups > 1 or not _by_unit(input, weight) or input.ndim != weight.ndim or input.shape[1] != weight.shape[not transposed]:
        return NotImplemented
    if bias is not None and (
        not _by_unit(bias) or bias.shape != weight.shape[transposed : 1 + transposed] or not bias.flags.carray
    ):
        return NotImplemented
    window = windows(input.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding if transposed else None)
    if window is None or min(window.inputs) < 1:
        return NotImplemented
    if transposed:
        return _laid(matrix_windows.input_gradient(input, weight, window, bias), input, weight)
    return _laid(matrix_windows.correlate(input, weight, bias, window), input, weight)


def _unit_for_input(
    grad: Any, weight: Any, input_shape: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int,
) -> Any:  # fmt: skip
    if groups > 1 or not _by_unit(grad, weight) or not grad.ndim == weight.ndim == len(input_shape):
        return NotImplemented
    wide, narrow = (grad.shape, tuple(input_shape)) if transposed else (tuple(input_shape), grad.shape)
    window = Window(weight.shape[2:], *map(tuple, (stride, padding, dilation, wide[2:], narrow[2:])))
    if not agree(wide, narrow, weight.shape, window, groups) or min(wide[2:]) < 1:
        return NotImplemented
    if transposed:
        return _laid(matrix_windows.correlate(grad, weight, None, window), grad, weight)
    return _laid(matrix_windows.input_gradient(grad, weight, window), grad, weight)


def _unit_for_weight(
    grad: Any, input: Any, weight_shape: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int,
) -> Any:  # fmt: skip
    if groups > 1 or not _by_unit(grad, input) or not grad.ndim == input.ndim == len(weight_shape):
        return NotImplemented
    wide, narrow = (grad, input) if transposed else (input, grad)
    window = Window(*map(tuple, (weight_shape[2:], stride, padding, dilation, wide.shape[2:], narrow.shape[2:])))
    if not agree(wide.shape, narrow.shape, tuple(weight_shape), window, groups):
        return NotImplemented
    return _laid(matrix_windows.weight_gradient(wide, narrow, window), grad, input)


for _name, _unit, _serve in (
    ("convolution", heeding(_unit_forward, True), heeding(_forward, True)),
    ("convolution_input_grad", heeding(_unit_for_input, False), heeding(_for_input, False)),
    ("convolution_weight_grad", _unit_for_weight, _for_weight),
):
    chosen(_name, _serve, 9, NOTE, halves=1, unit=_unit)
