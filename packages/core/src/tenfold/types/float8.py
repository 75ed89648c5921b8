"""Numbers beyond what float8_e4m3fn holds: it has no infinity."""

from __future__ import annotations

from typing import Any

import numpy as np

_LARGEST = np.float32(448)


def limited(values: Any) -> Any:
    """Values as float32, those beyond ±448 as ±448, infinities too; nan stays nan. The other 8-bit formats give inf or nan.

    >>> limited([1.0, 1e5, float("-inf")]).tolist()
    [1.0, 448.0, -448.0]
    """
    return np.clip(np.asarray(values).astype(np.float32), -_LARGEST, _LARGEST)


def lacks_infinity(numpy_type: Any) -> bool:
    """Whether NumPy's dtype is float8_e4m3fn, without a look at ml_dtypes, which may not be loaded."""
    return bool(numpy_type.itemsize == 1 and numpy_type.name == "float8_e4m3fn")
