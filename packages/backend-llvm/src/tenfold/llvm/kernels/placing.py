"""Values written at places, and elements found there: quick functions for tenfold-scientific's composites, of small tensors.

What they do not know is left to the composites, by NotImplemented or by any exception.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from tenfold.cpu.view import LEAD
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import op
from tenfold.llvm.kernels.attaching import quickly
from tenfold.llvm.quick_factories import are_numbers
from tenfold.llvm.quick_places import ADDED, places_of, within
from tenfold.llvm.quick_subscripts import BOOL, INT64
from tenfold.llvm.quick_views import free, here
from tenfold.settings.determinism import STATE as DETERMINISM
from tenfold.tensor.tensor import Tensor, wrap

FILLED = frozenset(np.dtype(name) for name in ("f4", "f8"))
_gather: Any = op.gather.fn


def index_fill(input: Any, dim: Any, index: Any, value: Any) -> Any:
    """One value in slices."""
    places = places_of(input, dim, index) if free(input) else None
    if places is None:
        return NotImplemented
    array = input._array
    if type(value) is Tensor:
        if not free(value) or value._array.ndim or value._array.dtype is not array.dtype:
            return NotImplemented
        value = value._array
    elif array.dtype not in FILLED or not (are_numbers(value) or (type(value) is float and value in (inf, -inf))):
        return NotImplemented
    made = array.copy("C")
    made[(*LEAD[dim % made.ndim], places)] = value
    return wrap(made, CPU)


def take_along_dim(input: Any, indices: Any, dim: Any = None) -> Any:
    """Elements along a dimension, where no other size is to be broadcast and no place counts from the end."""
    places, shape = indices._array, input._array.shape
    if not here(input) or not here(indices) or places.dtype is not INT64 or not places.flags.c_contiguous:
        return NotImplemented
    if type(dim) is not int or not -len(shape) <= dim < len(shape) or places.ndim != len(shape) or not places.size:
        return NotImplemented
    expected = list(shape)
    expected[dim] = places.shape[dim]
    if list(places.shape) != expected or not within(places.reshape(-1), shape[dim]):
        return NotImplemented
    return _gather(input, dim, indices)


def _same(input: Any, source: Any) -> bool:
    """Whether elements of a source may be written into a copy, and nothing is recorded."""
    if not free(input) or not free(source) or source._array.dtype is not input._array.dtype:
        return False
    return bool(input._array.flags.c_contiguous and input._array.size)


def put(input: Any, index: Any, source: Any, accumulate: Any = False) -> Any:
    """Elements written at places of the flattened tensor, or added there."""
    places = index._array
    if not _same(input, source) or not here(index) or places.dtype is not INT64 or places.size != source._array.size:
        return NotImplemented
    made = input._array.copy("C")
    flat, values = made.reshape(-1), source._array.reshape(-1)
    if accumulate is True and made.dtype in ADDED:
        with np.errstate(all="ignore"):
            np.add.at(flat, places.reshape(-1), values)
    elif accumulate is False and not DETERMINISM["on"]:
        flat[places.reshape(-1)] = values
    else:
        return NotImplemented
    return wrap(made, CPU)


def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """Elements written, one after the other, where a mask of the same shape holds."""
    holds = mask._array
    if not _same(input, source) or not here(mask) or holds.dtype is not BOOL or holds.shape != input._array.shape:
        return NotImplemented
    if not holds.ndim or np.count_nonzero(holds) > source._array.size:
        return NotImplemented
    made = input._array.copy("C")
    made[holds] = source._array.reshape(-1)[: np.count_nonzero(holds)]
    return wrap(made, CPU)


quickly(index_fill, take_along_dim, put, masked_scatter)
