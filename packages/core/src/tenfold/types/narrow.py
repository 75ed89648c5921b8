"""Formats that NumPy lacks: complex32, pairs of float16 computed in complex64, and float8_e4m3fn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.settings.warnings import warn_once

# NumPy moves and compares records like numbers, but does not compute with them.
RECORD = np.dtype([("real", np.float16), ("imag", np.float16)])


def announce() -> None:
    """PyTorch's warning, once: few operators compute with these numbers."""
    warn_once("ComplexHalf", "ComplexHalf support is experimental and many operators don't support it yet.", 5)


def _like(array: Any, dtype: Any) -> Any:
    return np.empty_like(array, dtype, "C" if 0 in array.strides else "K", False)


def widened(array: Any) -> Any:
    """Records as complex64; any other array as it is."""
    if getattr(array, "dtype", None) != RECORD:
        return array
    out = _like(array, np.complex64)
    out.real, out.imag = array["real"], array["imag"]
    return out


def narrowed(array: Any) -> Any:
    """Numbers of any dtype as records, rounded to half precision."""
    array = np.asarray(array)
    if array.dtype == RECORD:
        return array
    announce()
    out = _like(array, RECORD)
    with np.errstate(all="ignore"):
        out["real"], out["imag"] = array.real, (array.imag if array.dtype.kind == "c" else 0)
    return out


def computed(kernel: Any, arguments: list[Any]) -> Any:
    """What a kernel says of records: computed in complex64, as records again, and real results as float16."""
    result = kernel(*map(widened, arguments))
    kind = getattr(result, "dtype", None)
    return narrowed(result) if kind == np.complex64 else result.astype(np.float16) if kind == np.float32 else result


_LARGEST = np.float32(448)


def limited(values: Any) -> Any:
    """Values as float32, those beyond ±448 as ±448, infinities too; nan stays nan. The other 8-bit formats give inf or nan.

    >>> limited([1.0, 1e5, float("-inf")]).tolist()
    [1.0, 448.0, -448.0]
    """
    return np.clip(np.asarray(values).astype(np.float32), -_LARGEST, _LARGEST)


def lacks_infinity(numpy_type: Any) -> bool:
    """Whether NumPy's dtype is float8_e4m3fn, without a look at ml_dtypes, which may not be loaded."""
    return bool(numpy_type.itemsize == 1 and numpy_type.num > 255 and numpy_type.name == "float8_e4m3fn")


def castable(array: Any, numpy_type: Any) -> Any:
    """An array that NumPy casts to a dtype as PyTorch does: float64 to uint8 by way of int64, which keeps the low bits."""
    if lacks_infinity(numpy_type):
        return limited(array)
    return array.astype(np.int64) if numpy_type.char == "B" and array.dtype.char == "d" else array
