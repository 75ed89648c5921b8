"""Python numbers as elements of a dtype: which fit, the error for those that do not, and arrays of them, made once."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from tenfold.types import numeric_limits
from tenfold.types.dtypes import c_name, complex32, dtype, float8_e4m3fn, float32, int32
from tenfold.types.narrow import limited, narrowed

finfo, iinfo = cache(numeric_limits.finfo), cache(numeric_limits.iinfo)  # made once for each dtype


def fits(value: Any, d: dtype) -> bool:
    """Whether a number can become an element of a dtype: in range, not complex for a real one; -1 fits an unsigned one.

    >>> from tenfold.types.dtypes import uint8
    >>> fits(-1, uint8), fits(300, uint8)
    (True, False)
    """
    if d.category == 0:
        return True
    if isinstance(value, complex):
        if d.category < 3 and value.imag != 0:
            return False
        return d.category == 3 or fits(value.real, d)
    if d.category == 1:
        limits = iinfo(d)
        low = limits.min if d.is_signed else -limits.max
        if isinstance(value, float):  # of which unsigned integers take none below zero
            low = limits.min
        return math.isfinite(value) and low <= value <= limits.max
    if d.itemsize < 4 or not math.isfinite(value):
        return True
    return bool(abs(value) <= finfo(d).max)


def require_fit(value: Any, d: dtype, name: str | None = None) -> None:
    """RuntimeError for a number that cannot become an element of a dtype."""
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert")
    if not fits(value, d):
        kind = "double" if d.is_half else c_name(d) if d.category > 1 or d is int32 else f"{d.name}_t"
        raise RuntimeError(f"value cannot be converted to type {name or kind} without overflow")


def require_value(value: Any, d: dtype) -> None:
    """The same for a number that fills a tensor, where half precision has a range, too."""
    require_fit(value, d)
    if d.is_half and math.isfinite(abs(value)) and abs(value) > finfo(d).max:
        raise RuntimeError(f"value cannot be converted to type {_HALF[d.name]} without overflow")


def factor(value: Any, d: dtype) -> Any:
    """A number as one that elements of a dtype are multiplied by; RuntimeError for what does not fit."""
    if isinstance(value, (list, tuple)) or getattr(value, "ndim", False) or getattr(value, "requires_grad", False):
        raise TypeError(f"a factor must be Number, not {type(value).__name__}")
    require_fit(value, float32 if d.is_half else d)
    if d.category < 3 and isinstance(value, complex):
        value = value.real
    return value if d.category > 1 else int(value) if d.category else bool(value)


_HALF = {"float16": "c10::Half", "bfloat16": "c10::BFloat16", "complex32": "c10::complex<c10::Half>"}


def element(value: Any, d: dtype) -> Any:
    """The number as a NumPy scalar of the dtype: integers out of an unsigned range wrap around; RuntimeError for the rest."""
    require_fit(value, d)
    if isinstance(value, complex) and d.category in (1, 2):
        value = value.real
    with np.errstate(all="ignore"):
        if d is complex32:
            return narrowed(value)[()]
        if d is float8_e4m3fn:
            value = limited(value)
        if d.category == 1:
            return np.array(int(value) % 2 ** (8 * d.itemsize), f"u{d.itemsize}").astype(d.numpy)[()]
        return np.asarray(value).astype(d.numpy)[()]


class _Numbers(dict[Any, Any]):
    """The numbers of one dtype that were seen lately, as arrays without dimensions: NumPy takes those in a third of the time."""

    most = 1024

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.dtype = dtype

    def __missing__(self, number: Any) -> Any:
        with np.errstate(all="ignore"):
            array = np.array(number, self.dtype)
        if number and number == number:  # 0.0 and -0.0 are one key, and nan is none
            array.flags.writeable = False
            if len(self) >= self.most:
                self.clear()
            self[number] = array
        return array


class _Held(_Numbers):
    """The numbers that a dtype holds without rounding; None for the others."""

    def __missing__(self, number: Any) -> Any:
        value = float(number)  # ml_dtypes takes no integer beyond int64
        array = super().__missing__(value)
        if float(array) == number:
            return array
        self.pop(value, None)
        return None


class _Halves(dict[Any, _Held]):
    def __missing__(self, dtype: Any) -> _Held:
        self[dtype] = made = _Held(dtype)
        return made


# The half precision dtypes that came by.
HALVES = _Halves()


# By dtype, then by number: the array; KeyError for dtypes whose numbers NumPy knows better (integers wrap, half rounds).
ARRAYS = {dtype: _Numbers(dtype) for dtype in (np.dtype(np.float32), np.dtype(np.float64))}


def as_array(number: Any, dtype: Any) -> Any:
    """The number as an array of a dtype, not to be written."""
    if dtype in ARRAYS and type(number) in (int, float):
        return ARRAYS[dtype][number]
    return np.array(number, dtype)
