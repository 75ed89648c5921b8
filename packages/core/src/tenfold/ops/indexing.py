"""Reading and writing parts of tensors by `x[...]`: views for ints and slices, gathers for tensors and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tenfold.meta import Meta
from tenfold.operators import composite, primitive
from tenfold.ops.rules import broadcast_shapes, wrap_dim
from tenfold.ops.view import expand, reshape, view
from tenfold.tensor import Tensor

BASIC = frozenset((int, slice, type(None), type(Ellipsis)))


@primitive("indexing", view=True, method=None)
def getitem(input: Tensor, index: Any) -> Tensor:
    """The part that an index of ints, slices, None and ... selects, as a view.

    >>> import tenfold
    >>> tenfold.arange(6).view(2, 3)[1, ::2]
    tensor([3, 5])
    """


@getitem.rule
def _(input: Any, index: Any) -> Meta:
    items = index if type(index) is tuple else (index,)
    n = len(input.shape)
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > n:
        if n == 0:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {n}")
    if Ellipsis not in items:
        items = (*items, Ellipsis)
    shape, strides, offset, dim = [], [], input.offset, 0
    for item in items:
        if item is None:
            shape.append(1)
            strides.append(0)
        elif item is Ellipsis:
            shape += input.shape[dim : dim + n - used]
            strides += input.strides[dim : dim + n - used]
            dim += n - used
        elif isinstance(item, slice):
            start, stop, step = bounds(item, input.shape[dim])
            shape.append(max(-((start - stop) // step), 0))
            strides.append(input.strides[dim] * step)
            offset += start * input.strides[dim] if shape[-1] else 0
            dim += 1
        else:
            offset += position(item, input.shape[dim], dim) * input.strides[dim]
            dim += 1
    return Meta(shape, input.dtype, strides, offset)


def bounds(item: slice, size: int) -> tuple[int, int, int]:
    """A slice's start, stop and step on a dimension; ValueError for steps that are not positive."""
    if item.step is not None and int(item.step) <= 0:
        raise ValueError("step must be greater than zero")
    return item.indices(size)


def position(item: int, size: int, dim: int) -> int:
    """An index counted from the front; IndexError outside the dimension."""
    if not -size <= item < size:
        raise IndexError(f"index {item} is out of bounds for dimension {dim} with size {size}")
    return item % size


@primitive("indexing", method=None)
def index(input: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """The elements at integer positions (or where masks hold) of the dimensions whose entry is not None.

    Shape: the indices' broadcast shape stands where they stand, or in front when they are not neighbours.
    """


@index.rule
def _(input: Any, indices: Any) -> Meta:
    masks = [i for i in indices if i is not None and i.dtype == np.bool_]
    if masks:
        raise RuntimeError("index: the shape of a masked selection depends on data, which a meta tensor does not have")
    if len(indices) > len(input.shape):
        raise IndexError(f"too many indices for tensor of dimension {len(input.shape)}")
    return Meta(indexed_shape(input.shape, indices), input.dtype)


def indexed_shape(shape: Sequence[int], indices: Sequence[Any]) -> tuple[int, ...]:
    """The shape of an advanced gather with integer indices."""
    places = [d for d, i in enumerate(indices) if i is not None]
    if not places:
        return tuple(shape)
    try:
        found = broadcast_shapes("index", [indices[d].shape for d in places])
    except RuntimeError:
        shapes = ", ".join(str(list(indices[d].shape)) for d in places)
        raise IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}") from None
    rest = [n for d, n in enumerate(shape) if d not in places]
    at = places[0] if places[-1] - places[0] + 1 == len(places) else 0
    return (*rest[:at], *found, *rest[at:])


@primitive("indexing", inplace=True)
def index_put(input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with `values` (broadcast) at the indexed places, or added there.

    Without `accumulate` it is undefined which of several values for one place is taken.

    >>> import tenfold
    >>> x, i = tenfold.zeros(3), tenfold.tensor([0, 0, 2])
    >>> x.index_put((i,), tenfold.ones(3), accumulate=True)
    tensor([2., 0., 1.])
    """


@index_put.rule
def _(input: Any, indices: Any, values: Any, accumulate: bool) -> Meta:
    if input.dtype != values.dtype:
        raise RuntimeError(
            f"index_put: Index put requires the source and destination dtypes match, got {input.dtype} for the destination "
            f"and {values.dtype} for the source."
        )
    if all(i is None or i.dtype != np.bool_ for i in indices):
        shape = indexed_shape(input.shape, indices)
        if len(values.shape) > len(shape) or any(v not in (1, n) for v, n in zip(values.shape[::-1], shape[::-1])):
            raise RuntimeError(
                f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of "
                f"shape {list(shape)}"
            )
    return Meta(input.shape, input.dtype)


# Reading an index that has more in it than ints, slices, None and ...


def split_index(input: Tensor, given: Any) -> tuple[Tensor, list[Any] | None]:
    """The view that the basic part of an index selects, and for each of its dimensions an index tensor or None."""
    items = [_item(i, input) for i in (given if isinstance(given, tuple) else (given,))]
    used = sum(_consumes(i) for i in items)
    if used > input.dim():
        raise IndexError(f"too many indices for tensor of dimension {input.dim()}")
    basic: list[Any] = []
    advanced: list[Any] = []
    dim = 0
    for item in items:
        if isinstance(item, bool):  # a new dimension, kept or dropped
            basic.append(None)
            advanced.append(_places([0] if item else [], input))
        elif isinstance(item, Tensor):
            _check_mask(item, input, dim)
            basic += [slice(None)] * _consumes(item)
            advanced.append(item)
            if item.dtype.category == 0:
                advanced += [_COVERED] * (item.dim() - 1)
        elif item is Ellipsis:
            basic.append(Ellipsis)
            advanced += [None] * (input.dim() - used)
            dim += input.dim() - used
        else:
            basic.append(item)
            if type(item) is not int:
                advanced.append(None)
        dim += _consumes(item)
    if all(i is None for i in advanced):
        return getitem(input, tuple(basic)), None
    if any(i is not Ellipsis and i != slice(None) for i in basic):
        input = getitem(input, tuple(basic))
    while advanced and advanced[-1] is None:
        advanced.pop()
    return input, [i for i in advanced if i is not _COVERED]


_COVERED = object()  # a dimension that belongs to a mask of several dimensions


def _item(item: Any, input: Tensor) -> Any:
    """One entry as int, bool, slice, None, ..., or an index tensor."""
    kind = type(item)
    if kind in BASIC or kind is bool:
        return item
    if isinstance(item, Tensor):
        if item.dtype.category > 1:
            raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, got {item.dtype}")
        if item.dim() == 0 and item.dtype.name != "uint8":
            return bool(item) if item.dtype.category == 0 else int(item)
        return item.to(_dtype("bool")) if item.dtype.name == "uint8" else item
    if isinstance(item, (list, tuple, range, np.ndarray)):
        return _item(_listed(item, input), input)
    if isinstance(item, np.bool_):
        return bool(item)
    if hasattr(item, "__index__"):
        return item.__index__()
    raise IndexError(
        f"only integers, slices (`:`), ellipsis (`...`), None and long or byte tensors are valid indices (got {kind.__name__})"
    )


def _listed(item: Any, input: Tensor) -> Tensor:
    from tenfold.ops.creation import tensor

    if isinstance(item, np.ndarray):
        if item.ndim == 0 and item.dtype.kind in "biu":
            item = item.astype(np.int64) if item.dtype.kind != "b" else item
        return tensor(item, device=input.device)
    made = tensor(list(item), device=input.device)
    return made if made.numel() else made.to(_dtype("int64"))


def _dtype(name: str) -> Any:
    from tenfold import dtypes

    return dtypes.BY_NAME[name]


def _places(values: list[int], input: Tensor) -> Tensor:
    from tenfold.ops.creation import tensor

    return tensor(values, dtype=_dtype("int64"), device=input.device)


def _consumes(item: Any) -> int:
    """How many dimensions of the input an entry covers."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.dim() if isinstance(item, Tensor) and item.dtype.category == 0 else 1


def _check_mask(item: Tensor, input: Tensor, dim: int) -> None:
    if item.dtype.category == 0:
        for i, n in enumerate(item.shape):
            if input.shape[dim + i] != n:
                raise IndexError(
                    f"The shape of the mask {list(item.shape)} at index {i} does not match the shape of the indexed tensor "
                    f"{list(input.shape)} at index {dim + i}"
                )


def _read(self: Tensor, given: Any) -> Tensor:
    """`x[...]`: a view for ints, slices, None and ...; a copy when tensors, lists, arrays or masks take part."""
    kind = type(given)
    if kind is int or kind is slice:
        return getitem(self, given)  # type: ignore[no-any-return]
    if kind is tuple:
        for item in given:
            if type(item) not in BASIC:
                break
        else:
            return getitem(self, given)  # type: ignore[no-any-return]
    elif kind in BASIC:
        return getitem(self, given)  # type: ignore[no-any-return]
    if self._key.override:
        from tenfold.dispatch import dispatch

        return dispatch(INDEX_ANY.op, (self, given), {})
    part, places = split_index(self, given)
    return part if places is None else index(part, places)


@composite("indexing", method=None, name="index_any")
def _index_any(input: Tensor, index: Any) -> Tensor:
    """`input[index]` with any index."""
    return _read(input, index)


def _write(self: Tensor, given: Any, value: Any) -> None:
    """`x[...] = value`: numbers, tensors, arrays; broadcast and converted to this tensor's dtype."""
    from tenfold.inplace import check_writable, write_back
    from tenfold.ops.creation import as_tensor

    check_writable("__setitem__", self)
    if not isinstance(value, Tensor):
        value = as_tensor(value)
    if value.dtype is not self.dtype or value.device is not self.device:
        value = value.to(self.device, self.dtype)
    part, places = split_index(self, given)
    if places is not None:
        index_put_(part, places, value)
        return
    while value.dim() > part.dim() and value.size(0) == 1:
        value = view(value, tuple(value.shape[1:])) if value.is_contiguous() else reshape(value, tuple(value.shape[1:]))
    write_back("__setitem__", part, value if value.shape == part.shape else expand(value, tuple(part.shape)))


INDEX_ANY: Any = _index_any
index_put_: Any = index_put.op and Tensor.index_put_  # type: ignore[attr-defined]
Tensor.__getitem__ = _read  # type: ignore[attr-defined]
Tensor.__setitem__ = _write  # type: ignore[attr-defined]


@composite("indexing")
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask holds, in one dimension; input and mask are broadcast.

    >>> import tenfold
    >>> x = tenfold.tensor([1, 2, 3])
    >>> x.masked_select(x > 1)
    tensor([2, 3])
    """
    if mask.dtype.category:
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype}")
    shape = broadcast_shapes("masked_select", [input.shape, mask.shape])
    if not shape:
        input, mask, shape = reshape(input, (1,)), reshape(mask, (1,)), (1,)
    return index(expand(input, shape), [expand(mask, shape)])


@composite("indexing", inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy whose elements where the mask holds are taken from `source`, in its order.

    >>> import tenfold
    >>> tenfold.zeros(3).masked_scatter(tenfold.tensor([True, False, True]), tenfold.tensor([5.0, 6.0]))
    tensor([5., 0., 6.])
    """
    if mask.dtype.category:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    if input.dtype is not source.dtype:
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got {input.dtype} and {source.dtype}")
    shape = broadcast_shapes("masked_scatter", [input.shape, mask.shape]) or (1,)
    places = [expand(mask, shape)]
    count = int(nonzero(places[0]).size(0))
    if count > source.numel():
        raise RuntimeError(f"masked_scatter: Number of elements of source < number of ones in mask: {source.numel()} < {count}")
    values = getitem(reshape(source, (-1,)), slice(0, count))
    written = index_put(expand(input, shape), places, values)
    return written if input.dim() or shape != (1,) else reshape(written, ())


@primitive("indexing", nondifferentiable="its result is integer")
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Tensor:
    """The positions of the elements that are not zero: (count, dimensions), or with as_tuple a tensor a dimension.

    >>> import tenfold
    >>> tenfold.tensor([0, 3, 0, 4]).nonzero()
    tensor([[1],
            [3]])
    """


@nonzero.lower(as_tuple=False)
def _(input: Tensor, as_tuple: bool) -> Any:
    return nonzero(input if input.dim() else reshape(input, (1,))).unbind(1)


@nonzero.rule
def _(input: Any) -> Meta:
    raise RuntimeError("nonzero: the shape of its result depends on data, which a meta tensor does not have")


@composite("indexing")
def argwhere(input: Tensor) -> Tensor:
    """The positions of the elements that are not zero: (count, dimensions).

    >>> import tenfold
    >>> tenfold.argwhere(tenfold.tensor([0, 3]))
    tensor([[1]])
    """
    return nonzero(input)


def at_dim(input: Tensor, dim: int, place: Tensor, name: str) -> list[Any]:
    """The index list that picks `place` of one dimension."""
    return [None] * wrap_dim(dim, input.dim(), name) + [place]


# The family's other modules build on the operators above.
from tenfold.ops import along, joining, strided  # noqa: E402, F401
