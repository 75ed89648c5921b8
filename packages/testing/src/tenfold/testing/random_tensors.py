"""`make_tensor`: a tensor of random values for tests."""

from __future__ import annotations

import math
import warnings
from operator import index
from typing import Any

import tenfold


def make_tensor(
    *shape: Any, dtype: Any, device: Any, low: float | None = None, high: float | None = None, requires_grad: bool = False,
    noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Any:  # fmt: skip
    """A tensor of uniform random values in [low, high), as PyTorch's draws them from the default generator.

    Defaults: [-9, 9) for floating and complex dtypes (both parts), [-9, 10) for signed and [0, 10) for unsigned
    integers, {False, True} for bool. `exclude_zero` replaces zeros by the dtype's smallest positive number.

    Raises: ValueError for low >= high (a FutureWarning for floating dtypes where both are equal), nan, an interval outside of
    the dtype's numbers, requires_grad with an integer dtype, or for both noncontiguous and memory_format.

    >>> import tenfold
    >>> from tenfold.testing import make_tensor
    >>> make_tensor((2, 3), dtype=tenfold.int64, device="cpu", low=0, high=5).shape
    tenfold.Size([2, 3])
    """
    size = tuple(map(index, shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape))
    low, high = _interval(dtype, low, high)
    if noncontiguous and memory_format is not None:
        raise ValueError("make_tensor: the parameters `noncontiguous` and `memory_format` are mutually exclusive")
    if requires_grad and dtype.category < 2:
        raise ValueError(f"make_tensor: `requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype}")
    if noncontiguous and math.prod(size) > 1:  # every second of twice as many numbers
        made = _values((*size[:-1], 2 * size[-1]), dtype, device, low, high)[..., 1::2]
    else:
        made = _values(size, dtype, device, low, high)
    if memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = _smallest(dtype)
    return made.requires_grad_(requires_grad)


def _interval(dtype: Any, low: float | None, high: float | None) -> tuple[float, float]:
    """The numbers to draw between: those asked for, as far as the dtype has them, and whole ones for integers."""
    lowest, highest, usual = _bounds(dtype)
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    if low != low or high != high:  # nan; an int may be too large for a float
        raise ValueError(f"make_tensor: `low` and `high` cannot be NaN, but got low={low} and high={high}")
    if low == high and dtype.category >= 2:
        warnings.warn(
            "Passing `low==high` to `tenfold.testing.make_tensor` for floating or complex types is deprecated: use `full(...)`",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"make_tensor: `low` must be less than `high`, but got {low} >= {high}")
    if high < lowest or low >= highest:
        raise ValueError(
            f"make_tensor: The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports "
            f"[{lowest}, {highest})"
        )
    low, high = max(low, lowest), min(high, highest)
    return (math.ceil(low), math.ceil(high)) if dtype.category < 2 else (low, high)


def _bounds(dtype: Any) -> tuple[float, float, tuple[float, float]]:
    """The least number that a dtype has, the end of its numbers, and between which it is drawn unless told."""
    if dtype.category == 0:
        return 0, 2, (0, 2)
    if dtype.category == 1:
        info = tenfold.iinfo(dtype)
        return info.min, info.max + (info.bits < 64), (-9 if dtype.is_signed else 0, 10)
    return tenfold.finfo(dtype).min, tenfold.finfo(dtype).max, (-9, 9)


def _values(size: Any, dtype: Any, device: Any, low: float, high: float) -> Any:
    """The numbers that PyTorch's default generator draws, too."""
    if dtype.category < 2:
        return tenfold.randint(int(low), int(high), size, dtype=dtype, device=device)
    if dtype.itemsize == 1:  # of eight bits
        return _uniform(tenfold.empty(size, dtype=tenfold.float32, device=device), low, high).to(dtype)
    made = tenfold.empty(size, dtype=dtype, device=device)
    _uniform(tenfold.view_as_real(made) if dtype.category == 3 else made, low, high)
    return made


def _uniform(target: Any, low: float, high: float) -> Any:
    if high - low <= tenfold.finfo(target.dtype).max:
        return target.uniform_(float(low), float(high))
    return target.uniform_(low / 2, high / 2).mul_(2)  # the interval is wider than the greatest number


def _smallest(dtype: Any) -> float:
    return 1 if dtype.category < 2 else tenfold.finfo(dtype).tiny
