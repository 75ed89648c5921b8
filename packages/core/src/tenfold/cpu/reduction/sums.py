"""Sums whose rounding error hardly grows with their length, whatever the strides.

NumPy adds pairwise along the dimension with the smallest stride, and one element after the other along all others, where
a float32 sum of 10**6 equal numbers is off by 1 %. So a sum is taken dimension by dimension, the smallest stride first, and
along the others in blocks of rows, then over the blocks' sums: errors grow with the logarithm of the number of elements.

Source: N. Higham, "The accuracy of floating point summation", SIAM J. Sci. Comput. 14 (1993).
"""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any

import numpy as np

from tenfold.cpu.half import rounded
from tenfold.cpu.quiet import quiet
from tenfold.dispatch.shape_rules import wrap_dims

add_reduce, add_pair = quiet(np.add.reduce), quiet(np.add)
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
# Up to this many elements a dot product with ones is faster than NumPy's reduction, and as exact.
SMALL = 512
_ONES32, _ONES64 = ([np.ones(n, dtype) for n in range(SMALL + 1)] for dtype in (F32, F64))
_asarray = np.asarray
# Rows that may be added one after the other, in blocks and in a sum without blocks, which small ones are spared.
ROWS, FEW = 32, 64
# Elements to which narrow rows are joined, and what is narrow even so.
WIDTH, NARROW = 256, 8


def axes(dim: Any, ndim: int) -> Any:
    """NumPy's axis argument; an empty tuple means all dimensions, as in PyTorch."""
    if dim is None or type(dim) is int:
        return None if ndim == 0 and dim in (0, -1) else dim
    if isinstance(dim, np.integer):
        return axes(int(dim), ndim)
    if not ndim:
        wrap_dims(dim, 0, "reduction")  # refuses what a number does not have, too
        return None
    return tuple(map(index, dim)) if len(dim) else None  # of tensors, too


@quiet
def total(input: Any, dim: Any, keepdim: bool) -> Any:
    """Sum of an array over dimensions: integers in int64, half precision in float32, floats with little rounding error."""
    dtype = input.dtype
    if dim is None and not keepdim:
        size = input.size
        if 0 < size <= SMALL and (dtype is F32 or dtype is F64):
            ones = (_ONES32 if dtype is F32 else _ONES64)[size]
            return _asarray((input if input.ndim == 1 else input.ravel()).dot(ones))
    axis = axes(dim, input.ndim)
    if dtype.kind in "biu":
        return add_reduce(input, axis, np.int64, None, keepdim)
    if dtype.itemsize == 2:
        return rounded(total(input.astype(F32), axis, keepdim), dtype)
    if input.size <= FEW or _is_pairwise(input, axis):
        return add_reduce(input, axis, None, None, keepdim)
    return _by_dimensions(input, axis, keepdim)


def _is_pairwise(input: Any, axis: Any) -> bool:
    """Whether NumPy itself adds pairwise, or few numbers."""
    ndim, flags = input.ndim, input.flags
    if axis is None:
        return ndim == 1 or flags.forc
    if type(axis) is not int:
        return False
    if -ndim <= axis < ndim and input.shape[axis] <= FEW:
        return True
    return ndim == 1 or (flags.c_contiguous and axis in (-1, ndim - 1))


def _by_dimensions(input: Any, axis: Any, keepdim: bool) -> Any:
    """The sum with dimensions sorted by stride: the innermost first."""
    ndim, shape = input.ndim, input.shape
    if type(axis) is int and -ndim <= axis < ndim and input.size and input.flags.c_contiguous:  # the common call
        axis %= ndim
        rows = input.reshape(prod(shape[:axis]), shape[axis], -1)
        return _row_sums(rows, 1).reshape((*shape[:axis], *([1] if keepdim else []), *shape[axis + 1 :]))
    wanted = range(ndim) if axis is None else (axis,) if type(axis) is int else axis
    reduced = {d % ndim for d in wanted}
    if any(not -ndim <= d < ndim for d in wanted) or len(reduced) != len(wanted):
        return add_reduce(input, axis, None, None, keepdim)  # NumPy's error
    if all(shape[d] == 1 for d in reduced):  # nothing to sort, and the result is no view of the input
        return add_reduce(input, axis, None, None, keepdim)
    if 0 in shape:
        return np.zeros([1 if d in reduced else n for d, n in enumerate(shape) if keepdim or d not in reduced], input.dtype)
    strides = input.strides
    order = sorted((d for d in range(ndim) if shape[d] > 1), key=lambda d: -abs(strides[d]))
    rows, flags = _joined(input, order, reduced)
    while True in flags:
        position = len(flags) - 1 - flags[::-1].index(True)
        rows = _inner_sums(rows) if position == len(flags) - 1 else _row_sums(rows, position)
        del flags[position]
    return _restored(rows, order, reduced, shape, keepdim)


def _joined(input: Any, order: list[int], reduced: set[int]) -> tuple[Any, list[bool]]:
    """The array in the order of its strides, neighbours that lie in memory as one dimension joined; which are reduced."""
    sizes: list[int] = []
    flags: list[bool] = []
    last = 0
    for d in order:
        n, stride = input.shape[d], abs(input.strides[d]) if d in reduced else input.strides[d]
        if flags and flags[-1] == (d in reduced) and last == n * stride:
            sizes[-1] *= n
        else:
            sizes.append(n)
            flags.append(d in reduced)
        last = stride
    dropped = [d for d in range(input.ndim) if d not in order]
    if min(input.strides) < 0:  # backwards or forwards, the sum is the same
        input = input[tuple([slice(None, None, -1 if d in reduced and s < 0 else 1) for d, s in enumerate(input.strides)])]
    return input.transpose(*order, *dropped).reshape(sizes), flags


def _inner_sums(x: Any) -> Any:
    """Sum over the last dimension; a short one slice by slice, since NumPy begins a loop for each row."""
    count = x.shape[-1]
    if count > NARROW or x.ndim == 1:
        return add_reduce(x, -1)
    result = add_pair(x[..., 0], x[..., 1])
    for i in range(2, count):
        add_pair(result, x[..., i], result)
    return result


def _row_sums(x: Any, position: int) -> Any:
    """Sum over a dimension that is not the innermost, in blocks of rows; narrow rows are joined first."""
    rows, inner = x.shape[position], x.shape[position + 1 :]
    if rows <= ROWS:
        return add_reduce(x, position)
    outer = x.shape[:position]
    before = (slice(None),) * position
    width = prod(inner)
    block = WIDTH // width if len(inner) == 1 and x.strides[position] == x.strides[-1] * width else 1
    if block == 1 and width <= NARROW and len(inner) == 1:
        return np.stack([add_reduce(x[..., i], position) for i in range(width)], -1)
    if block > 1 and rows >= 2 * block:
        whole = rows - rows % block
        joined = _row_sums(x[(*before, slice(whole))].reshape(*outer, whole // block, block * width), position)
        parts = joined.reshape(*outer, block, *inner)
    else:
        whole = rows - rows % ROWS
        parts = add_reduce(x[(*before, slice(whole))].reshape(*outer, whole // ROWS, ROWS, *inner), position + 1)
    if whole < rows:
        parts = np.concatenate([parts, x[(*before, slice(whole, None))]], position)
    return _row_sums(parts, position)


def _restored(x: Any, order: list[int], reduced: set[int], shape: tuple[int, ...], keepdim: bool) -> Any:
    """The kept dimensions back in their own order; contiguous, as PyTorch's results are."""
    kept = [d for d in order if d not in reduced]
    if kept != sorted(kept):
        x = x.reshape([shape[d] for d in kept]).transpose(np.argsort(kept))
    if type(x) is not np.ndarray:  # a scalar
        x = _asarray(x)
    return x.reshape([1 if d in reduced else n for d, n in enumerate(shape) if keepdim or d not in reduced])
