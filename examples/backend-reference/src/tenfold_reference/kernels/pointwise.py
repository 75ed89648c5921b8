"""Elementwise operators: each is a function of one element of each operand."""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable
from typing import Any

from tenfold_reference import numbers
from tenfold_reference.attach import attach
from tenfold_reference.loops import mapper

TABLE: dict[str, Callable[..., Any]] = {
    "add": python.add,
    "sub": python.sub,
    "mul": python.mul,
    "div": numbers.divide,
    "floor_divide": numbers.floor_divide,
    "remainder": numbers.remainder,
    "pow": numbers.power,
    "neg": python.neg,
    "abs": abs,
    "sign": lambda x: (x > 0) - (x < 0),
    "square": lambda x: x * x,
    "reciprocal": lambda x: numbers.divide(1.0, x),
    "exp": numbers.exp,
    "expm1": numbers.total(math.expm1, overflow=math.inf),
    "log": numbers.log,
    "log1p": lambda x: numbers.log(1 + x) if abs(x) > 0.5 else math.log1p(x),
    "sqrt": numbers.sqrt,
    "rsqrt": lambda x: numbers.divide(1.0, numbers.sqrt(x)),
    "sin": numbers.total(math.sin),
    "cos": numbers.total(math.cos),
    "tanh": math.tanh,
    "erf": math.erf,
    "sigmoid": numbers.sigmoid,
    "floor": numbers.kept_if_infinite(math.floor),
    "ceil": numbers.kept_if_infinite(math.ceil),
    "round": numbers.kept_if_infinite(round),
    "maximum": numbers.larger,
    "minimum": numbers.smaller,
    "clamp_min": numbers.larger,
    "clamp_max": numbers.smaller,
    "eq": python.eq,
    "ne": python.ne,
    "lt": python.lt,
    "le": python.le,
    "gt": python.gt,
    "ge": python.ge,
    "isnan": lambda x: x != x,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "logical_not": python.not_,
    "logical_and": lambda x, y: bool(x) and bool(y),
    "logical_or": lambda x, y: bool(x) or bool(y),
    "logical_xor": lambda x, y: bool(x) != bool(y),
    "where": lambda condition, x, y: x if condition else y,
    "lerp": lambda x, y, w: x + w * (y - x) if abs(w) < 0.5 else y - (y - x) * (1 - w),
    "addcmul": lambda x, a, b, value: x + value * a * b,
    "addcdiv": lambda x, a, b, value: x + value * numbers.divide(a, b),
}

attach(mapper, TABLE)
