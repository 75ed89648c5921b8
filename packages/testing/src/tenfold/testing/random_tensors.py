"""`make_tensor`: a tensor of random values for tests."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tenfold.dispatch import devices
from tenfold.random.generator import default_generator
from tenfold.testing.make import Make
from tenfold.types.numeric_limits import finfo, iinfo


def make_tensor(
    *shape: Any, dtype: Any, device: Any, low: float | None = None, high: float | None = None, requires_grad: bool = False,
    noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Any:  # fmt: skip
    """A tensor of uniform random values in [low, high), drawn from the default generator's seed.

    Defaults: [-9, 9) for floating and complex dtypes (both parts), [-9, 10) for signed and [0, 10) for unsigned
    integers, {False, True} for bool. `exclude_zero` replaces zeros by the dtype's smallest positive number.

    A limit beyond what the dtype holds counts as the end of its range.

    Raises: ValueError for low >= high (low == high of floating dtypes only warns), for nan, for an interval outside the
    dtype's range, or for both noncontiguous and memory_format; RuntimeError for requires_grad with an integer dtype.

    >>> import tenfold
    >>> from tenfold.testing import make_tensor
    >>> make_tensor((2, 3), dtype=tenfold.int64, device="cpu", low=0, high=5).shape
    tenfold.Size([2, 3])
    """
    size = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    low, high = _interval(dtype, low, high)
    if noncontiguous and memory_format is not None:
        raise ValueError("make_tensor: the parameters `noncontiguous` and `memory_format` are mutually exclusive")
    if requires_grad and dtype.category < 2:
        raise ValueError(f"make_tensor: `requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype}")
    rng = np.random.default_rng(_draw_seed())
    array = _values(rng, size, dtype, low, high)
    if exclude_zero:
        array = np.where(array == 0, _smallest(dtype), array).astype(dtype.numpy)
    made = Make(devices.located(device), dtype).place(array, "strided" if noncontiguous and array.size > 1 else "contiguous")
    if memory_format is not None:
        made = made.clone(memory_format=memory_format)
    return made.requires_grad_(requires_grad)


def _draw_seed() -> int:
    """A number from the default generator, so that manual_seed makes tests repeatable."""
    return int(default_generator.words32(1)[0])


def _interval(dtype: Any, low: float | None, high: float | None) -> tuple[float, float]:
    if dtype.category == 0:
        lowest, highest = 0, 2
    elif dtype.category == 1:
        lowest, highest = (-9 if dtype.is_signed else 0), 10
    else:
        lowest, highest = -9, 9
    start, end = (lowest if low is None else low, highest if high is None else high)
    least, beyond = _range(dtype)
    if start != start or end != end:
        raise ValueError(f"make_tensor: `low` and `high` cannot be NaN, but got low={start} and high={end}")
    if start == end and dtype.category > 1:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated; use `full` instead",
            FutureWarning,
            stacklevel=3,
        )
        return start, end
    if start >= end:
        raise ValueError(f"make_tensor: `low` must be less than `high`, but got {start} >= {end}")
    if end < least or start >= beyond:
        raise ValueError(
            f"make_tensor: The value interval specified by `low` and `high` is [{start}, {end}), but {dtype} only supports "
            f"[{least}, {beyond})"
        )
    return max(start, least), min(end, beyond)


def _range(dtype: Any) -> tuple[float, float]:
    """The least value of a dtype, and what is just beyond the greatest (of float64 and int64, the greatest)."""
    if dtype.category == 0:
        return 0, 2
    limits: Any = finfo(dtype) if dtype.category > 1 else iinfo(dtype)
    return limits.min, limits.max if dtype.category > 1 else min(limits.max + 1, 2**63 - 1)


def _values(rng: Any, size: Any, dtype: Any, low: float, high: float) -> Any:
    if dtype.category < 2:
        return rng.integers(int(np.ceil(low)), int(np.ceil(high)), size).astype(dtype.numpy)
    values = _between(rng, size, dtype, low, high)
    if dtype.category == 3:
        values = np.stack([values, _between(rng, size, dtype, low, high)], -1).view(np.complex128)[..., 0]
    return values.astype(dtype.numpy)


def _between(rng: Any, size: Any, dtype: Any, low: float, high: float) -> Any:
    """Uniform numbers that are below the end also where the dtype rounds them up; the whole range has no width."""
    part = rng.random(size)
    values = np.asarray(low + (high - low) * part if high - low < float("inf") else low * (1 - part) + high * part)
    if dtype.category == 2 and low < high:
        values[values.astype(dtype.numpy).astype(np.float64) >= high] = low
    return values


def _smallest(dtype: Any) -> float:
    if dtype.category < 2:
        return 1
    if dtype.numpy.kind == "V":
        import ml_dtypes

        return float(ml_dtypes.finfo(dtype.numpy).tiny)  # type: ignore[no-untyped-call]
    return float(np.finfo(dtype.numpy).tiny)
