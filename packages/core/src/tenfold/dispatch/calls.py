"""What the calls of an operator have found so far.

The generated code (callpath.py) reads a `Calls` object's fields as globals of its own, `KERNELS_add`, `attach_add`,
`OP_add`, `BODY_add`: a look-up less. Everything else reads, fills and clears the object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenfold.dispatch.runtime import RUNTIME
from tenfold.dispatch.services import SERVICES

if TYPE_CHECKING:
    from tenfold.dispatch.operators import Operator


class Calls:
    """What calls of one operator look up, filled on first use.

    `kernels` has the kernel of each device key (None: the operator's body), `binder` the function that names a call's
    arguments, `differentiable` whether a gradient rule is attached, `attach` what gives results their graph node.
    """

    __slots__ = ("_attach", "binder", "differentiable", "kernels", "operator")

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.kernels: dict[Any, Any] = {}
        self.binder: Any = None
        self.differentiable: bool | None = None
        self._attach: Any = self._first_attach

    @property
    def attach(self) -> Any:
        """`attach(result, *arguments)`, which the first recorded call has the autograd package make."""
        return self._attach

    @attach.setter
    def attach(self, function: Any) -> None:
        self._attach = function
        if "attach_" + self.operator.name in RUNTIME:
            self.publish()

    def _first_attach(self, result: Any, *arguments: Any) -> None:
        self.attach = SERVICES.autograd().make_attach(self.operator)
        self.attach(result, *arguments)

    def publish(self) -> None:
        """Give the generated code its globals."""
        name = self.operator.name
        RUNTIME["OP_" + name], RUNTIME["BODY_" + name] = self.operator, self.operator.body
        RUNTIME["KERNELS_" + name], RUNTIME["attach_" + name] = self.kernels, self._attach
        base = self.operator.inplace_of or self.operator
        for parameter, accepted in base.accepts.items():
            RUNTIME[f"ACCEPTS_{base.name}_{parameter}"] = accepted.met

    def forget_gradient(self) -> None:
        """Ask the autograd package anew: a rule was attached to the operator, or taken back."""
        self.differentiable, self.attach = None, self._first_attach
