"""Copies of tensors in which a part is replaced: a slice, a diagonal, a region of their memory."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.inplace import repeats
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.ops.indexing.strided import strided_set
from tenfold.ops.indexing.subscripts import getitem
from tenfold.ops.view.shapes import as_strided, diagonal, select
from tenfold.tensor.tensor import Tensor


def _row_by_row(x: Tensor) -> bool:
    """Whether a copy of a tensor in row-major order has its memory's order, or it lies in no memory that could be copied."""
    return x.is_contiguous() or x._key.level is not None


def _fitting(input: Tensor, src: Tensor, name: str, size: Any) -> Tensor:
    if tuple(src.shape) != tuple(size):
        raise RuntimeError(
            f"{name}: expected src to have a size equal to the slice of self. src size = {list(src.shape)}, "
            f"slice size = {list(size)}"
        )
    return src if src.dtype is input.dtype else src.to(input.dtype)


def _in_memory(input: Tensor, src: Tensor, size: Any, stride: Any, offset: int) -> Tensor:
    """The tensor on a copy of its memory, of which a region holds `src`."""
    shape, strides, start = input.shape, input.stride(), input.storage_offset()
    length = start + 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    return as_strided(strided_set(as_strided(input, (length,), (1,), 0), src, size, stride, offset), shape, strides, start)


def _apart(x: Tensor) -> bool:
    """Whether each element has a place of its own."""
    reached = 0
    for s, n in sorted((s, n) for s, n in zip(x.stride(), x.shape) if n > 1):
        if s <= reached:
            return False
        reached += s * (n - 1)
    return True


@composite("replacements")
def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy of `input`, in the same order of memory, whose region (size, stride, offset) of that memory holds `src`.

    The offset counts from the start of the memory that `input` lies in; without one, the region begins where `input` does.

    >>> import tenfold
    >>> tenfold.zeros(4).as_strided_scatter(tenfold.ones(2), (2,), (2,), 1)
    tensor([0., 1., 0., 1.])
    >>> tenfold.zeros(2, 2).T.as_strided_scatter(tenfold.ones(2), (2,), (1,))
    tensor([[1., 0.],
            [1., 0.]])
    """
    src = _fitting(input, src, "as_strided_scatter", size)
    if any(s == 0 and n > 1 for n, s in zip(size, stride)):
        raise RuntimeError("as_strided_scatter: more than one element of src would be written to a single memory location")
    if repeats(input._array):
        input = input.clone()
    if _row_by_row(input) and not (input._key.level is None and input.storage_offset()):
        return strided_set(input, src, size, stride, storage_offset)
    return _in_memory(input, src, size, stride, input.storage_offset() if storage_offset is None else storage_offset)


def _replaced(input: Tensor, src: Tensor, name: str, rule: Any, *arguments: Any) -> Tensor:
    """A copy of `input` with the part that a view's rule picks replaced; elements that share memory are taken apart."""
    if _row_by_row(input) or not _apart(input):
        part = rule(Meta(input.shape, "u1"), *arguments)
        return strided_set(input, _fitting(input, src, name, part.shape), part.shape, part.strides, part.offset)
    part = rule(Meta(input.shape, "u1", input.stride(), input.storage_offset()), *arguments)
    return _in_memory(input, _fitting(input, src, name, part.shape), part.shape, part.strides, part.offset)


@composite("replacements")
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy with the slice at one index of a dimension replaced.

    >>> import tenfold
    >>> tenfold.zeros(2, 2).select_scatter(tenfold.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    return _replaced(input, src, "select_scatter", select.op.shape_rule, dim, index)


@composite("replacements", out="same")
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy with a slice of a dimension replaced.

    >>> import tenfold
    >>> tenfold.zeros(3).slice_scatter(tenfold.ones(2), start=1)
    tensor([0., 1., 1.])
    """
    lead = (slice(None),) * wrap_dim(dim, input.dim(), "slice_scatter")
    return _replaced(input, src, "slice_scatter", getitem.op.shape_rule, (*lead, slice(start, end, step)))


@composite("replacements")
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy with a diagonal replaced.

    >>> import tenfold
    >>> tenfold.zeros(2, 2).diagonal_scatter(tenfold.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _replaced(input, src, "diagonal_scatter", diagonal.op.shape_rule, offset, dim1, dim2)
