"""PyTorch's type promotion: tensors with dimensions outrank 0-d tensors, which outrank Python numbers, by category."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from tenfold.types import dtypes
from tenfold.types.dtypes import dtype

# As in PyTorch, these meet no other integer type.
_WIDE_UNSIGNED = (dtypes.uint16, dtypes.uint32, dtypes.uint64)


@cache
def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest type that holds both, in PyTorch's lattice.

    >>> import tenfold
    >>> tenfold.promote_types(tenfold.int64, tenfold.float32)
    tenfold.float32
    >>> tenfold.promote_types(tenfold.uint8, tenfold.int8)
    tenfold.int16
    """
    if type1 is type2:
        return type1
    low, high = sorted((type1, type2), key=lambda d: d.category)
    if high.category == 1 and (low in _WIDE_UNSIGNED or high in _WIDE_UNSIGNED):
        raise RuntimeError(f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {low} and {high}")
    if (low.category == 2 and low.itemsize == 1) or (high.category == 2 and high.itemsize == 1):
        raise RuntimeError(f"Promotion for Float8 Types is not supported, attempted to promote {type1} and {type2}")
    if low.category != high.category:
        return _wider(low.to_complex(), high) if high.category == 3 and low.category == 2 else high
    if high.category == 1:
        return _promote_integers(low, high)
    if high.category == 3:
        return _wider(low, high)
    if low.itemsize == high.itemsize == 2:
        return dtypes.float32  # float16 with bfloat16
    return low if low.itemsize > high.itemsize else high


def _wider(a: dtype, b: dtype) -> dtype:
    return a if a.itemsize > b.itemsize else b


def _promote_integers(a: dtype, b: dtype) -> dtype:
    if a.is_signed == b.is_signed:  # both signed: uint8 is the only unsigned type that comes here
        return a if a.itemsize >= b.itemsize else b
    signed = a if a.is_signed else b
    return signed if signed.itemsize > 1 else dtypes.int16


def number_dtype(number: Any) -> dtype:
    """The weak type of a Python number: its category's default."""
    if isinstance(number, bool):
        return dtypes.bool_
    if isinstance(number, (int, np.integer)):
        return dtypes.int64
    return dtypes.default_complex() if isinstance(number, (complex, np.complexfloating)) else dtypes.get_default_dtype()


def result_dtype(dimensioned: Iterable[dtype], zero_dim: Iterable[dtype], numbers: Iterable[dtype]) -> dtype:
    """Combine the three priority classes; a lower class only matters when it has the higher category."""
    result: dtype | None = None
    for group in (dimensioned, zero_dim, numbers):
        own: dtype | None = None
        for d in group:
            own = d if own is None else promote_types(own, d)
        if own is None:
            continue
        if result is None:
            result = own
        elif own.category > result.category:
            result = result.to_complex() if result.category == 2 else promote_types(result, own)
    if result is None:
        raise ValueError("result_type: expected at least one tensor or number")
    return result


def of_values(values: Iterable[Any]) -> dtype:
    """The promoted dtype of tensors and Python numbers."""
    dimensioned: list[dtype] = []
    zero_dim: list[dtype] = []
    numbers: list[dtype] = []
    for value in values:
        if hasattr(type(value), "_array"):
            (dimensioned if value._array.shape else zero_dim).append(value.dtype)
        else:
            numbers.append(number_dtype(value))
    return result_dtype(dimensioned, zero_dim, numbers)


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of type `from_` may be written into a tensor of type `to`: never down a category.

    >>> import tenfold
    >>> tenfold.can_cast(tenfold.float32, tenfold.int64)
    False
    """
    return from_.category <= to.category
