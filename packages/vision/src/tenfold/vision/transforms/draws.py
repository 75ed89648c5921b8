"""The random numbers of transforms, drawn from the default generator in torchvision's order: same seed, same pictures."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number

import numpy as np

import tenfold
from tenfold.random.generator import default_generator

FEW = 1 << 28  # randint takes one word of 32 bits for an integer below this


def uniform(low: float, high: float) -> float:
    """One number between ``low`` and ``high``."""
    return _uniform32(float(low), float(high))


def _uniform32(low: float, high: float) -> float:
    """What ``empty(1).uniform_(low, high)`` draws in float32, without a tensor for one number."""
    if tenfold.get_default_dtype() != tenfold.float32 or not -np.inf < low <= high < np.inf:
        return float(tenfold.empty(1).uniform_(low, high).item())  # which says what is wrong
    unit = default_generator.few_units32(1)[0]
    drawn = np.float32(np.float64(unit) * (np.float32(high) - np.float32(low)) + np.float32(low))
    return float(np.float32(low) if drawn == np.float32(high) else drawn)


def below(stop: int) -> int:
    """One integer from 0 up to ``stop``, without it."""
    if not 0 < stop < FEW:
        return int(tenfold.randint(0, stop, size=(1,)).item())
    return default_generator.few(1)[0] % stop


def happens(probability: float) -> bool:
    """True with this probability."""
    return bool(tenfold.rand(1).item() < probability)


def log_uniform(bounds: tuple[float, float]) -> float:
    """One number that is as likely to be k times larger as k times smaller."""
    low, high = tenfold.log(tenfold.tensor(bounds)).tolist()
    return float(tenfold.exp(tenfold.empty(1).uniform_(low, high)).item())


def symmetric_range(operator: str, name: str, value: float | Sequence[float]) -> list[float]:
    """[-value, value] for one number, else the two numbers themselves.

    Raises:
        ValueError: one number is negative, or there are not two.
    """
    if isinstance(value, Number):
        if value < 0:  # type: ignore[operator]
            raise ValueError(f"{operator}: If {name} is a single number, it must be positive, got {value}")
        return [-float(value), float(value)]  # type: ignore[arg-type]
    if len(value) != 2:  # type: ignore[arg-type]
        raise ValueError(f"{operator}: {name} should be a number or a sequence of length 2, got {value!r}")
    return [float(bound) for bound in value]  # type: ignore[union-attr]
