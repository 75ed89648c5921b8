"""The device's kernels by operator family. What is not here runs through bodies and Tenfold's kernels for any device."""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable
from functools import reduce
from typing import Any

from tenfold.kernels import kernel
from tenfold.operators import Operator, op

from tenfold_reference import numbers
from tenfold_reference.block import Block
from tenfold_reference.loops import mapper, matmul, reducer

POINTWISE: dict[str, Callable[..., Any]] = {
    "add": python.add, "sub": python.sub, "mul": python.mul, "neg": python.neg, "abs": abs,
    "div": numbers.divide, "floor_divide": numbers.floor_divide, "pow": numbers.power,
    "exp": numbers.exp, "log": numbers.log, "sqrt": numbers.sqrt, "sigmoid": numbers.sigmoid,
    "tanh": math.tanh, "sin": numbers.finite_only(math.sin), "cos": numbers.finite_only(math.cos),
    "erf": math.erf, "maximum": numbers.larger, "minimum": numbers.smaller,
    "eq": python.eq, "ne": python.ne, "lt": python.lt, "le": python.le, "gt": python.gt, "ge": python.ge,
    "logical_not": python.not_, "where": lambda condition, x, y: x if condition else y,
}  # fmt: skip
ACTIVATIONS: dict[str, Callable[..., Any]] = {"relu": lambda x: x if x != x else max(x, 0)}
REDUCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "sum": sum, "amax": lambda xs: reduce(numbers.larger, xs), "amin": lambda xs: reduce(numbers.smaller, xs),
    "any": any, "all": all,
}  # fmt: skip
PRODUCTS = ("mm", "bmm")
CLAIMS = tuple(name for name in (*POINTWISE, *ACTIVATIONS, *REDUCTIONS, *PRODUCTS) if hasattr(op, name))


def attach(family: str) -> None:
    """Attach the kernels of one family; operators that this version of Tenfold lacks are left out."""
    tables: tuple[tuple[dict[str, Any], Callable[..., Any]], ...] = (
        (POINTWISE, mapper),
        (ACTIVATIONS, mapper),
        (REDUCTIONS, reducer),
        (dict.fromkeys(PRODUCTS), _product),
    )
    for table, make in tables:
        for name, function in table.items():
            found = getattr(op, name, None)
            if found is not None and found.family == family:
                kernel(found, device="ref")(make(found, function))


def _product(found: Operator, _: None) -> Callable[[Block, Block], Block]:
    def run(input: Block, mat2: Block) -> Block:
        return matmul(found, input, mat2)

    return run
