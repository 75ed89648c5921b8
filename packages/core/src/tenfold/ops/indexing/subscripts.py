"""Reading and writing parts of tensors by `x[...]`: views for ints and slices, gathers for tensors and masks."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

import tenfold.ops.pointwise.filling  # noqa: F401 - declares copy_
from tenfold.dispatch.callpath import subscript
from tenfold.dispatch.calls import first_call, stub_code
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.inplace import check_writable, repeats, write_back
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import op, primitive
from tenfold.dispatch.overlap import refuse_overlap
from tenfold.dispatch.overrides import handle_torch_function, has_torch_function
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.ops.creation.factories import as_tensor, tensor
from tenfold.ops.indexing.selection import INDICES, byte_mask, check_mask, fills_mask, index
from tenfold.ops.view.shapes import expand, reshape, view
from tenfold.tensor.tensor import Tensor, wrap
from tenfold.types import dtypes
from tenfold.types.numbers import element

BASIC = frozenset((int, slice, type(None), type(Ellipsis)))
_INT64, _BOOL = dtypes.int64.numpy, dtypes.bool_.numpy


@primitive("indexing", view=True, method=None)
def getitem(input: Tensor, index: Any) -> Tensor:
    """The part that an index of ints, slices, None and ... selects, as a view.

    >>> import tenfold
    >>> tenfold.arange(6).view(2, 3)[1, ::2]
    tensor([3, 5])
    """


@getitem.rule
def _(input: Any, index: Any) -> Meta:
    if isinstance(index, slice):
        bounds(index, 0)
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
        if not -(2**63) <= item < 2**63:
            raise ValueError("Overflow when unpacking long long")
        raise IndexError(f"index {item} is out of bounds for dimension {dim} with size {size}")
    return item % size


# Reading an index that has more in it than ints, slices, None and ...


def split_index(input: Tensor, given: Any, checked: bool = True) -> tuple[Tensor, list[Any] | None]:
    """The view that the basic part of an index selects, and for each of its dimensions an index tensor or None.

    Whether these tensors can be indices is looked at here, or by the caller.
    """
    items = _items(given, input)
    used = sum(_consumes(i) for i in items)
    if used > input.dim():
        raise IndexError(f"too many indices for tensor of dimension {input.dim()}")
    basic: list[Any] = []
    advanced: list[Any] = []
    for item in items:
        if isinstance(item, bool):  # a new dimension, kept or dropped
            basic.append(None)
            advanced.append(_places([0] if item else [], input))
        elif isinstance(item, Tensor):
            basic += [slice(None)] * _consumes(item)
            advanced.append(item)
        elif item is Ellipsis:
            basic.append(Ellipsis)
            advanced += [None] * (input.dim() - used)
        else:
            basic.append(item)
            if type(item) is not int:
                advanced.append(None)
    if all(i is None for i in advanced):
        return getitem(input, tuple(basic)), None
    if any(i is not Ellipsis and i != slice(None) for i in basic):
        part = getitem(input, tuple(basic))
        if part.shape != input.shape or not all(i is Ellipsis or _begins(i) for i in basic):
            input = part  # else the tensor itself
    while advanced and advanced[-1] is None:
        advanced.pop()
    if checked:
        _check_places(input, advanced)
    return input, advanced


def _begins(item: Any) -> bool:
    """Whether an entry is a slice that leaves nothing out at a dimension's begin or in between."""
    return isinstance(item, slice) and not item.start and item.step in (None, 1)


def _check_places(input: Tensor, places: list[Any]) -> None:
    """What tensors in an index must be, which is asked after its ints and slices were looked at."""
    dim = 0
    for place in places:
        if place is not None and place.dtype.name not in INDICES:
            raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, got {place.dtype}")
        masked = place is not None and place.dtype.category == 0
        if masked:
            check_mask(place.shape, input.shape, dim)
        dim += place.dim() if masked else 1


_NESTED = (list, tuple, range, slice, Tensor, np.ndarray, type(None), type(Ellipsis))


def _items(given: Any, input: Tensor) -> list[Any]:
    """The entries of an index; a list that has more in it than numbers counts as a tuple, as in PyTorch."""
    if isinstance(given, list) and any(isinstance(i, _NESTED) for i in given):
        given = tuple(given)
    items = [_item(i, input) for i in (given if isinstance(given, tuple) else (given,))]
    return _one_ellipsis(items, input.dim()) if sum(i is ... for i in items) > 1 else items


def _one_ellipsis(items: list[Any], dims: int) -> list[Any]:
    """The entries with the first `...` only: each further one steps over as many dimensions again, where nothing may follow."""
    first, second = [k for k, i in enumerate(items) if i is ...][:2]
    steps = dims - sum(_consumes(i) for i in items)
    if steps and any(i is not ... for i in items[second + 1 :]):
        raise IndexError(f"Dimension out of range: an index of {dims} dimensions goes on behind its second ellipsis")
    return [i for k, i in enumerate(items) if i is not ... or k == first]


def _item(item: Any, input: Tensor) -> Any:
    """One entry as int, bool, slice, None, ..., or an index tensor."""
    kind = type(item)
    if kind in BASIC or kind is bool:
        return item
    if isinstance(item, Tensor):
        if item.dim() == 0 and item.dtype.name != "uint8" and item.dtype.category < 2:
            try:
                return bool(item) if item.dtype.category == 0 else int(item)
            except RuntimeError:
                if item._key.level is None:  # else vmap's examples differ
                    raise
        return byte_mask(item) if item.dtype.name == "uint8" else item
    if isinstance(item, (list, tuple, range, np.ndarray)):
        return _item(_listed(item, input), input)
    if isinstance(item, np.bool_):
        return bool(item)
    if hasattr(item, "__index__"):
        return item.__index__()
    if isinstance(item, str):
        raise TypeError(f"__getitem__: invalid data type '{kind.__name__}'")
    raise IndexError(
        f"only integers, slices (`:`), ellipsis (`...`), None and long or byte tensors are valid indices (got {kind.__name__})"
    )


def _listed(item: Any, input: Tensor) -> Tensor:
    made = tensor(item if isinstance(item, np.ndarray) else list(item), device=input.device)
    return made if made.dtype.name in ("bool", "uint8") else made.to(dtypes.int64)


def _places(values: list[int], input: Tensor) -> Tensor:
    return tensor(values, dtype=dtypes.int64, device=input.device)


def _consumes(item: Any) -> int:
    """How many dimensions of the input an entry covers."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.dim() if isinstance(item, Tensor) and item.dtype.category == 0 else 1


def _read(self: Tensor, given: Any) -> Tensor:
    """`x[...]`: a view for ints, slices, None and ...; a copy when tensors, lists, arrays or masks take part."""
    kind = type(given)
    if kind is tuple:
        for item in given:
            if type(item) not in BASIC:
                break
        else:
            try:
                return getitem(self, given)
            except IndexError:
                if given.count(...) < 2:
                    raise
            return getitem(self, tuple(_one_ellipsis(list(given), self.dim())))
    elif kind is Tensor:
        a = given._array
        if a.shape and (a.dtype is _INT64 or a.dtype is _BOOL) and not self._key.override:
            return index(self, [given])
    elif kind in BASIC:
        return getitem(self, given)
    relevant = _relevant(self, given)
    if has_torch_function(relevant):
        return handle_torch_function(Tensor.__getitem__, relevant, self, given)
    part, places = split_index(self, given)
    return part if places is None else index(part, places)


def _write(self: Tensor, given: Any, value: Any) -> None:
    """`x[...] = value`: numbers, tensors, arrays; broadcast and converted to this tensor's dtype."""
    if self._key is CPU and not RUNTIME["ACTIVE"] and _write_at_once(self, given, value):
        return
    relevant = (*_relevant(self, given), value)
    if has_torch_function(relevant):
        handle_torch_function(Tensor.__setitem__, relevant, self, given, value)
        return
    fills = type(value) in (int, float) and self._key is not CPU
    if not fills and not isinstance(value, Tensor):
        value = _assigned(value, self)
    if given is False:
        return
    part, places = split_index(self, None if given is True else given, checked=False)
    if fills:
        if places is None and part._node is None:
            part.fill_(value)
            return
        key = self._key  # nobody else is to get what is kept
        seen = type(self) is not Tensor or key.level is not None or STATE.beneath or STATE.layers
        keep = None if seen else getattr(key.backend, "kept_number", None)
        value = _assigned(value, self) if keep is None else wrap(keep(element(value, self.dtype), self._array), key)
    if places is not None:
        check_writable("__setitem__", part, value._node is not None, may_repeat=True)
        _check_places(part, places)
    while value.dim() and value.size(0) == 1 and (places is not None or value.dim() > part.dim()):
        value = view(value, tuple(value.shape[1:])) if value.is_contiguous() else reshape(value, tuple(value.shape[1:]))
    if places is not None:
        _put(part, places, value, given)
        return
    if value.dtype is not self.dtype or value.device is not self.device:
        value = value.to(self.device, self.dtype)
    value = value if value.shape == part.shape else expand(value, tuple(part.shape))
    if RUNTIME["ACTIVE"] or part._key.override or value._key.override:
        copy_(part, value)  # an operator: layers and overriding classes see the write
    else:
        check_writable("__setitem__", part, value._node is not None and part.dtype.category > 1)
        refuse_overlap("copy", part, [value])
        write_back("__setitem__", part, value, shared=True)


def _relevant(self: Tensor, given: Any) -> tuple[Any, ...]:
    """What of a subscript may override it."""
    return (self, *given) if type(given) is tuple else (self, given)


def _assigned(value: Any, target: Tensor) -> Tensor:
    """What is no tensor as one of the target's dtype; RuntimeError for numbers that do not fit."""
    if isinstance(value, (int, float, complex)):
        return tensor(element(value, target.dtype), dtype=target.dtype, device=target.device)
    return as_tensor(value).to(target.device, target.dtype)


def _surely_fits(value: Any, kind: str) -> bool:
    """Whether a number can be assigned to an array of a kind of dtype, whatever its width."""
    return kind == "b" or (-3e38 < value < 3e38 if kind == "f" or kind == "c" else kind == "i" and -128 <= value <= 127)


def _put(part: Tensor, places: list[Any], value: Tensor, given: Any) -> None:
    """Write at places that tensors name: values of the same dtype, or one value where a mask holds."""
    if not value.dim() and value.device is not part.device:
        value = value.to(part.device)
    if fills_mask(places, value, False) and _holds_bytes(given):
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")
    index_put_(part, places, value)


def _holds_bytes(given: Any) -> bool:
    """Whether an index has a mask of bytes, PyTorch's deprecated kind."""
    items = given if isinstance(given, (list, tuple)) else (given,)
    return any(isinstance(i, Tensor) and i.dtype.name == "uint8" and i.dim() for i in items)


def _write_at_once(self: Tensor, given: Any, value: Any) -> bool:  # noqa: C901 - the whole of the path, case by case
    """Let NumPy assign, where it means the same and nothing is recorded; False: the full path must decide."""
    recording = STATE.grad_enabled
    if recording and self._node is not None:
        return False
    storage = self._storage
    if (
        storage is not None
        and storage.guarded
        and (self._base is not None or storage.inference or hasattr(storage, "detached") or repeats(self._array))
    ):
        return False
    if type(value) is Tensor:
        if value._key is not CPU or value._array.dtype is not self._array.dtype or (recording and value._node is not None):
            return False
        if value is self or (storage is not None and value._storage is storage):
            return False
        value = value._array
    elif type(value) not in (int, float, bool) or not _surely_fits(value, self._array.dtype.kind):
        return False
    kind = type(given)
    if kind is Tensor:
        if given is self:
            return False
        given = given._array
        if (given.dtype is not _BOOL and given.dtype is not _INT64) or not given.shape:
            return False
    else:
        for item in given if kind is tuple else (given,):
            if type(item) not in BASIC or (type(item) is slice and (item.step or 1) < 1):
                return False
    try:
        self._array[given] = value
    except (IndexError, TypeError, ValueError, OverflowError):  # the full path says it in PyTorch's words
        return False
    if storage is None:
        storage = self._storage = RUNTIME["Storage"](self._array, CPU)
    storage.version += 1
    return True


index_put_: Any = op.index_put_.fn
copy_: Any = op.copy_.fn


def _first_read(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    return first_call(lambda: subscript(getitem.op, vars(Tensor)[name], _read), args, kwargs)


RUNTIME["first_read"] = _first_read
_reading: Any = types.FunctionType(stub_code("first_read", "__getitem__"), RUNTIME, "__getitem__")
_reading.op, _reading.__doc__ = getitem.op, getitem.op.doc
Tensor.__getitem__ = _reading  # type: ignore[method-assign]


def _delete(self: Tensor, given: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


Tensor.__delitem__ = _delete  # type: ignore[attr-defined]
Tensor.__setitem__ = _write  # type: ignore[method-assign, assignment]


def at_dim(input: Tensor, dim: int, place: Tensor, name: str) -> list[Any]:
    """The index list that picks `place` of one dimension."""
    return [None] * wrap_dim(dim, input.dim(), name) + [place]
