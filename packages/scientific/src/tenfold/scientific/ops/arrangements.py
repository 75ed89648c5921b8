"""Tensors put beside and below each other, cut into columns and rows, grown, mirrored and turned; with a part replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.overrides import handle_torch_function, has_torch_function
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.dispatch.spellings import as_dims
from tenfold.ops.creation.factories import checked_size
from tenfold.ops.indexing.joining import cat, flip
from tenfold.ops.view.forms import tensors_of
from tenfold.ops.view.shapes import of_a_copy, reshape, transpose, unsqueeze
from tenfold.scientific.ops.diagonals import diag_embed
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import type_name
from tenfold.types.memory_format import contiguous_format

Ints = Sequence[int]


def _at_least(function: Any, tensors: Any, grow: Any) -> Any:
    given = tensors_of(tensors)
    if has_torch_function(given):
        return handle_torch_function(function, given, *given)
    return grow(tensors) if isinstance(tensors, Tensor) else tuple(grow(x) for x in tensors)


def _grown_2d(x: Tensor) -> Tensor:
    return reshape(x, (1, 1)) if x.dim() == 0 else unsqueeze(x, 0) if x.dim() == 1 else x


def _grown_3d(x: Tensor) -> Tensor:
    return unsqueeze(_grown_2d(x), -1) if x.dim() < 3 else x


@composite("arrangements", method=None)
def atleast_1d(tensors: Ints = ()) -> Any:
    """Each tensor with at least one dimension.

    >>> import tenfold
    >>> tenfold.atleast_1d(tenfold.tensor(1))
    tensor([1])
    """
    return _at_least(atleast_1d, tensors, lambda x: x if x.dim() else reshape(x, (1,)))


@composite("arrangements", method=None)
def atleast_2d(tensors: Ints = ()) -> Any:
    """Each tensor with at least two dimensions; missing ones are put in front.

    >>> import tenfold
    >>> tenfold.atleast_2d(tenfold.tensor(1))
    tensor([[1]])
    """
    return _at_least(atleast_2d, tensors, _grown_2d)


@composite("arrangements", method=None)
def atleast_3d(tensors: Ints = ()) -> Any:
    """Each tensor with at least three dimensions; one is put behind a matrix.

    >>> import tenfold
    >>> tenfold.atleast_3d(tenfold.ones(2, 3)).shape
    tenfold.Size([2, 3, 1])
    """
    return _at_least(atleast_3d, tensors, _grown_3d)


@composite("arrangements", out="joined", method=None)
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors beside each other: along columns, 1-D ones one after the other.

    >>> import tenfold
    >>> tenfold.hstack((tenfold.zeros(2, 1), tenfold.ones(2, 1)))
    tensor([[0., 1.],
            [0., 1.]])
    """
    grown = atleast_1d(tensors)
    if not grown:
        raise RuntimeError("hstack expects a non-empty TensorList")
    return cat(grown, 0 if grown[0].dim() == 1 else 1)


@composite("arrangements", out="joined", method=None)
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors below each other: along rows.

    >>> import tenfold
    >>> tenfold.vstack((tenfold.zeros(2), tenfold.ones(2)))
    tensor([[0., 0.],
            [1., 1.]])
    """
    if not tensors:
        raise RuntimeError("vstack expects a non-empty TensorList")
    return cat(atleast_2d(tensors), 0)


@composite("arrangements", out="joined", method=None)
def row_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors below each other: `vstack` under another name.

    >>> import tenfold
    >>> tenfold.row_stack((tenfold.zeros(1), tenfold.ones(1)))
    tensor([[0.],
            [1.]])
    """
    return vstack(tensors)


@composite("arrangements", out="joined", method=None)
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors behind each other: along the third dimension.

    >>> import tenfold
    >>> tenfold.dstack((tenfold.zeros(2), tenfold.ones(2))).shape
    tenfold.Size([1, 2, 2])
    """
    if not tensors:
        raise RuntimeError("dstack expects a non-empty TensorList")
    return cat(atleast_3d(tensors), 2)


@composite("arrangements", out="joined", method=None)
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Vectors as columns beside matrices' columns.

    >>> import tenfold
    >>> tenfold.column_stack((tenfold.zeros(2), tenfold.ones(2)))
    tensor([[0., 1.],
            [0., 1.]])
    """
    if not tensors:
        raise RuntimeError("column_stack expects a non-empty TensorList")
    return hstack([reshape(x, (x.numel(), 1)) if x.dim() <= 1 else x for x in tensors])


_PARTS = dict.fromkeys(("sections", "indices", "tensor_indices_or_sections"), "indices_or_sections")


@composite("arrangements", spellings=_PARTS)
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of a dimension: so many of nearly equal size, or cut at the given indices.

    >>> import tenfold
    >>> tenfold.arange(5).tensor_split(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    if not input.dim():
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    where, n = indices_or_sections, input.size(dim)
    where = _numbers(where) if isinstance(where, Tensor) else as_dims(where, "tensor_split", "indices_or_sections")
    if not isinstance(where, int):
        return _cut_at(input, where, dim)
    if where <= 0:
        raise RuntimeError(f"tensor_split: number of sections must be larger than 0, got {where}")
    small, extra = divmod(n, int(where))
    return _cut_at(input, [i * small + min(i, extra) for i in range(1, int(where))], dim)


def _numbers(where: Tensor) -> Any:
    """The sections or cuts that a tensor holds."""
    if where.dtype.name != "int64":
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {type_name(where.dtype)}"
        )
    if where.dim() > 1:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a "
            f"tensor with {where.dim()} dims"
        )
    return where.tolist()


def _cut_at(input: Tensor, cuts: Sequence[int], dim: int) -> tuple[Tensor, ...]:
    lead = (slice(None),) * wrap_dim(dim, input.dim(), "tensor_split")
    bounds = [*cuts, None]
    return tuple(op.getitem(input, (*lead, slice(a, b))) for a, b in zip([0, *cuts], bounds))


def _sections(input: Tensor, where: Any, dim: int, name: str, minimum: int) -> tuple[Tensor, ...]:
    if input.dim() < minimum:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {minimum} dimension{'s' if minimum > 1 else ''}, but got a tensor "
            f"with {input.dim()} dimensions!"
        )
    if isinstance(where, (int, np.integer)) and (where <= 0 or input.size(dim) % where):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {input.size(dim)} is not "
            f"divisible by the split_size {where}!"
        )
    return tensor_split(input, where, dim)


@composite("arrangements", spellings=_PARTS)
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` of the columns (of the elements of a 1-D tensor).

    >>> import tenfold
    >>> tenfold.arange(4).hsplit(2)
    (tensor([0, 1]), tensor([2, 3]))
    """
    return _sections(input, indices_or_sections, 0 if input.dim() == 1 else 1, "hsplit", 1)


@composite("arrangements", spellings=_PARTS)
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` of the rows.

    >>> import tenfold
    >>> tenfold.arange(4).view(2, 2).vsplit(2)
    (tensor([[0, 1]]), tensor([[2, 3]]))
    """
    return _sections(input, indices_or_sections, 0, "vsplit", 2)


@composite("arrangements", spellings=_PARTS)
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` of the third dimension.

    >>> import tenfold
    >>> [t.shape for t in tenfold.ones(1, 2, 4).dsplit(2)]
    [tenfold.Size([1, 2, 2]), tenfold.Size([1, 2, 2])]
    """
    return _sections(input, indices_or_sections, 2, "dsplit", 3)


@composite("arrangements")
def fliplr(input: Tensor) -> Tensor:
    """A copy with the columns in reverse order.

    >>> import tenfold
    >>> tenfold.fliplr(tenfold.tensor([[1, 2]]))
    tensor([[2, 1]])
    """
    if input.dim() < 2:
        raise RuntimeError(f"fliplr: Input must be >= 2-d, got {input.dim()} dimensions")
    return flip(input, (1,))


@composite("arrangements")
def flipud(input: Tensor) -> Tensor:
    """A copy with the rows in reverse order.

    >>> import tenfold
    >>> tenfold.flipud(tenfold.tensor([1, 2]))
    tensor([2, 1])
    """
    if input.dim() < 1:
        raise RuntimeError("flipud: Input must be >= 1-d, got 0 dimensions")
    return flip(input, (0,))


@composite("arrangements")
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """A copy turned by k quarter turns in the plane of two dimensions, from the first towards the second.

    >>> import tenfold
    >>> tenfold.rot90(tenfold.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
    """
    n, dims = input.dim(), as_dims(dims, "rot90", "dims")
    if len(dims) != 2 or n < 2:
        raise RuntimeError(f"rot90: expected total rotation dims == 2 and total dims >= 2, but got {len(dims)} and {n}")
    a, b = (wrap_dim(d, n, "rot90") for d in dims)
    if a == b:
        raise RuntimeError(f"rot90: expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    turns = k % 4
    if turns == 0:
        return input.clone(memory_format=contiguous_format)
    if turns == 2:
        return flip(input, (a, b))
    if turns == 1:
        return of_a_copy(transpose(flip(input, (b,)), a, b))
    return flip(transpose(input, a, b), (b,))


@composite("arrangements")
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements of a tensor on a diagonal.

    >>> import tenfold
    >>> tenfold.diagflat(tenfold.tensor([[1], [2]]))
    tensor([[1, 0],
            [0, 2]])
    """
    return diag_embed(input.reshape(-1), offset)


@composite("arrangements", method=None)
def empty_permuted(
    size: Any, physical_layout: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """An uninitialised tensor without gaps whose dimensions lie in memory in a given order, from the outermost to the innermost.

    >>> import tenfold
    >>> tenfold.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    size = checked_size(size, "empty_permuted")
    order = tuple(physical_layout)
    if len(order) != len(size):
        raise RuntimeError(
            f"empty_permuted: Number of dimensions in size does not match the length of the physical_layout; got {list(size)} "
            f"and {list(order)}"
        )
    if sorted(order) != list(range(len(size))):
        raise RuntimeError(f"empty_permuted: physical_layout must name each dimension once, got {list(order)}")
    strides, step = [0] * len(size), 1
    for d in reversed(order):
        strides[d] = step
        step *= max(size[d], 1)
    return op.empty_strided(size, strides, dtype=dtype, device=device, requires_grad=requires_grad)
