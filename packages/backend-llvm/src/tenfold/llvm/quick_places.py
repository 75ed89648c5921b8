"""Slices at places of a dimension, by fewer steps than tenfold-core's composites take: of small tensors that lie in one piece.

What they do not know is left to those, by NotImplemented or by any exception.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.cpu.view import LEAD
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import op
from tenfold.dispatch.runtime import STATE
from tenfold.llvm.quick_subscripts import BOOL, INT64
from tenfold.llvm.quick_views import free, here
from tenfold.tensor.tensor import Tensor, wrap

FEW = 32  # positions that Python compares sooner than NumPy begins
ADDED = frozenset(np.dtype(name) for name in ("f4", "f8", "i8"))
UNSIGNED = np.dtype(np.uint64)
_index: Any = op.index.fn


def within(index: Any, size: int) -> bool:
    """Whether positions, of which there are some, lie in a dimension and count from its beginning."""
    if index.size <= FEW:
        found = index.tolist()
        return bool(min(found) >= 0 and max(found) < size)
    return bool(index.view(UNSIGNED).max() < size)  # those below 0 are the greatest


def places_of(input: Any, dim: Any, index: Any) -> Any:
    """A row of positions in a dimension of an array in one piece; None for anything else."""
    array = input._array
    n = array.ndim
    if not here(input) or type(dim) is not int or not -n <= dim < n or not array.flags.c_contiguous or not array.size:
        return None
    if type(index) is not Tensor or index._key is not CPU:
        return None
    places = index._array
    if places.dtype is not INT64 or places.ndim != 1 or not places.size or not places.flags.c_contiguous:
        return None
    return places if within(places, array.shape[dim]) else None


def index_select(input: Any, dim: Any, index: Any) -> Any:
    """The slices at positions."""
    places = places_of(input, dim, index)
    if places is None:
        return NotImplemented
    array = input._array
    if input._node is None or not STATE.grad_enabled:
        return wrap(array.take(places, dim), CPU)
    if array.itemsize == 2:  # whose gradients are added in float32
        return NotImplemented
    return _index(input, [*[None] * (dim % array.ndim), index])


def _fitting(input: Any, dim: Any, index: Any, source: Any) -> Any:
    """The positions, where the source has a slice of the same kind for each."""
    places = places_of(input, dim, index) if free(input) and type(source) is Tensor and free(source) else None
    if places is None or source._array.dtype is not input._array.dtype:
        return None
    shape = list(input._array.shape)
    shape[dim] = len(places)
    return places if list(source._array.shape) == shape else None


def index_add(input: Any, dim: Any, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """Slices of a source, maybe scaled, added at positions."""
    places = _fitting(input, dim, index, source)
    array = input._array
    if places is None or array.dtype not in ADDED or not (type(alpha) is int or (type(alpha) is float and array.dtype != INT64)):
        return NotImplemented
    if abs(alpha) > 1 << 24:
        return NotImplemented
    return wrap(_added(array.copy("C"), (*LEAD[dim % array.ndim], places), source._array, alpha), CPU)


@quiet
def _added(made: Any, where: Any, values: Any, alpha: float) -> Any:
    np.add.at(made, where, values if alpha == 1 else values * alpha)
    return made


def index_copy(input: Any, dim: Any, index: Any, source: Any) -> Any:
    """Slices of a source written at positions."""
    places = _fitting(input, dim, index, source)
    if places is None:
        return NotImplemented
    made = input._array.copy("C")
    made[(*LEAD[dim % made.ndim], places)] = source._array
    return wrap(made, CPU)


def masked_select(input: Any, mask: Any) -> Any:
    """The elements where a mask of the same shape holds."""
    array, holds = input._array, mask._array
    if not free(input) or not here(mask) or holds.dtype is not BOOL or array.shape != holds.shape or not array.ndim:
        return NotImplemented
    if not array.flags.c_contiguous or not holds.flags.c_contiguous:
        return NotImplemented
    return wrap(array[holds], CPU)


PLACES: dict[str, Any] = {f.__name__: f for f in (index_select, index_copy, masked_select)}
