"""Reductions: each is a function of the list of the elements that fall together."""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable
from functools import reduce
from itertools import accumulate
from typing import Any

from tenfold_reference import numbers
from tenfold_reference.attach import attach
from tenfold_reference.loops import along, reducer

TABLE: dict[str, Callable[[list[Any]], Any]] = {
    "sum": sum,
    "amax": lambda xs: reduce(numbers.larger, xs),
    "amin": lambda xs: reduce(numbers.smaller, xs),
    "any": any,
    "all": all,
    "prod": math.prod,
}
ALONG: dict[str, Callable[[list[Any]], list[Any]]] = {
    "cumsum": lambda xs: list(accumulate(xs)),
    "cumprod": lambda xs: list(accumulate(xs, python.mul)),
}

attach(reducer, TABLE)
attach(along, ALONG)
