"""Reading and writing along one dimension by an index tensor: gather, scatter, index_add and their kin."""

from __future__ import annotations

from functools import partial
from typing import Any

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import Number, composite, op, primitive
from tenfold.dispatch.runtime import STATE
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.ops.creation.factories import full
from tenfold.ops.indexing.selection import index as indexed, index_put
from tenfold.ops.indexing.subscripts import at_dim
from tenfold.ops.view.shapes import expand, reshape, view
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import type_name
from tenfold.types.numbers import element, factor, require_value


def _check_index(name: str, input: Any, dim: int, index: Any, src: Any = None) -> int:
    """Ranks and sizes of gather and scatter; the wrapped dimension."""
    n = max(len(input.shape), 1)
    dim = wrap_dim(dim, n, name)
    if 0 not in index.shape and (index.dtype.kind != "i" or index.dtype.itemsize < 4):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index, got {index.dtype}")
    if isinstance(src, Meta) and src.dtype != input.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype, got {input.dtype} and {src.dtype}")
    if 0 in index.shape:
        return dim
    for what, other in (("input", input), ("src", src)):
        if not isinstance(other, Meta):
            continue
        if max(len(other.shape), 1) != max(len(index.shape), 1):
            raise RuntimeError(f"{name}(): Index tensor must have the same number of dimensions as {what} tensor")
        for d, (have, want) in enumerate(zip(other.shape or (1,), index.shape)):
            if want > have and (what == "src" or d != dim):
                raise RuntimeError(
                    f"{name}(): Expected index {list(index.shape)} to be no larger than {what} {list(other.shape)} apart from "
                    f"dimension {dim}"
                )
    return dim


@primitive("indexing", out="same")
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Elements at given positions of one dimension: out[i, j] = input[index[i, j], j] for dim 0.

    Shape: that of `index`, no larger than `input` in the other dimensions.

    >>> import tenfold
    >>> x = tenfold.tensor([[1, 2], [3, 4]])
    >>> x.gather(1, tenfold.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
    """


@gather.rule
def _(input: Any, dim: int, index: Any, sparse_grad: bool) -> Meta:
    _check_index("gather", input, dim, index)
    return Meta(index.shape, input.dtype)


@primitive("indexing", method=None, inplace=True)
def scatter_set(input: Tensor, dim: int, index: Tensor, src: Tensor | Number) -> Tensor:
    """What `scatter` without `reduce` runs.

    >>> import tenfold
    >>> tenfold.op.scatter_set(tenfold.zeros(3), 0, tenfold.tensor([1]), tenfold.tensor([5.0]))
    tensor([0., 5., 0.])
    """


@scatter_set.rule
def _(input: Any, dim: int, index: Any, src: Any) -> Meta:
    _check_index("scatter", input, dim, index, src)
    return Meta(input.shape, input.dtype)


@primitive("indexing", inplace=True, out="same")
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy with src[i, j] added to out[index[i, j], j] (for dim 0).

    >>> import tenfold
    >>> tenfold.zeros(2).scatter_add(0, tenfold.tensor([1, 1]), tenfold.ones(2))
    tensor([0., 2.])
    """


@scatter_add.rule
def _(input: Any, dim: int, index: Any, src: Any) -> Meta:
    _check_index("scatter_add", input, dim, index, src)
    return Meta(input.shape, input.dtype)


REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


@primitive("indexing", inplace=True, out="same")
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:  # fmt: skip
    """A copy in which each place holds the sum, prod, mean, amax or amin of what `index` sends there (and of itself).

    >>> import tenfold
    >>> tenfold.zeros(2).scatter_reduce(0, tenfold.tensor([1, 1]), tenfold.tensor([2.0, 3.0]), "amax")
    tensor([0., 3.])
    """


@scatter_reduce.rule
def _(input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool) -> Meta:
    wrap_dim(dim, max(len(input.shape), 1), "scatter_reduce")
    if reduce not in REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}.")
    if input.dtype.kind == "c" and reduce in ("amax", "amin"):
        raise NotImplementedError(f"scatter_reduce: {reduce} is not implemented for {input.dtype}: complex numbers have no order")
    _check_index("scatter_reduce", input, dim, index, src)
    return Meta(input.shape, input.dtype)


@composite("indexing", inplace=True, out="same")
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:  # fmt: skip
    """A copy with src[i, j] (or one number) written to out[index[i, j], j] (for dim 0); reduce: "add" or "multiply".

    >>> import tenfold
    >>> tenfold.zeros(3).scatter(0, tenfold.tensor([2]), 5.0)
    tensor([0., 0., 5.])
    """
    return _scattered(scatter_set, scatter_reduce, input, dim, index, src, value, reduce)


def _scattered(
    put: Any, combine: Any, input: Tensor, dim: int, index: Tensor, src: Any, value: Any, reduce: str | None
) -> Tensor:  # fmt: skip
    given = src if value is None else value
    if isinstance(given, (int, float, complex)):
        wrap_dim(dim, input.dim(), "scatter")
        if index.numel():  # else it is written nowhere
            require_value(given, input.dtype)
            given = element(given, input.dtype)
            given = (int, int, float, complex)[input.dtype.category](given)  # calls take the first three as they are
    if reduce is None:
        return put(input, dim, index, given)
    kinds = {"add": "sum", "multiply": "prod"}
    if reduce not in kinds:
        raise RuntimeError(f"reduce argument must be either add or multiply, got {reduce}")
    if not isinstance(given, Tensor):
        given = expand(full((), given, dtype=input.dtype, device=input.device), tuple(index.shape))
    return combine(input, dim, index, given, kinds[reduce])


scatter.op.in_place = partial(_scattered, op.scatter_set_, op.scatter_reduce_)


def vector(index: Tensor, name: str) -> Tensor:
    """An index of one dimension; a 0-d one counts as such."""
    if index.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index, got {index.dtype.name}")
    if index.dim() > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector, but got dim: {index.dim()}")
    return index if index.dim() else view(index, (1,))


def within(place: Tensor, size: int, message: str, error: type[Exception] = IndexError) -> None:
    """Refuse positions outside a dimension, and counting from its end, as far as the values are at hand: on the CPU."""
    if place._key is not CPU or not place.numel():
        return
    lowest, highest = int(place._array.min()), int(place._array.max())
    if lowest < 0 or highest >= size:
        raise error(message.format(lowest if lowest < 0 else highest))


@composite("indexing", out="same")
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of a dimension at given positions.

    >>> import tenfold
    >>> tenfold.arange(6).view(3, 2).index_select(0, tenfold.tensor([2, 0]))
    tensor([[4, 5],
            [0, 1]])
    """
    size = length(input, dim, "index_select")
    place = vector(index, "index_select")
    if input.dim() > 1 and not input.numel():
        _check_places_of_none(place, size)
    if not input.dim() and place.numel() != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {place.numel()} value(s)")
    try:
        within(place, size, "index out of range in self")
    except IndexError:
        if input.dim() > 1 and dim % input.dim() == 1:
            _check_places_of_none(place, size)
        raise
    if not input.dim():
        return reshape(indexed(view(input, (1,)), [place]), ())
    recorded = STATE.grad_enabled and input.requires_grad
    if recorded and _is_half(input) and input.dim() > 1 and dim % input.dim() in (0, input.dim() - 1):
        shape = list(input.shape)
        shape[dim] = place.numel()
        return gather(input, dim, _spread(place, dim, shape))  # whose gradient is added up in float32
    return indexed(input, at_dim(input, dim, place, "index_select"))


def _is_half(input: Tensor) -> bool:
    return input.dtype.itemsize == 2 and input.dtype.category == 2


def _spread(index: Tensor, dim: int, shape: Any) -> Tensor:
    """One position for each slice, as one for each element."""
    sizes = [1] * len(shape)
    sizes[dim] = -1
    return expand(view(index, tuple(sizes)), tuple(shape))


def _check_places_of_none(place: Tensor, size: int) -> None:
    """RuntimeError, where others get IndexError, for places that a tensor without elements does not have."""
    if not place.numel() or place.is_meta:
        return
    if not size:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    outside = [p for p in place.tolist() if not 0 <= p < size]
    if outside:
        raise RuntimeError(f"INDICES element is out of DATA bounds, id={outside[0]} axis_dim={size}")


def length(input: Tensor, dim: int, name: str) -> int:
    """The size of a dimension; a 0-d tensor has one of size 1."""
    dim = wrap_dim(dim, input.dim(), name)
    return input.size(dim) if input.dim() else 1


def check_slices(input: Tensor, dim: int, index: Tensor, source: Tensor, name: str) -> None:
    """What `index_add` and `index_reduce` refuse before they look at positions."""
    dim = wrap_dim(dim, input.dim(), name)
    place = vector(index, name)
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}_(): self ({type_name(input.dtype)}) and source ({type_name(source.dtype)}) must have the same scalar type"
        )
    if dim and dim >= source.dim():
        raise RuntimeError(f"{name}(): Indexing dim {dim} is out of bounds of the source tensor, which has {source.dim()}")
    if not source.dim() and place.size(0) != 1:
        raise IndexError(f"{name}(): Dimension specified as {dim} but tensor has no dimensions")
    if source.dim() and source.size(dim) != place.size(0):
        raise RuntimeError(
            f"{name}(): Number of indices ({place.size(0)}) should be equal to source.size(dim): ({source.size(dim)}), "
            f"for dim: {dim}"
        )
    if _but(input, dim) != _but(source, dim) or bool(input.dim()) != bool(source.dim()):
        raise RuntimeError(
            f"{name}(): source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(input.shape)} source.shape = {list(source.shape)}"
        )


def _check_copied(input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """The same of `index_copy`, whose errors have other types."""
    dim = wrap_dim(dim, input.dim(), "index_copy")
    count = index.numel()
    if index.dim() > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.dim()})")
    if not source.dim() and count != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {count})")
    if source.dim() != input.dim() and source.dim() and input.dim():
        raise IndexError(
            f"index_copy_(): When source and destination are not scalars, their dimensionality must match. "
            f"Source dimensionality ({source.dim()}), destination dimensionality ({input.dim()})"
        )
    if index.dtype.name != "int64":
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {type_name(index.dtype)}")
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"index_copy_(): self and source expected to have the same dtype, but got (self) {input.dtype} and "
            f"(source) {source.dtype}"
        )
    if _but(input, dim) != _but(source, dim):
        raise RuntimeError(
            f"index_copy_(): Source/destination tensor must have same slice shapes. Destination: {list(input.shape)}, "
            f"source: {list(source.shape)} at dimension {dim}"
        )
    if source.dim() and source.size(dim) != count:
        raise IndexError(f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) ({source.size(dim)})")


def _but(tensor: Tensor, dim: int) -> list[int]:
    """The sizes of all other dimensions."""
    return [*tensor.shape[:dim], *tensor.shape[dim + 1 :]]


def _put_slices(put: Any, input: Tensor, dim: int, index: Tensor, source: Tensor, accumulate: bool, name: str) -> Tensor:
    dim, place = wrap_dim(dim, input.dim(), name), vector(index, name)
    if not input.dim() or not source.dim():
        flat = view(input, (1,)) if not input.dim() else input
        return reshape(put(flat, [place], reshape(source, (-1,)), accumulate), tuple(input.shape))
    return put(input, at_dim(input, dim, place, name), source, accumulate)


@composite("indexing", inplace=True, out="same")
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """A copy with alpha times the slices of `source` added at given positions of a dimension.

    >>> import tenfold
    >>> tenfold.zeros(2).index_add(0, tenfold.tensor([1, 1]), tenfold.ones(2))
    tensor([0., 2.])
    """
    return _added(index_put, scatter_add, input.contiguous(), dim, index, source, alpha)


def _added(put: Any, add: Any, input: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any) -> Tensor:
    check_slices(input, dim, index, source, "index_add")
    size, wrapped = length(input, dim, "index_add"), wrap_dim(dim, input.dim(), "index_add")
    if alpha == 1 and input.dim() > 1 and wrapped in (0, input.dim() - 1) and index.dtype.name == "int64":
        message = f"index {{}} is out of bounds for dimension {wrapped} with size {size}"
        within(index, size, message, RuntimeError)
        if _is_half(input):  # added up in float32
            return add(input, dim, _spread(index, dim, source.shape), source)
    within(index, size, "index out of range in self")
    if alpha != 1:
        source = (source * factor(alpha, source.dtype)).to(source.dtype)
    return _put_slices(put, input, dim, index, source, True, "index_add")


index_add.op.in_place = partial(_added, op.index_put_, scatter_add.op.inplace_form)


@composite("indexing", inplace=True, out="same")
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy with the slices of `source` at given positions of a dimension.

    >>> import tenfold
    >>> tenfold.zeros(2).index_copy(0, tenfold.tensor([1]), tenfold.ones(1))
    tensor([0., 1.])
    """
    return _copied(index_put, input.contiguous(), dim, index, source)


def _copied(put: Any, input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    _check_copied(input, dim, index, source)
    size = length(input, dim, "index_copy")
    within(index, size, f"index_copy_(): index {{}} is out of bounds for dimension {dim} with size {size}")
    return _put_slices(put, input, dim, index, source, False, "index_copy")


index_copy.op.in_place = partial(_copied, op.index_put_)


@composite("indexing", out="same")
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at given positions of the flattened tensor.

    >>> import tenfold
    >>> tenfold.tensor([[1, 2], [3, 4]]).take(tenfold.tensor([0, 3]))
    tensor([1, 4])
    """
    if index.dtype.name != "int64":
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype.name}")
    return indexed(reshape(input, (-1,)), [index])
