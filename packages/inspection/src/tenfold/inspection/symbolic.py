"""Arithmetic that PyTorch's compiler can record of sizes; sizes are numbers here, and these are Python's operations."""

from __future__ import annotations

from collections.abc import Iterable
from math import trunc
from typing import Any


def sym_float(a: Any) -> float:
    """A size as a float.

    >>> sym_float(2)
    2.0
    """
    return float(a)


def sym_int(a: Any) -> int:
    """A number without its fraction.

    >>> sym_int(-2.7)
    -2
    """
    return int(a) if isinstance(a, str) else trunc(a)


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t` if `b` holds, else `f`; both of one type.

    >>> sym_ite(True, 1, 2)
    1
    """
    if not isinstance(b, bool) or type(t) is not type(f):
        raise AssertionError(f"sym_ite: expected a bool and two values of one type, got {b!r}, {t!r}, {f!r}")
    return t if b else f


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers; a float if one is.

    >>> sym_max(1, 1.0)
    1.0
    """
    return _of_kind(max(a, b), a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers; a float if one is.

    >>> sym_min(1, 2.0)
    1.0
    """
    return _of_kind(min(a, b), a, b)


def _of_kind(chosen: Any, a: Any, b: Any) -> Any:
    return float(chosen) if isinstance(a, float) or isinstance(b, float) else chosen


def sym_not(a: bool) -> bool:
    """Negation.

    >>> sym_not(True)
    False
    """
    return not a


def sym_sum(args: Iterable[Any]) -> Any:
    """The sum of several sizes.

    >>> sym_sum([1, 2, 3])
    6
    """
    return sum(args)
