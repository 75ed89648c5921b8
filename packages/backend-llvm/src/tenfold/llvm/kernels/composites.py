"""Composite activations: their formulas come from their bodies."""

from __future__ import annotations

import math
from typing import Any

from tenfold.dispatch.operators import op
from tenfold.llvm.elementwise import Operator
from tenfold.llvm.expressions import Expr
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.session import USED
from tenfold.llvm.storage import FLOAT32, FLOAT64, FLOATING, LARGEST, Stored
from tenfold.llvm.tracing import NotLowered, formula_of

NAMES = (
    "threshold", "hardtanh", "leaky_relu", "elu", "celu", "selu", "mish", "softplus", "softsign", "tanhshrink", "hardshrink",
    "softshrink", "hardsigmoid",
)  # fmt: skip
ROUNDED = ("hardshrink",)  # their options are rounded to a half precision dtype first, as they are in PyTorch
WHOLE = (FLOAT32, FLOAT64)
MOST = 16  # of the values of an operator's options, each of which has a formula of its own


class Composite:
    """An operator of one array and numbers; a kernel for each set of the numbers."""

    def __init__(self, name: str) -> None:
        self.declared = getattr(op, name)
        self.kernels: dict[tuple[Any, ...], Any] = {}
        self.operators: dict[tuple[Any, ...], Operator] = {}

    def serve(self, input: Any, *options: Any) -> Any:
        """The result, or NotImplemented for the body."""
        key = (*options, *map(type, options))
        try:
            found = self.kernels.get(key)
        except TypeError:  # a tensor in a number's place, which an array stands for
            return NotImplemented
        if found is None:
            if len(self.kernels) >= MOST or not all(type(o) in (int, float) for o in options):
                return NotImplemented
            found = self.kernels[key] = self._made(key, options)
        if USED and key in self.operators:  # somebody wants to know what the native gate would run
            return self.operators[key].serve((input,), None)
        return found(input)

    def _made(self, key: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
        names = [p.name for p in self.declared.kernel_params[1:]]
        given = dict(zip(names, options, strict=True))

        def formula(x: Expr) -> Expr:
            return formula_of(self.declared, given, [x])

        try:
            operator = Operator(self.declared.name, formula, dtypes=self._dtypes(options))
            for stored in operator.dtypes:
                operator.expression(stored, ())
        except (NotLowered, RuntimeError, TypeError, ValueError, OverflowError):  # the body says what is wrong
            return _to_the_body
        self.operators[key] = operator
        return operator.wrap(_to_the_body)

    def _dtypes(self, options: tuple[float, ...]) -> tuple[Stored, ...]:
        """Those that are computed here with these numbers, which have to be numbers of the dtype."""
        served = WHOLE if self.declared.name in ROUNDED else FLOATING
        largest = max((abs(o) for o in options if math.isfinite(o)), default=0)
        return tuple(stored for stored in served if largest <= LARGEST[stored])


def _to_the_body(input: Any) -> Any:
    return NotImplemented


for _name in NAMES:
    _made = Composite(_name)
    chosen(_name, _made.serve, len(_made.declared.kernel_params), "floats, where no gradient is recorded")
