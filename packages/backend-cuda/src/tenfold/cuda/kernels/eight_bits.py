"""8-bit floating numbers on the device: storage, copies, and conversion by table, for products (kernels/products.py) to read.

CuPy does not know these dtypes, and Triton converts them on some GPUs only: as bytes they are the same everywhere.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.capturing import constant, hold, place
from tenfold.cuda.runtime import xp
from tenfold.types.narrow import lacks_infinity

BYTE, F32 = np.dtype(np.uint8), np.dtype(np.float32)
SIGN, MAGNITUDE = 128, 127


def is_eight(dtype: Any) -> bool:
    """Whether a dtype is one of 8-bit floating numbers.

    >>> is_eight(np.dtype("u1")), is_eight(np.dtype("?")), is_eight(np.dtype("f2"))
    (False, False, False)
    """
    return bool(dtype.itemsize == 1 and dtype.kind in "fV")


@lru_cache(maxsize=64)
def _table(dtype: Any, index: int, stream: int) -> Any:
    """All values as float32, by their bytes; of each stream its own."""
    return constant(runtime.current(), np.arange(256, dtype=BYTE).view(dtype).astype(F32), index)


@lru_cache(maxsize=64)
def _borders(dtype: Any, index: int, stream: int) -> tuple[Any, int]:
    """(halfway from each finite number that is not negative to the next one, the byte of nan)."""
    values = np.arange(SIGN, dtype=BYTE).view(dtype).astype(F32)
    finite = values[np.isfinite(values)]
    halfway = (finite[:-1] + finite[1:]) / 2
    if not lacks_infinity(dtype):  # from half a step beyond the largest one it is infinity
        halfway = np.append(halfway, finite[-1] + (finite[-1] - finite[-2]) / 2).astype(F32)
    nan = int(np.array(np.nan, dtype).view(BYTE)) & MAGNITUDE
    return constant(runtime.current(), halfway.astype(F32), index), nan


def widened(array: Any) -> Any:
    """8-bit numbers as float32."""
    table = _table(array.dtype, *place(runtime.current(), runtime.current().index_of(array)))
    hold(table)
    return xp.take(table, array.view(BYTE))


def narrowed(array: Any, dtype: Any) -> Any:
    """float32 as 8-bit numbers: the nearest, halfway the even one; what is too large as `tenfold.types.narrow` has it."""
    borders, nan = _borders(dtype, *place(runtime.current(), runtime.current().index_of(array)))
    hold(borders)
    size = xp.abs(array)
    low = xp.searchsorted(borders, size, side="left").astype(BYTE)
    high = xp.searchsorted(borders, size, side="right").astype(BYTE)
    code = xp.where(low % 2 == 0, low, high)
    code = xp.where(xp.isnan(array), BYTE.type(nan), code)
    return (code + xp.signbit(array).astype(BYTE) * BYTE.type(SIGN)).astype(BYTE).view(dtype)
