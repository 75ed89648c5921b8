"""Tensors put together, repeated, turned and cut to triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.dispatch.meta import DataDependent, Meta
from tenfold.dispatch.operators import composite, primitive
from tenfold.dispatch.shape_rules import wrap_dim, wrap_dims
from tenfold.dispatch.spellings import as_dims, as_int
from tenfold.ops.indexing.selection import index
from tenfold.ops.indexing.subscripts import at_dim
from tenfold.ops.view.shapes import expand, of_a_copy, reshape, unsqueeze, view
from tenfold.tensor.tensor import Tensor
from tenfold.types.memory_format import contiguous_format

Ints = Sequence[int]


@primitive("indexing", promote="common", out="joined", method=None)
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after the other along a dimension; their other sizes agree. Empty 1-D tensors are left out.

    >>> import tenfold
    >>> tenfold.cat((tenfold.zeros(1), tenfold.ones(2)))
    tensor([0., 1., 1.])
    """


@cat.rule
def _(tensors: Any, dim: int) -> Meta:
    if not len(tensors):
        raise ValueError("cat: expected a non-empty list of Tensors")
    for i, a in enumerate(tensors):
        if not a.shape:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    real = [(i, a) for i, a in enumerate(tensors) if a.shape != (0,)]
    if not real:
        return Meta((0,), tensors[0].dtype)
    first = real[0][1].shape
    dim = wrap_dim(dim, len(first), "cat")
    for i, a in real[1:]:
        if len(a.shape) != len(first):
            raise RuntimeError(f"cat: Tensors must have same number of dimensions: got {len(first)} and {len(a.shape)}")
        for d, (n, m) in enumerate(zip(first, a.shape)):
            if n != m and d != dim:
                raise RuntimeError(
                    f"cat: Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} for "
                    f"tensor number {i} in the list."
                )
    shape = list(first)
    shape[dim] = sum(a.shape[dim] for _, a in real)
    return Meta(shape, tensors[0].dtype)


@composite("indexing", out="joined", method=None)
def concat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after the other along a dimension: `cat` under another name.

    >>> import tenfold
    >>> tenfold.concat((tenfold.zeros(1), tenfold.ones(1)))
    tensor([0., 1.])
    """
    return cat(tensors, dim)


@composite("indexing", out="joined", method=None)
def concatenate(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after the other along a dimension: `cat` under NumPy's name.

    >>> import tenfold
    >>> tenfold.concatenate((tenfold.zeros(1), tenfold.ones(1)))
    tensor([0., 1.])
    """
    return cat(tensors, dim)


@primitive("indexing", promote="common", out="joined", method=None)
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape as the slices of a new dimension.

    >>> import tenfold
    >>> tenfold.stack((tenfold.zeros(2), tenfold.ones(2)), 1)
    tensor([[0., 1.],
            [0., 1.]])
    """


@stack.rule
def _(tensors: Any, dim: int) -> Meta:
    if not len(tensors):
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0].shape
    dim = wrap_dim(dim, len(first) + 1, "stack")
    for i, a in enumerate(tensors):
        if a.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and {list(a.shape)} at entry {i}"
            )
    return Meta((*first[:dim], len(tensors), *first[dim:]), tensors[0].dtype)


def _triangle(input: Any, diagonal: int) -> Meta:
    if len(input.shape) < 2:
        raise RuntimeError("tril, triu: input tensor must have at least 2 dimensions")
    return Meta(input.shape, input.dtype)


@primitive("indexing", inplace=True, out="same", rule=_triangle)
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Matrices with zeros above a diagonal.

    >>> import tenfold
    >>> tenfold.ones(2, 2).tril()
    tensor([[1., 0.],
            [1., 1.]])
    """


@primitive("indexing", inplace=True, out="same", rule=_triangle)
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """Matrices with zeros below a diagonal.

    >>> import tenfold
    >>> tenfold.ones(2, 2).triu()
    tensor([[1., 1.],
            [0., 1.]])
    """


@primitive("indexing")
def flip(input: Tensor, dims: Ints) -> Tensor:
    """A copy with dimensions in reverse order.

    >>> import tenfold
    >>> tenfold.flip(tenfold.tensor([1, 2, 3]), (0,))
    tensor([3, 2, 1])
    """


@flip.rule
def _(input: Any, dims: Any) -> Meta:
    wrap_dims(dims, len(input.shape), "flip")
    return Meta(input.shape, input.dtype)


@primitive("indexing")
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """A copy shifted along dimensions, what leaves at the end coming back at the start; without dims as if flat.

    >>> import tenfold
    >>> tenfold.roll(tenfold.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """


@roll.rule
def _(input: Any, shifts: Any, dims: Any) -> Meta:
    steps = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    along = (dims,) if isinstance(dims, int) else tuple(dims or ())
    if not steps:
        raise RuntimeError("roll: `shifts` required")
    if (along and len(along) != len(steps)) or (not along and len(steps) != 1):
        raise RuntimeError(f"roll: shifts and dimensions must align. shifts: {len(steps)}, dims:{len(along)}")
    if 0 in input.shape:  # nothing moves, and PyTorch looks no further
        return Meta(input.shape, input.dtype)
    if along and not input.shape:
        raise IndexError(f"Dimension specified as {along[0]} but tensor has no dimensions")
    for dim in along:
        wrap_dim(dim, len(input.shape), "roll")
    return Meta(input.shape, input.dtype)


@composite("indexing")
def repeat(input: Tensor, repeats: Ints) -> Tensor:
    """A copy laid out so many times along each dimension; new dimensions come in front.

    >>> import tenfold
    >>> tenfold.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    times = [*as_dims(repeats, "repeat", "repeats")]
    lead = len(times) - input.dim()
    if lead < 0:
        raise RuntimeError("repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if any(n < 0 for n in times):
        raise RuntimeError(f"repeat: Trying to create tensor with negative dimension: repeats {times}")
    shape = (1,) * lead + tuple(input.shape)
    pairs = reshape(input, tuple(m for n in shape for m in (1, n)))
    tiled = expand(pairs, tuple(m for r, n in zip(times, shape) for m in (r, n)))
    return of_a_copy(view(tiled.clone(memory_format=contiguous_format), tuple(r * n for r, n in zip(times, shape))))


@composite("indexing")
def tile(input: Tensor, dims: Ints) -> Tensor:
    """A copy laid out so many times along each dimension; missing counts in front are 1.

    >>> import tenfold
    >>> tenfold.tensor([[1, 2]]).tile(2)
    tensor([[1, 2, 1, 2]])
    """
    times = tuple(dims)
    return repeat(input, (1,) * (input.dim() - len(times)) + times)


@primitive("indexing", accepts="integer", method=None, nondifferentiable="its result is integer")
def repeat_places(repeats: Tensor) -> Tensor:
    """For each position i of a vector of counts, i as many times as its count says.

    >>> import tenfold
    >>> tenfold.op.repeat_places(tenfold.tensor([2, 0, 1]))
    tensor([0, 0, 2])
    """


@repeat_places.rule
def _(repeats: Any) -> Meta:
    raise DataDependent("repeat_interleave: the shape of its result depends on data, which a meta tensor does not have")


@composite("indexing")
def repeat_interleave(input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
    """Each element (or slice of a dimension) repeated in place; one count for all, or one for each.

    >>> import tenfold
    >>> tenfold.repeat_interleave(tenfold.tensor([1, 2]), tenfold.tensor([2, 1]))
    tensor([1, 1, 2])
    """
    if repeats is None:
        return repeat_places(input)
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    if not input.dim():
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = wrap_dim(dim, input.dim(), "repeat_interleave")
    if isinstance(repeats, Tensor) and repeats.dim() > 1:
        raise RuntimeError("repeat_interleave: repeats must be 0-dim or 1-dim tensor")
    if not isinstance(repeats, Tensor):
        repeats = as_int(repeats, "repeat_interleave", "repeats")
    elif repeats.numel() == 1 and repeats.dtype.category == 1:
        repeats = int(repeats)
    if output_size is not None:
        length = repeats * input.size(dim) if isinstance(repeats, int) else int(repeats.sum())
        if output_size != length:
            raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {length} but got {output_size}")
    if isinstance(repeats, int):
        if repeats < 0:
            raise RuntimeError(f"repeat_interleave: Repeats must be non-negative, got {repeats}")
        shape = input.shape
        spread = expand(unsqueeze(input, dim + 1), (*shape[: dim + 1], repeats, *shape[dim + 1 :]))
        return view(spread.clone(memory_format=contiguous_format), (*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :]))
    if repeats.dim() and repeats.size(0) != input.size(dim):
        raise RuntimeError("repeat_interleave: repeats must have the same size as input along dim")
    return index(input, at_dim(input, dim, repeat_places(repeats), "repeat_interleave"))
