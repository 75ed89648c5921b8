"""Attaching compiled kernels around those that Tenfold has; `ACCELERATED` lists them."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm import mixing, session as sessions
from tenfold.llvm.elementwise import Formula, Operator
from tenfold.llvm.gates import gated
from tenfold.llvm.kernels.halves import HALVES, in_float32
from tenfold.llvm.matrix_unit import there
from tenfold.llvm.row_gates import row_gated
from tenfold.llvm.storage import BFLOAT16

ACCELERATED: dict[str, Any] = {}


def elementwise(name: str, formula: Formula, roles: str = "x", *, into: bool = True, **options: Any) -> Operator:
    """Attach a formula to the operator of this name. `into`: also where it writes into a given array."""
    made = Operator(name, formula, roles, **options)
    ACCELERATED[name] = made
    if name in mixing.NAMES:
        mixing.KERNELS[name] = made

    def wrapped(beneath: Any) -> Any:
        lead(name, writes=into and not made.bool_result)
        return made.wrap(beneath)

    kernel(getattr(op, name), device="cpu", wrap=True, into=into, note="float32, float64, float16, bfloat16")(wrapped)
    return made


def chosen(
    name: str, serve: Callable[..., Any], arguments: int, note: str, least: int = 0, *, halves: int = 0,
    unit: Callable[..., Any] | None = None,
) -> None:  # fmt: skip
    """Attach a function that serves an operator's calls on floats, or returns NotImplemented.

    `halves`: how many of its results are rounded where half precision is computed in float32, which 0 leaves to the function.
    `unit`: what serves bfloat16 by the processor's unit for it. Calls of other dtypes pass both by in native code.
    """
    layers, known = [gated(serve, arguments, least)], [serve]
    if halves:
        known.insert(0, in_float32(serve, halves))
        layers.append(gated(known[0], arguments, least, HALVES))
        note += "; half precision in float32"
    if unit is not None:
        known.insert(0, unit)
        layers.append(by_unit(unit, arguments))
    ACCELERATED[name] = in_turn(*known)
    kernel(getattr(op, name), device="cpu", wrap=True, note=note)(
        lambda beneath: reduce(lambda under, layer: layer(under), layers, beneath)
    )


def by_unit(serve: Callable[..., Any], arguments: int) -> Callable[[Any], Any]:
    """What puts a function of bfloat16 by the processor's unit for it before a kernel, if there is such a unit."""
    if not there():
        return lambda beneath: beneath
    return gated(serve, arguments, 0, (BFLOAT16,))  # type: ignore[no-any-return]


def in_turn(*serves: Callable[..., Any]) -> Callable[..., Any]:
    """What the first of some functions serves that does not leave the call to the others."""
    if len(serves) == 1:
        return serves[0]

    def serve(*arguments: Any) -> Any:
        answers = (function(*arguments) for function in serves)
        return next((answer for answer in answers if answer is not NotImplemented), NotImplemented)

    return serve


def rowwise(name: str, serve: Callable[..., Any], note: str, *gate: Any, **options: Any) -> None:
    """Attach a program over rows or columns, before which there is a native gate (`row_gated` has its arguments)."""
    ACCELERATED[name] = serve
    made = row_gated(serve, *gate, **options)

    def wrapped(beneath: Any) -> Any:
        lead(name)
        return made(beneath)

    kernel(getattr(op, name), device="cpu", wrap=True, note=note)(wrapped)


def led(*names: str) -> None:
    """Give operators a native call path whose kernels are those beneath, as they are."""
    for name in names:
        lead(name, writes=False, any_kernel=True)


def lead(name: str, *, strided: bool = False, writes: bool = True, any_kernel: bool = False) -> None:
    """Give the operator's function a native call path; `strided`: also for tensors that do not lie in one piece; `writes`: also
    where it writes into a given tensor; `any_kernel`: also to one that is not native."""
    session = sessions.session()
    if session is not None and session.paths is not None:
        session.paths.install(getattr(op, name), strided=strided, writes=writes, any_kernel=any_kernel)


def quickly(*functions: Callable[..., Any]) -> None:
    """Let functions be asked before the composites of their names, where there are native call paths."""
    session = sessions.session()
    if session is not None and session.paths is not None:
        for function in functions:
            operator = getattr(op, function.__name__)
            session.paths.lead_by(operator.fn, session.paths.viewer.quick(function, of=operator))
