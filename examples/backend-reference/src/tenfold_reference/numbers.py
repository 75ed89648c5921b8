"""Arithmetic on Python numbers as IEEE 754 has it: infinities and NaN where Python raises."""

from __future__ import annotations

import math
from collections.abc import Callable

inf, nan = math.inf, math.nan


def divide(x: float, y: float) -> float:
    """x / y; x / 0 is an infinity, 0 / 0 is NaN."""
    if y != 0:
        return x / y
    return nan if x == 0 or x != x else math.copysign(inf, x) * math.copysign(1, y)


def floor_divide(x: float, y: float) -> float:
    """The quotient rounded down, for integers and floats."""
    if isinstance(x, int) and y == 0:
        raise RuntimeError("ZeroDivisionError")
    return x // y if y != 0 else divide(x, y)


def power(x: float, y: float) -> float:
    """x ** y; integers stay exact, and a negative power of one other than 1 and -1 is rounded to 0."""
    if isinstance(x, int) and isinstance(y, int):
        return x**y if y >= 0 else x ** (y % 2) if x in (1, -1) else 0
    try:
        return math.pow(x, y)
    except OverflowError:
        return -inf if x < 0 and y % 2 == 1 else inf
    except ValueError:  # 0 to a negative power, or a root of a negative number
        if x != 0:
            return nan
        return math.copysign(inf, x) if y % 2 == 1 else inf


def exp(x: float) -> float:
    return math.exp(x) if x < 709.7 else math.exp(709.7) * math.exp(x - 709.7) if x < 709.79 else inf if x == x else x


def log(x: float) -> float:
    return math.log(x) if x > 0 else -inf if x == 0 else nan


def sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0 else x if x == 0 else nan


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))


def larger(x: float, y: float) -> float:
    return x if x > y or x != x else y


def smaller(x: float, y: float) -> float:
    return x if x < y or x != x else y


def remainder(x: float, y: float) -> float:
    """What is left after `floor_divide`: it has the sign of y."""
    if y == 0:
        if isinstance(x, int):
            raise RuntimeError("ZeroDivisionError")
        return nan
    return x % y if math.isfinite(x) else nan


def total(function: Callable[[float], float], overflow: float = nan) -> Callable[[float], float]:
    """A function of `math` that is defined everywhere: NaN where Python raises a domain error (the sine of infinity)."""

    def defined(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return nan
        except OverflowError:
            return overflow

    return defined


def kept_if_infinite(function: Callable[[float], float]) -> Callable[[float], float]:
    """Rounding to an integer, with infinities and NaN as they are."""
    return lambda x: function(x) if math.isfinite(x) else x
