"""Rarer reading and writing at places: along one dimension, of the flattened tensor, on the diagonal, under a mask."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.shape_rules import broadcast_shapes, wrap_dim
from tenfold.ops.creation.factories import full
from tenfold.ops.indexing.along import check_slices, gather, length, scatter_reduce, vector, within
from tenfold.ops.indexing.joining import cat
from tenfold.ops.indexing.selection import index_put, nonzero
from tenfold.ops.indexing.subscripts import at_dim, getitem
from tenfold.ops.pointwise.filling import masked_fill
from tenfold.ops.pointwise.several import where
from tenfold.ops.view.shapes import diagonal, expand, of_a_copy, permute, reshape, view
from tenfold.settings.determinism import alert_not_deterministic
from tenfold.settings.warnings import warn_once
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes
from tenfold.types.dtypes import type_name


@composite("places", inplace=True)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy with one value in the slices at given positions of a dimension.

    >>> import tenfold
    >>> tenfold.zeros(2).index_fill(0, tenfold.tensor([1]), 3)
    tensor([0., 3.])
    """
    value = _filling(input, index, value)
    dim = wrap_dim(dim, input.dim(), "index_fill")
    size = input.size(dim) if input.dim() else 1
    chosen = full((size,), False, dtype=dtypes.bool_, device=input.device)
    chosen = index_put(chosen, [vector(index, "index_fill")], full((), True, dtype=dtypes.bool_, device=input.device))
    shape = [size if d == dim else 1 for d in range(input.dim())]
    return where(view(chosen, tuple(shape)), value, input)


def _filling(input: Tensor, index: Tensor, value: Any) -> Tensor:
    """The value of `index_fill` as a tensor; refuses other kinds of it, and of indices."""
    if index.dtype.name != "int64":
        raise IndexError(f"index_fill_(): Expected dtype int64 for index, got {index.dtype.name}")
    vector(index, "index_fill")
    if isinstance(value, Tensor) and value.dim():
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s)."
        )
    if not input.dtype.is_complex and (value.is_complex() if isinstance(value, Tensor) else isinstance(value, complex)):
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    if isinstance(value, Tensor):
        return value.to(input.device, input.dtype)
    return full((), value, dtype=input.dtype, device=input.device)


def _fill_slices(input: Tensor, dim: int, index: Tensor, value: Any) -> None:
    value = _filling(input, index, value).clone()  # it may be an element of the tensor
    rows = input if input.dim() else view(input, (1,))
    op.index_put_(rows, at_dim(rows, dim, vector(index, "index_fill"), "index_fill"), value)


index_fill.op.in_place = _fill_slices


@composite("places", inplace=True, out="same")
def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:  # fmt: skip
    """A copy with the slices of `source` reduced ("prod", "mean", "amax", "amin") into given positions of a dimension.

    Warns once, as PyTorch does, that its API may change.

    >>> import tenfold, warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     tenfold.ones(2).index_reduce(0, tenfold.tensor([1, 1]), tenfold.tensor([2.0, 3.0]), "prod")
    tensor([1., 6.])
    """
    return _reduced(scatter_reduce, input, dim, index, source, reduce, include_self)


def _reduced(
    combine: Any, input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool
) -> Tensor:  # fmt: skip
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    warn_once("index_reduce", "index_reduce() is in beta and the API may change at any time.", 4)
    check_slices(input, dim, index, source, "index_reduce")
    dim, place = wrap_dim(dim, input.dim(), "index_reduce"), vector(index, "index_reduce")
    if input.dtype.category in (0, 3) and (input.dim() < 2 or not include_self):
        raise NotImplementedError(f"\"index_func_\" not implemented for '{type_name(input.dtype)}', got {reduce}")
    within(place, length(input, dim, "index_reduce"), "index out of range in self")
    if (input.dtype.is_complex and reduce in ("amax", "amin")) or (input.dtype.category == 0 and reduce == "mean"):
        raise NotImplementedError(f"\"index_func_\" not implemented for '{type_name(input.dtype)}', got {reduce}")
    shape = [1] * max(source.dim(), 1)
    shape[dim] = -1
    spread = expand(view(place, tuple(shape)), tuple(source.shape) or (1,))
    spread = spread if source.dim() else reshape(spread, ())
    return combine(input, dim, spread, source, reduce, include_self=include_self)


index_reduce.op.in_place = partial(_reduced, op.scatter_reduce_)


@composite("places", out="same")
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Elements at given positions of one dimension, the other sizes broadcast; without dim of the flattened tensor.

    >>> import tenfold
    >>> x = tenfold.tensor([[3, 1], [2, 4]])
    >>> x.take_along_dim(tenfold.tensor([[1], [0]]), 1)
    tensor([[1],
            [2]])
    """
    if indices.dtype.name != "int64":
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {type_name(indices.dtype)}")
    if dim is None:
        return gather(view(input, (-1,)), 0, view(indices, (-1,)))
    if input.dim() != indices.dim():
        raise RuntimeError(
            f"torch.take_along_dim(): input and indices should have the same number of dimensions, but got {input.dim()} "
            f"dimensions for input, and {indices.dim()} dimensions for indices"
        )
    dim = wrap_dim(dim, input.dim(), "take_along_dim")
    rest = [[1 if d == dim else n for d, n in enumerate(x.shape)] for x in (input, indices)]
    common = broadcast_shapes("take_along_dim", rest)
    sizes = [tuple(x.size(dim) if d == dim else n for d, n in enumerate(common)) for x in (input, indices)]
    counted = where(indices > -1, indices, indices + input.size(dim))
    return gather(expand(input, sizes[0]), dim, expand(counted, sizes[1]))


@take_along_dim.overload
def _(input: Any, indices: Any, dim: Any = None, **out: Any) -> Any:
    """Refuses indices on another device, which other operators have moved."""
    if isinstance(input, Tensor) and isinstance(indices, Tensor) and indices.device != input.device:
        raise RuntimeError(
            f"Expected tensor to have {input.device} Device, but got tensor with {indices.device} Device "
            "(while checking arguments for torch.take_along_dim():)"
        )
    return NotImplemented


@composite("places", inplace=True)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with the elements of `source` at given positions of the flattened tensor, or added there.

    >>> import tenfold
    >>> tenfold.zeros(3).put(tenfold.tensor([2]), tenfold.tensor([5.0]))
    tensor([0., 0., 5.])
    """
    flat = _put(index_put, reshape(input, (-1,)), index, source, accumulate)
    made = view(flat, tuple(input.shape))
    order = sorted(range(input.dim()), key=lambda d: -input.stride(d))
    if order != list(range(input.dim())):  # in the order of memory of a copy
        made = permute(permute(made, order).contiguous(), [order.index(d) for d in range(input.dim())])
    return of_a_copy(made)


def _put(put: Any, input: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Tensor:
    """`put` into a vector, by `index_put` or its in-place form."""
    if index.dtype is not dtypes.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {type_name(index.dtype)}")
    if input.dtype is not source.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {input.dtype} and "
            f"source.dtype = {source.dtype}"
        )
    if index.numel() != source.numel():
        raise IndexError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.numel()}, index.numel() = {index.numel()}"
        )
    if not accumulate:
        alert_not_deterministic("put_")
    return put(input, [reshape(index, (-1,))], reshape(source, (-1,)), accumulate)


def _put_here(input: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Any:
    if not input.is_contiguous():
        return NotImplemented
    return _put(op.index_put_, view(input, (-1,)), index, source, accumulate)


put.op.in_place = _put_here


@composite("places")
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` positions of elements that are not zero, filled up with `fill_value`.

    >>> import tenfold
    >>> tenfold.nonzero_static(tenfold.tensor([0, 3]), size=2)
    tensor([[ 1],
            [-1]])
    """
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, got {size}")
    if not size:  # nothing is looked for
        return full((0, input.dim()), fill_value, dtype=dtypes.int64, device=input.device)
    found = getitem(nonzero(input), slice(0, size))
    missing = full((size - found.size(0), input.dim()), fill_value, dtype=found.dtype, device=found.device)
    return cat([found, missing])


@composite("places", method=None, inplace="method")
def fill_diagonal(input: Tensor, fill_value: complex, wrap: bool = False) -> Tensor:
    """One value on the main diagonal; with `wrap` the diagonal of a tall matrix starts again below its end.

    >>> import tenfold
    >>> tenfold.zeros(2, 2).fill_diagonal_(3)
    tensor([[3., 0.],
            [0., 3.]])
    """
    shape = _square(input)
    step = sum(prod(shape[i + 1 :]) for i in range(len(shape)))
    end = input.numel() if wrap or len(shape) > 2 else min(shape) * shape[1]
    mask = full((input.numel(),), False, device=input.device)
    mask[:end:step] = True
    return masked_fill(input, mask.view(shape), fill_value)


def _square(input: Tensor) -> Any:
    """The shape of a tensor that has a main diagonal."""
    shape = input.shape
    if len(shape) < 2:
        raise RuntimeError(f"fill_diagonal_: dimensions must larger than 1, got a tensor of {len(shape)}")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError(f"fill_diagonal_: all dimensions of input must be of equal length, got {list(shape)}")
    return shape


def _fill_the_diagonal(input: Tensor, fill_value: complex, wrap: bool) -> Any:
    shape = _square(input)
    if len(shape) > 2 or (wrap and shape[0] > shape[1]):
        return NotImplemented
    places = diagonal(input)
    return op.masked_fill_(places, full(tuple(places.shape), True, device=input.device), fill_value)


fill_diagonal.op.in_place = _fill_the_diagonal


@composite("places", inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy whose elements where the mask holds are taken from `source`, in its order.

    >>> import tenfold
    >>> tenfold.zeros(3).masked_scatter(tenfold.tensor([True, False, True]), tenfold.tensor([5.0, 6.0]))
    tensor([5., 0., 6.])
    """
    shape = tuple(broadcast_shapes("masked_scatter", [input.shape, mask.shape])) or (1,)
    written = _written_under(index_put, expand(input, shape).contiguous(), mask, source)
    return written if input.dim() or shape != (1,) else reshape(written, ())


def _written_under(put: Any, input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    if mask.dtype.category:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {type_name(mask.dtype)}")
    if input.dtype is not source.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got {input.dtype} and {source.dtype}"
        )
    places = [expand(mask, tuple(input.shape))]
    count = int(nonzero(places[0]).size(0))
    if count > source.numel():
        raise RuntimeError(f"masked_scatter: Number of elements of source < number of ones in mask: {source.numel()} < {count}")
    values = getitem(reshape(source, (-1,)), slice(0, count))
    return put(input, places, values)


def _scatter_here(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    shape = tuple(broadcast_shapes("masked_scatter", [input.shape, mask.shape]))
    shared = source is input or (input._storage is not None and source._storage is input._storage)  # which is read first
    if shared or shape == () or shape != tuple(input.shape):
        return NotImplemented
    return _written_under(op.index_put_, input, mask, source)


masked_scatter.op.in_place = _scatter_here
