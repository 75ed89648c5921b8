"""Reductions: each is a function of the list of the elements that fall together."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from tenfold_reference import numbers
from tenfold_reference.attach import attach
from tenfold_reference.loops import reducer

TABLE: dict[str, Callable[[list[Any]], Any]] = {
    "sum": sum,
    "amax": lambda xs: reduce(numbers.larger, xs),
    "amin": lambda xs: reduce(numbers.smaller, xs),
    "any": any,
    "all": all,
}

attach(reducer, TABLE)
