"""The numeric limits of dtypes: `finfo` of floating point types, `iinfo` of integers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tenfold.types import qualified
from tenfold.types.dtypes import dtype, float64, get_default_dtype, int64


def _limits(numpy_type: Any) -> Any:
    if numpy_type.isbuiltin == 1:  # float8_e5m2 is of kind "f", too
        return np.finfo(numpy_type)
    import ml_dtypes

    return ml_dtypes.finfo(numpy_type)  # type: ignore[no-untyped-call] # ml_dtypes does not annotate it


class finfo:  # noqa: N801 - PyTorch's name
    """Limits of a floating point dtype, or of a complex one's parts.

    >>> import tenfold
    >>> finfo(tenfold.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type: Any = None) -> None:
        kind = get_default_dtype() if type is None else float64 if type in (float, complex) else type
        if not isinstance(kind, dtype) or kind.category < 2:
            raise TypeError(
                f"{qualified('finfo')}() requires a floating point input type. Use {qualified('iinfo')} to handle '{kind!r}'"
            )
        kind = kind.to_real()
        info: Any = _limits(kind.numpy)
        self.dtype, self.bits = kind.name, int(info.bits)
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.smallest_normal)
        self.resolution = float(f"1e-{int(-math.log10(self.eps))}")

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


class iinfo:  # noqa: N801 - PyTorch's name
    """Limits of an integer dtype.

    >>> import tenfold
    >>> iinfo(tenfold.int8).min
    -128
    """

    def __init__(self, type: Any) -> None:
        type = int64 if type is int else type
        if not isinstance(type, dtype) or type.category != 1:
            raise TypeError(
                f"{qualified('iinfo')}() requires an integer input type. Use {qualified('finfo')} to handle '{type!r}'"
            )
        info = np.iinfo(type.numpy)
        self.dtype, self.bits, self.max, self.min = type.name, int(info.bits), int(info.max), int(info.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)
