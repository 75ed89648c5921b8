"""Whole numbers: they are sorted with their positions as one number, and counted where they are few."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm.formats import in_one_piece
from tenfold.llvm.kernels.selecting import before
from tenfold.types.memory_format import preserve_format

Array = np.ndarray[Any, Any]
LEAST = 1 << 9  # elements from which it takes less than what NumPy does with the positions
LONG = 1 << 10  # of a row of one or two bytes a number, which NumPy counts instead of comparing
BITS = 63  # of a number and its position together
SPARSE = 4  # times as many possible values as elements are still counted
KINDS = "biu"


def sort_pair(input: Any, dim: int, descending: bool) -> Any:
    """The sorted numbers and their positions, equals in their order: by numbers whose low bits are the position."""
    if type(input) is not np.ndarray or input.dtype.kind not in KINDS or input.size < LEAST or input.dtype == np.uint64:
        return NotImplemented
    if type(dim) is not int or not -input.ndim <= dim < input.ndim or (input.itemsize < 4 and input.shape[dim] > LONG):
        return NotImplemented
    if input.flags.c_contiguous:
        return _sorted(input, dim, descending)
    turned = input.flags.f_contiguous  # as most are that do not lie row by row, and told at once
    order = (*range(input.ndim - 1, -1, -1),) if turned else preserve_format.order_for(input)  # that of the results, too
    found = _sorted(input.transpose(order), order.index(dim % input.ndim), descending)
    back = sorted(order, key=order.__getitem__)
    return found if found is NotImplemented else tuple(a.transpose(back) for a in found)


def _sorted(input: Array, dim: int, descending: bool) -> Any:
    """The same, with results that lie row by row."""
    least, greatest = int(input.min()), int(input.max())
    low = (input.shape[dim] - 1).bit_length()
    if (greatest - least).bit_length() + low > BITS:
        return NotImplemented
    rows = in_one_piece(input.swapaxes(dim, -1)).astype(np.int64, copy=False)
    keys: Array = np.subtract(greatest, rows) if descending else np.subtract(rows, least)
    keys <<= low
    keys |= np.arange(rows.shape[-1])
    keys.sort(-1)
    positions = keys & ((1 << low) - 1)
    keys >>= low
    values = np.subtract(greatest, keys, keys) if descending else np.add(keys, least, keys)
    last = dim in (-1, input.ndim - 1)
    if not last:
        turned = (in_one_piece(a.swapaxes(dim, -1)) for a in (values, positions))
        values, positions = (a.reshape(-1).reshape(a.shape) for a in turned)  # of size 1 the usual strides
    return values.astype(input.dtype, copy=False), positions


def unique_parts(input: Any, dim: Any, consecutive: bool) -> Any:
    """The distinct numbers, where each element's is among them, and how many of each there are: by counting."""
    if type(input) is not np.ndarray or input.dtype.kind not in KINDS or dim is not None or consecutive or not input.size:
        return NotImplemented
    if input.dtype == np.uint64:
        return NotImplemented
    if input.dtype.itemsize == 1:
        least, span = 0, 1 << 8
        offsets = input.view(np.uint8).reshape(-1)
        if input.dtype == np.int8:
            offsets = offsets ^ np.uint8(1 << 7)
            least = -(1 << 7)
    else:
        least = int(input.min())
        span = int(input.max()) - least + 1
        if span > SPARSE * input.size:
            return NotImplemented
        offsets = np.subtract(input, least, dtype=np.int64).reshape(-1)
    counts = np.bincount(offsets, minlength=span)
    found = np.flatnonzero(counts)
    ranks = np.empty(span, np.int64)
    ranks[found] = np.arange(len(found))
    return (found + least).astype(input.dtype), ranks.take(offsets).reshape(input.shape), counts[found]


before("sort_pair", sort_pair, "whole numbers")
before("unique_parts", unique_parts, "whole numbers")
