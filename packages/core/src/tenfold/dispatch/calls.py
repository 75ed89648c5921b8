"""What the calls of an operator have found so far, and the stub that stands for its code until the first.

The generated code (callpath.py) reads a `Calls` object's fields as globals of its own, `KERNELS_add`, `attach_add`,
`OP_add`, `BODY_add`: a look-up less. Everything else reads, fills and clears the object.
"""

from __future__ import annotations

import ast
from collections import UserString
from collections.abc import Callable
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


class Source(UserString):
    """The text of the code that an operator's calls run, made when it is read."""

    def __init__(self, made_of: Operator | str) -> None:
        self.made_of = made_of

    @property
    def data(self) -> str:  # type: ignore[override]
        if isinstance(self.made_of, str):  # a part of such a text
            return self.made_of
        return SERVICES.source(self.made_of)


def first_call(make: Callable[[], Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """What a stub does: `make` replaces its code, the new code runs; returns (result, None) or (None, exception).

    The stub raises the exception, so its frame takes the place of the new code's, and tracebacks of the first call have
    the frames that those of later calls have.
    """
    function = make()
    _find_kernel(function.op, args)
    try:
        return function(*args, **kwargs), None
    except BaseException as error:  # noqa: BLE001 - raised again by the stub
        made = error.__traceback__.tb_next if error.__traceback__ else None
        return None, error.with_traceback(made and made.tb_next)


def _find_kernel(operator: Operator, args: tuple[Any, ...]) -> None:
    """Look the kernel up that the call will want, which else is done on a longer path."""
    key = getattr(args[0], "_key", None) if args else None
    if key is not None and key.level is None and not key.override:
        for form in (operator, operator.inplace_of):
            if form is not None:
                RUNTIME["kernel_for"](form, key)


def stub_code(make: str, name: str) -> Any:
    """The code of a function until its first call, which has `RUNTIME[make](name, ...)` replace it."""
    constants = tuple(name if c == "?" else c for c in STUB.co_consts)
    names = tuple(make if n == "make" else n for n in STUB.co_names)
    return STUB.replace(co_consts=constants, co_names=names, co_name=name, co_qualname=name, co_filename=f"<tenfold {name}>")


def _stub() -> Any:
    tree = ast.parse(
        "def stub(*args, **kwargs):\n result, error = make('?', args, kwargs)\n if error: raise error\n return result"
    )
    for node in ast.walk(tree):  # all in the first line, of the code that takes the stub's place
        if isinstance(node, (ast.stmt, ast.expr, ast.arg)):
            node.lineno, node.end_lineno, node.col_offset, node.end_col_offset = 1, 1, 0, 0
    return compile(tree, "<tenfold>", "exec").co_consts[0]


STUB = _stub()
