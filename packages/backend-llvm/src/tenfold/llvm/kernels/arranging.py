"""Tensors beside each other, cut, with a part replaced, on a diagonal: quick functions for tenfold-scientific's composites.

They call the operators that the composites call, or NumPy at once where nothing is recorded. What they do not know is left to the
composites, by NotImplemented or by any exception.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.view import LEAD
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.meta import contiguous_strides
from tenfold.dispatch.operators import op
from tenfold.llvm.kernels.attaching import quickly
from tenfold.llvm.quick_subscripts import INT64
from tenfold.llvm.quick_views import INTS, free, here
from tenfold.tensor.tensor import Tensor, wrap

ENDS = {int, type(None)}  # what a slice begins and ends with
_cat: Any = op.cat.fn
_getitem: Any = op.getitem.fn
_flip: Any = op.flip.fn
_strided_sum: Any = op.strided_sum.fn
_unsqueeze: Any = op.unsqueeze.fn
_view: Any = op.view.fn


def _beside(tensors: Any, dims: int, dim: int) -> Any:
    """Tensors of so many dimensions one after the other; others are left to the composite."""
    if type(tensors) not in (list, tuple) or any(not here(x) or x._array.ndim < dims for x in tensors):
        return NotImplemented
    return _cat(tensors, dim)


def hstack(tensors: Any) -> Any:
    """Along columns; vectors one after the other."""
    return _beside(tensors, 1, 0 if tensors[0]._array.ndim == 1 else 1)


def vstack(tensors: Any) -> Any:
    """Along rows."""
    if type(tensors) not in (list, tuple) or any(not here(x) or not x._array.ndim for x in tensors):
        return NotImplemented
    return _cat([_unsqueeze(x, 0) if x._array.ndim == 1 else x for x in tensors], 0)


def dstack(tensors: Any) -> Any:
    """Along the third dimension."""
    return _beside(tensors, 3, 2)


def column_stack(tensors: Any) -> Any:
    """Vectors as columns beside matrices' columns."""
    if type(tensors) not in (list, tuple) or any(not here(x) or not x._array.ndim for x in tensors):
        return NotImplemented
    return _cat([_view(x, (x._array.shape[0], 1)) if x._array.ndim == 1 else x for x in tensors], 1)


def fliplr(input: Any) -> Any:
    """Columns in reverse order."""
    return _flip(input, (1,)) if here(input) and input._array.ndim > 1 else NotImplemented


def flipud(input: Any) -> Any:
    """Rows in reverse order."""
    return _flip(input, (0,)) if here(input) and input._array.ndim else NotImplemented


def tensor_split(input: Any, indices_or_sections: Any, dim: Any = 0) -> Any:
    """Parts of a dimension, so many or cut at places."""
    where, shape = indices_or_sections, input._array.shape
    if type(where) is Tensor and where._key is CPU and where._array.dtype is INT64 and where._array.ndim < 2:
        where = where._array.tolist()
    if not here(input) or type(dim) is not int or not -len(shape) <= dim < len(shape):
        return NotImplemented
    if type(where) is int and where > 0:
        small, extra = divmod(shape[dim], where)
        where = [i * small + min(i, extra) for i in range(1, where)]
    if type(where) not in (list, tuple) or not set(map(type, where)) <= INTS:
        return NotImplemented
    lead = LEAD[dim % len(shape)]
    return tuple([_getitem(input, (*lead, slice(a, b))) for a, b in zip([0, *where], [*where, None], strict=True)])


def _sections(input: Any, where: Any, dim: int, least: int) -> Any:
    shape = input._array.shape
    if len(shape) < least or (type(where) is int and (where < 1 or shape[dim] % where)):
        return NotImplemented
    return tensor_split(input, where, dim)


def hsplit(input: Any, indices_or_sections: Any) -> Any:
    """Parts of the columns."""
    return _sections(input, indices_or_sections, 0 if input._array.ndim == 1 else 1, 1)


def vsplit(input: Any, indices_or_sections: Any) -> Any:
    """Parts of the rows."""
    return _sections(input, indices_or_sections, 0, 2)


def dsplit(input: Any, indices_or_sections: Any) -> Any:
    """Parts of the third dimension."""
    return _sections(input, indices_or_sections, 2, 3)


def _copy_for(input: Any, src: Any) -> Any:
    """A copy in which a part may be replaced by elements of the same dtype; None where that is recorded or unusual, and where the
    copy would lie otherwise than its tensor."""
    array = input._array
    if not free(input) or not free(src) or src._array.dtype is not array.dtype or not (array.size and array.flags.c_contiguous):
        return None
    return array.copy("C")


def _placed(made: Any, part: Any, src: Any) -> Any:
    if part.shape != src._array.shape or not part.size:
        return NotImplemented
    part[...] = src._array
    return wrap(made, CPU)


def select_scatter(input: Any, src: Any, dim: Any, index: Any) -> Any:
    """The slice at one place replaced."""
    made = _copy_for(input, src)
    if made is None or {type(dim), type(index)} != INTS or not -made.ndim <= dim < made.ndim:
        return NotImplemented
    return _placed(made, made[(*LEAD[dim % made.ndim], index, ...)], src)


def slice_scatter(input: Any, src: Any, dim: Any = 0, start: Any = None, end: Any = None, step: Any = 1) -> Any:
    """A slice of a dimension replaced."""
    made = _copy_for(input, src)
    if made is None or {type(dim), type(step)} != INTS or step < 1 or not -made.ndim <= dim < made.ndim:
        return NotImplemented
    if not {type(start), type(end)} <= ENDS:
        return NotImplemented
    return _placed(made, made[(*LEAD[dim % made.ndim], slice(start, end, step))], src)


def diagonal_scatter(input: Any, src: Any, offset: Any = 0, dim1: Any = 0, dim2: Any = 1) -> Any:
    """A diagonal replaced."""
    made = _copy_for(input, src)
    if made is None or {type(offset), type(dim1), type(dim2)} != INTS:
        return NotImplemented
    part = made.diagonal(offset, dim1, dim2)
    part.flags.writeable = True
    return _placed(made, part, src)


def _on_diagonal(rows: Any, offset: int) -> Any:
    """Matrices of zeros with rows on a diagonal of them."""
    count = rows.shape[-1]
    side = count + abs(offset)
    made = np.zeros((*rows.shape[:-1], side, side), rows.dtype)
    start = offset if offset >= 0 else -offset * side
    made.reshape(*rows.shape[:-1], side * side)[..., start : start + count * (side + 1) : side + 1] = rows
    return wrap(made, CPU)


def diag_embed(input: Any, offset: Any = 0, dim1: Any = -2, dim2: Any = -1) -> Any:
    """The last dimension on a diagonal of two new ones at the end."""
    if not here(input) or {type(offset), type(dim1), type(dim2)} != INTS or not input._array.size or not input._array.ndim:
        return NotImplemented
    if (dim1, dim2) != (-2, -1):
        return NotImplemented
    if free(input):
        return _on_diagonal(input._array, offset)
    *lead, count = input._array.shape
    side = count + abs(offset)
    shape = (*lead, side, side)
    strides = (*contiguous_strides(shape)[:-2], side + 1)
    return _strided_sum(input, shape, (*lead, count), strides, offset if offset >= 0 else -offset * side)


def diagflat(input: Any, offset: Any = 0) -> Any:
    """All elements on a diagonal."""
    if not free(input) or type(offset) is not int or not input._array.size:
        return NotImplemented
    return _on_diagonal(input._array.reshape(-1), offset)


def diag(input: Any, diagonal: Any = 0) -> Any:
    """A vector on a diagonal, or a copy of a matrix's diagonal."""
    array = input._array
    if not free(input) or type(diagonal) is not int or not array.size:
        return NotImplemented
    if array.ndim == 1:
        return _on_diagonal(array, diagonal)
    return wrap(array.diagonal(diagonal).copy(), CPU) if array.ndim == 2 else NotImplemented


def _apart(input: Any, sizes: list[int], dim: int) -> Any:
    """Parts of a dimension, where they lie, as tensors of their own."""
    array, start, parts = input._array, 0, []
    lead = LEAD[dim % array.ndim]
    for size in sizes:
        parts.append(wrap(array[(*lead, slice(start, start + size))], CPU))
        start += size
    return tuple(parts)


def unsafe_split(input: Any, split_size: Any, dim: Any = 0) -> Any:
    """Parts of one size, the last of which may be shorter."""
    if not free(input) or {type(split_size), type(dim)} != INTS or split_size < 1:
        return NotImplemented
    have = input._array.shape[dim]
    return _apart(input, [min(split_size, have - start) for start in range(0, have, split_size)], dim) if have else NotImplemented


def unsafe_chunk(input: Any, chunks: Any, dim: Any = 0) -> Any:
    """At most so many parts."""
    if not free(input) or {type(chunks), type(dim)} != INTS or chunks < 1:
        return NotImplemented
    have = input._array.shape[dim]
    return unsafe_split(input, -(-have // chunks), dim) if have else NotImplemented


quickly(
    hstack, vstack, dstack, column_stack, fliplr, flipud, tensor_split, hsplit, vsplit, dsplit, select_scatter, slice_scatter,
    diagonal_scatter, diag_embed, diagflat, diag, unsafe_split, unsafe_chunk,
)  # fmt: skip
