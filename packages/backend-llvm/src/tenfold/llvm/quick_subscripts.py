"""`x[...]` and `x[...] = value` with tensors of positions among ints and slices, before tenfold-core's functions look at them.

They say the same as those, for tensors of the CPU, positions (int64) and lists of ints; other masks than those that a number is
written under, arrays and what is wrong is left to those.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.inplace import repeats
from tenfold.dispatch.operators import op
from tenfold.dispatch.runtime import STATE
from tenfold.llvm.writes import note_write
from tenfold.tensor.tensor import Tensor, wrap

INT64, BOOL = np.dtype(np.int64), np.dtype(np.bool_)
_INTS = {int}
_ENDLESS = (float("inf"), float("-inf"))
ALL = slice(None)
_index: Any = op.index.fn
_getitem: Any = op.getitem.fn
_view: Any = op.view.fn


def _forwards(step: Any) -> bool:
    """Whether PyTorch takes a slice of this step, too: NumPy goes backwards as well."""
    return step is None or (type(step) is int and step > 0)


def _split(given: Any, dims: int) -> tuple[list[Any] | None, list[Any]] | None:
    """The part of an index in ints, slices, None and ... (None: it selects all), and the tensors, each for its dimension of that
    part; None where there are other things in it."""
    items = given if type(given) is tuple else (given,)
    basic: list[Any] = []
    places: list[Any] = []
    used, plain, dots = 0, True, -1
    for item in items:
        kind = type(item)
        if kind is slice:
            used += 1 if _forwards(item.step) else dims + 1
            plain = plain and item.start is None and item.stop is None and item.step is None
            basic.append(item)
            places.append(None)
        elif kind is int:
            used, plain = used + 1, False
            basic.append(item)
        elif item is None:
            plain = False
            basic.append(None)
            places.append(None)
        elif item is Ellipsis:
            if dots >= 0:
                return None
            dots = len(places)
            basic.append(item)
        else:
            place = _place(item)
            if place is None:
                return None
            used += 1
            if type(place) is Tensor:
                basic.append(ALL)
                places.append(place)
            else:
                plain = False
                basic.append(place)
    if used > dims:
        return None
    if dots >= 0:
        places[dots:dots] = [None] * (dims - used)
    while places and places[-1] is None:
        places.pop()
    return None if plain else basic, places


def _place(item: Any) -> Any:
    """A tensor of positions, an int for one of no dimensions; None for anything else."""
    kind = type(item)
    if kind is Tensor and item._key is CPU and item._array.dtype is INT64:
        return item if item._array.ndim else int(item._array)
    if kind is list and item and set(map(type, item)) == _INTS:
        return wrap(np.array(item), CPU)
    return None


def read(self: Any, given: Any) -> Any:
    """`x[...]`: NotImplemented for what has something else in it than tensors of positions, ints, slices, None and ..."""
    if self._key is not CPU:
        return NotImplemented
    found = _split(given, self._array.ndim)
    if found is None:
        return NotImplemented
    basic, places = found
    if basic is not None:
        try:
            self = _getitem(self, tuple(basic))
        except (IndexError, ValueError, TypeError):  # in the words of the ordinary path
            return NotImplemented
    elif not places:
        return NotImplemented
    return _index(self, places) if places else self


def write(self: Any, given: Any, value: Any) -> Any:
    """`x[...] = value` where nothing is recorded: None, or NotImplemented where the ordinary path has to see."""
    if self._key is not CPU or not _may_be_written(self):
        return NotImplemented
    array, storage = self._array, self._storage
    kind, shared = type(value), False
    if kind is Tensor:
        if value._key is not CPU or value._array.dtype is not array.dtype or (STATE.grad_enabled and value._node is not None):
            return NotImplemented
        shared, value = value is self or (value._storage is storage and storage is not None), value._array
    elif (kind is not float and kind is not int) or not _fits(value, array.dtype.kind):
        return NotImplemented
    if type(given) is Tensor and given._array.dtype is BOOL:
        return _write_where(self, given, value) if kind is not Tensor else NotImplemented
    found = _split(given, array.ndim)
    if found is None:
        return NotImplemented
    basic, places = found
    try:
        target = array if basic is None else array[(*basic, ...)] if ... not in basic else array[tuple(basic)]
        if places and array.dtype is INT64 and any(p is not None and np.may_share_memory(array, p._array) for p in places):
            return NotImplemented
        if shared and np.may_share_memory(target, value):
            if places or not _same(target, value):
                return NotImplemented
        elif places:
            target[tuple([ALL if p is None else p._array for p in places])] = value
        else:
            target[...] = value
    except (IndexError, TypeError, ValueError, OverflowError):  # in the words of the ordinary path
        return NotImplemented
    note_write(self)
    return None


def _write_where(self: Any, mask: Any, value: float) -> Any:
    """A number where a mask holds."""
    array, holds = self._array, mask._array
    if mask._key is not CPU or not holds.ndim or holds.shape != array.shape[: holds.ndim] or array.dtype is BOOL:
        return NotImplemented
    array[holds] = value
    note_write(self)
    return None


def flatten(input: Any, start_dim: Any = 0, end_dim: Any = -1) -> Any:
    """Dimensions merged into one, of a tensor that lies row by row."""
    if input._key is not CPU or type(start_dim) is not int or type(end_dim) is not int:
        return NotImplemented
    array = input._array
    first, last = start_dim + (start_dim < 0) * array.ndim, end_dim + (end_dim < 0) * array.ndim
    if not 0 <= first < last < array.ndim or not array.flags.c_contiguous:
        return NotImplemented
    shape = array.shape
    return _view(input, (*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :]))


def _may_be_written(tensor: Any) -> bool:
    """Whether a write needs no record and no leave."""
    if STATE.grad_enabled and tensor._node is not None:
        return False
    storage = tensor._storage
    if storage is None or not storage.guarded:
        return True
    return not (tensor._base is not None or storage.inference or hasattr(storage, "detached") or repeats(tensor._array))


def _same(a: Any, b: Any) -> bool:
    """Whether two arrays are one: what `x[i] += y` assigns is there already."""
    if a.shape != b.shape or a.strides != b.strides:
        return False
    return bool(a.__array_interface__["data"][0] == b.__array_interface__["data"][0])


def _fits(value: float, kind: str) -> bool:
    """Whether a number can be assigned to an array of a kind of dtype, whatever its width."""
    return (
        -3e38 < value < 3e38 or value in _ENDLESS if kind == "f" else kind == "i" and type(value) is int and -128 <= value <= 127
    )
