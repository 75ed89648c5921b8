"""Maximum pooling over one and two dimensions and its gradient: the operators of tenfold-nn."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.formats import in_one_piece, order_of, ordered
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.pooling import MaxPool, max_pool, max_pool_grad
from tenfold.llvm.programs import Compiled, empty, suitable
from tenfold.llvm.storage import FLOAT32, FLOAT64, INT64

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]

MAX_POOL = Compiled("maximum pooling", max_pool)
MAX_POOL_GRAD = Compiled("the gradient of maximum pooling", max_pool_grad)
MOST_TAPS = 49  # a larger window is more code than it is worth
WORK = 1 << 14
MOST = 1 << 31  # elements of a plane, in which 32 bits say how far a tap lies behind its window's first
LEAST = 1 << 10  # elements, below which NumPy's tiles take less time than the choice in Python


def _two(sizes: Sizes, missing: int) -> tuple[int, int]:
    """Sizes of one or two dimensions as those of two."""
    return (missing, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])


def _output(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return room // stride + 1
    length = -(-room // stride) + 1
    return length - 1 if (length - 1) * stride >= size + padding else length


def _max_pool(input: Array, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool) -> Any:
    order = order_of(input)
    if order and input.size >= LEAST:
        input = in_one_piece(input)
    n, stored = len(kernel_size), suitable(input)
    if stored not in (FLOAT32, FLOAT64) or n > 2 or prod(kernel_size) > MOST_TAPS or input.size < LEAST:
        return NotImplemented
    axes = zip(input.shape[input.ndim - n :], kernel_size, stride, padding, dilation, strict=True)
    outputs = tuple(_output(*axis, ceil_mode) for axis in axes)
    if min(outputs) < 1 or prod(input.shape[input.ndim - n :]) >= MOST:
        return NotImplemented
    shape = (*input.shape[: input.ndim - n], *outputs)
    values, indices = empty(shape, stored), empty(shape, INT64)
    H, W = _two(input.shape[input.ndim - n :], 1)
    high, wide = _two(outputs, 1)
    (_, kernel), (_, step), (top, left), (_, gap) = (
        _two(sizes, missing) for sizes, missing in ((kernel_size, 1), (stride, 1), (padding, 0), (dilation, 1))
    )
    begin = min(wide, -(-left // step))
    end = max(begin, min(wide, (W - 1 - (kernel - 1) * gap + left) // step + 1))
    pool = MaxPool(stored, _two(kernel_size, 1), _two(stride, 1), _two(dilation, 1))
    numbers = (H, W, high, wide, top, left, begin, end)
    grain = max(1, WORK // (high * wide * prod(kernel_size)))
    done = MAX_POOL.run((pool,), prod(shape[: input.ndim - n]), grain, input, values, indices, *numbers)
    return (ordered(values, order), ordered(indices, order)) if done else NotImplemented


def _max_pool_grad(grad: Array, indices: Array, input_shape: Sizes, ndim: int) -> Any:
    order = order_of(grad) if grad.size >= LEAST // 4 else None
    if order and indices.shape == grad.shape:
        grad, indices = in_one_piece(grad), in_one_piece(indices)
    stored = suitable(grad)
    if stored not in (FLOAT32, FLOAT64) or indices.dtype != np.int64 or not indices.flags.carray or grad.size < LEAST // 4:
        return NotImplemented
    lead = len(input_shape) - ndim
    size, count = prod(input_shape[lead:]), prod(grad.shape[lead:])
    out = empty(tuple(input_shape), stored)
    done = MAX_POOL_GRAD.run((stored,), prod(input_shape[:lead]), max(1, WORK // (size + count)), grad, indices, out, size, count)
    return ordered(out, order) if done else NotImplemented


chosen("max_pool", _max_pool, 6, f"float32 and float64 in one piece or channels last, windows of at most {MOST_TAPS} elements")
chosen("max_pool_grad", _max_pool_grad, 4, "float32 and float64 in one piece or channels last")
