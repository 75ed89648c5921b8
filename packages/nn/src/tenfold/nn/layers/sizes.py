"""Turning the sizes a user gives (a number or one number per dimension) into tuples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def as_tuple(value: Any, count: int) -> tuple[Any, ...]:
    """`value` as a tuple: an iterable as it is, a single number `count` times."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * count


def twice_reversed(value: tuple[int, ...]) -> list[int]:
    """One amount per dimension as `F.pad` wants it: before and after, last dimension first."""
    return [amount for amount in reversed(value) for _ in range(2)]
