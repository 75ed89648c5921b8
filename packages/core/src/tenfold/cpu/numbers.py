"""Python numbers as arrays without dimensions, which NumPy's functions take in a third of the time."""

from __future__ import annotations

from typing import Any

import numpy as np


class _Numbers(dict[Any, Any]):
    """The numbers of one dtype that were seen lately."""

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


# By dtype, then by number: the array; KeyError for dtypes whose numbers NumPy knows better (integers wrap, half rounds).
ARRAYS = {dtype: _Numbers(dtype) for dtype in (np.dtype(np.float32), np.dtype(np.float64))}


def as_array(number: Any, dtype: Any) -> Any:
    """The number as an array of a dtype, not to be written."""
    if dtype in ARRAYS and type(number) in (int, float):
        return ARRAYS[dtype][number]
    return np.array(number, dtype)
