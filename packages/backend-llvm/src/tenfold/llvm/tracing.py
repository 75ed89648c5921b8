"""Formulas from the bodies of composite operators: one definition serves the reference, its gradients and the compiled kernel.

The body runs once, on tensors without memory, under a layer that writes down what every operator in it computes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tenfold
from tenfold.dispatch.operators import TENSOR_ROLES, Operator as Declared
from tenfold.dispatch.runtime import Layer, call_inside
from tenfold.llvm.elementwise import Operator
from tenfold.llvm.expressions import Expr, constant, convert
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.tensor.tensor import Tensor

_TYPES = {tenfold.float32: "float", tenfold.float64: "double", tenfold.bool: "i1"}
_DTYPES = {"float": tenfold.float32, "double": tenfold.float64}


class NotLowered(Exception):
    """A body that cannot be written as one formula."""


class _Writer(Layer):
    """Gives every result of an operator its expression."""

    def __init__(self) -> None:
        self.known: dict[int, Expr] = {}
        self.alive: list[Tensor] = []  # whose ids stay theirs

    def name(self, tensor: Tensor, expr: Expr) -> Tensor:
        self.known[id(tensor)] = expr
        self.alive.append(tensor)
        return tensor

    def expression(self, value: Any, type: str) -> Expr:
        if isinstance(value, Tensor):
            if id(value) not in self.known:
                raise NotLowered("a tensor that is no argument")
            return self.known[id(value)]
        if isinstance(value, (bool, int, float)):
            return constant(value, type)
        raise NotLowered(f"the argument {value!r}")

    def handle(self, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        formula = _formula(operator)
        if formula is None:
            if operator.body is None or operator.inplace_of is not None:
                raise NotLowered(f"operator {operator.name}")
            return call_inside(self, operator, args, kwargs)
        values = operator.bind(args, kwargs)
        if any(values.get(name, neutral) != neutral for name, neutral in operator.neutral.items()):
            raise NotLowered(f"an option of {operator.name}")
        result = operator(*args, **kwargs)
        type = _number_type(values.values())
        given = [self.expression(values[p.name], type) for p in operator.kernel_params]
        expr = formula(*given)
        if _TYPES.get(result.dtype) != expr.type:
            raise NotLowered(f"the dtype of {operator.name}'s result")
        return self.name(result, expr)


def _number_type(values: Iterable[Any]) -> str:
    """The type in which an operator's numbers are, of several tensors that of the first that is no condition."""
    types = [_TYPES.get(v.dtype) for v in values if isinstance(v, Tensor)]
    return next((t for t in types if t not in (None, "i1")), "i1")


_LOGIC: dict[str, Any] = {
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "logical_and": lambda a, b: a & b,
    "logical_or": lambda a, b: a | b,
    "bitwise_not": lambda a: ~a,
    "logical_not": lambda a: ~a,
}


def _formula(operator: Any) -> Any:
    """What an operator computes of each element, if it is known."""
    found = ACCELERATED.get(operator.name)
    if isinstance(found, Operator):
        return found.formula if not found.only else None
    logic = _LOGIC.get(operator.name)
    return None if logic is None else lambda *given: _of_conditions(logic, given)


def _of_conditions(logic: Any, given: Any) -> Expr:
    if any(e.type != "i1" for e in given):
        raise NotLowered("logic of numbers")
    result: Expr = logic(*given)
    return result


def formula_of(operator: Declared, arguments: dict[str, Any], inputs: list[Expr]) -> Expr:
    """The expression of a composite's body; tensor parameters are `inputs` in order, the others as in `arguments`.

    Raises NotLowered where the body is no formula of elements, and what the body raises.
    """
    layer = _Writer()
    given = dict(arguments)
    tensors = [p.name for p in operator.kernel_params if p.role in TENSOR_ROLES]
    for name, expr in zip(tensors, inputs, strict=True):
        given[name] = layer.name(tenfold.empty(2, dtype=_DTYPES[expr.type], device="meta"), expr)
    body = operator.body
    assert body is not None
    with layer:
        result = body(**given)
    if not isinstance(result, Tensor) or id(result) not in layer.known:
        raise NotLowered("a result that is no formula")
    return convert(layer.known[id(result)], inputs[0].type)
