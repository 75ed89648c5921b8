"""Python's operators on tensors: `x + y` is `tenfold.add` on a call path of its own, without keyword arguments."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from tenfold.dispatch.callpath import dunder
from tenfold.dispatch.calls import first_call, stub_code
from tenfold.dispatch.operators import OPERATORS
from tenfold.dispatch.runtime import RUNTIME
from tenfold.tensor.tensor import Tensor

# Python's method: operator. A reflected method whose operator commutes is the same operator.
BINARY = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__rsub__": "rsub", "__mul__": "mul", "__rmul__": "mul",
    "__truediv__": "div", "__floordiv__": "floor_divide", "__mod__": "remainder", "__pow__": "pow",
    "__matmul__": "matmul", "__and__": "bitwise_and", "__rand__": "bitwise_and", "__or__": "bitwise_or",
    "__ror__": "bitwise_or", "__xor__": "bitwise_xor", "__rxor__": "bitwise_xor", "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift", "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt",
    "__ge__": "ge",
}  # fmt: skip
UNARY = {"__neg__": "neg", "__abs__": "abs", "__pos__": "positive"}
INPLACE = {
    "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ifloordiv__": "floor_divide_",
    "__imod__": "remainder_", "__ipow__": "pow_", "__iand__": "bitwise_and_", "__ior__": "bitwise_or_",
    "__ixor__": "bitwise_xor_", "__ilshift__": "bitwise_left_shift_", "__irshift__": "bitwise_right_shift_",
}  # fmt: skip
# Reflected methods whose operator takes the other operand first.
SWAPPED = {
    "__rfloordiv__": "floor_divide", "__rmod__": "remainder", "__rpow__": "pow",
    "__rmatmul__": "matmul", "__rlshift__": "bitwise_left_shift", "__rrshift__": "bitwise_right_shift",
}  # fmt: skip

_STUBS: dict[str, Any] = {}
_OPERANDS = (Tensor, int, float, complex, np.generic)


def _first_dunder(method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    operator = OPERATORS[BINARY.get(method) or INPLACE[method]]
    return first_call(lambda: dunder(operator, _STUBS[method]), args, kwargs)


RUNTIME["first_dunder"] = _first_dunder


def _swapped(name: str) -> Any:
    fn = OPERATORS[name].fn

    def reflected(self: Tensor, other: Any) -> Any:
        if not isinstance(other, _OPERANDS):
            return NotImplemented
        return fn(other, self)

    return reflected


def _divides(self: Tensor, other: Any) -> Any:
    # As PyTorch: the reciprocal is rounded before it is multiplied, by the other's `__rmul__` if need be.
    try:
        return OPERATORS["reciprocal"].fn(self) * other
    except TypeError:
        return NotImplemented


def _inverts(self: Tensor) -> Tensor:
    if self.dtype.category > 1:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return OPERATORS["bitwise_not"].fn(self)


Tensor.__invert__ = _inverts  # type: ignore[method-assign, assignment] # as the next
Tensor.__rtruediv__ = _divides  # type: ignore[method-assign, assignment]
for _method, _name in (*BINARY.items(), *INPLACE.items()):
    _operator = OPERATORS[_name]
    _stub: Any = types.FunctionType(stub_code("first_dunder", _method), RUNTIME, _method)
    _stub.op, _stub.__doc__ = _operator, _operator.doc
    _STUBS[_method] = _stub
    setattr(Tensor, _method, _stub)
for _method, _name in UNARY.items():
    setattr(Tensor, _method, OPERATORS[_name].fn)
for _method, _name in SWAPPED.items():
    setattr(Tensor, _method, _swapped(_name))
