"""`make_tensor`: a tensor of random values for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch import devices
from tenfold.random.generator import default_generator
from tenfold.testing.make import Make


def make_tensor(
    *shape: Any, dtype: Any, device: Any, low: float | None = None, high: float | None = None, requires_grad: bool = False,
    noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Any:  # fmt: skip
    """A tensor of uniform random values in [low, high), drawn from the default generator's seed.

    Defaults: [-9, 9) for floating and complex dtypes (both parts), [-9, 10) for signed and [0, 10) for unsigned
    integers, {False, True} for bool. `exclude_zero` replaces zeros by the dtype's smallest positive number.

    Raises: ValueError for low >= high, or for both noncontiguous and memory_format; RuntimeError for requires_grad with
    an integer dtype.

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
    found = (lowest if low is None else low, highest if high is None else high)
    if found[0] >= found[1]:
        raise ValueError(f"make_tensor: `low` must be less than `high`, but got low={found[0]} and high={found[1]}")
    return found


def _values(rng: Any, size: Any, dtype: Any, low: float, high: float) -> Any:
    if dtype.category < 2:
        return rng.integers(int(np.ceil(low)), int(np.ceil(high)), size).astype(dtype.numpy)
    values = rng.uniform(low, high, size)
    if dtype.category == 3:
        values = values + 1j * rng.uniform(low, high, size)
    return np.asarray(values).astype(dtype.numpy)


def _smallest(dtype: Any) -> float:
    if dtype.category < 2:
        return 1
    if dtype.numpy.kind == "V":
        import ml_dtypes

        return float(ml_dtypes.finfo(dtype.numpy).tiny)  # type: ignore[no-untyped-call]
    return float(np.finfo(dtype.numpy).tiny)
