"""Attaching compiled kernels around those that Tenfold has; `ACCELERATED` lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm import mixing, session as sessions
from tenfold.llvm.elementwise import Formula, Operator
from tenfold.llvm.gates import gated
from tenfold.llvm.kernels.halves import in_float32
from tenfold.llvm.row_gates import row_gated

ACCELERATED: dict[str, Any] = {}


def elementwise(name: str, formula: Formula, roles: str = "x", *, into: bool = True, **options: Any) -> Operator:
    """Attach a formula to the operator of this name. `into`: also where it writes into a given array."""
    made = Operator(name, formula, roles, **options)
    ACCELERATED[name] = made
    if name in mixing.NAMES:
        mixing.KERNELS[name] = made

    def wrapped(beneath: Any) -> Any:
        lead(name, writes=not made.bool_result)
        return made.wrap(beneath)

    kernel(getattr(op, name), device="cpu", wrap=True, into=into, note="float32, float64, float16, bfloat16")(wrapped)
    return made


def chosen(name: str, serve: Callable[..., Any], arguments: int, note: str, least: int = 0, *, halves: int = 0) -> None:
    """Attach a function that serves an operator's calls on floats, or returns NotImplemented.

    `halves`: how many of its results are rounded where half precision is computed in float32, which 0 leaves to the function.
    """
    if halves:
        serve, note = in_float32(serve, halves), f"{note}; half precision in float32"
    ACCELERATED[name] = serve
    kernel(getattr(op, name), device="cpu", wrap=True, note=note)(gated(serve, arguments, least))


def rowwise(name: str, serve: Callable[..., Any], note: str, *gate: Any, **options: Any) -> None:
    """Attach a program over rows or columns, before which there is a native gate (`row_gated` has its arguments)."""
    ACCELERATED[name] = serve
    made = row_gated(serve, *gate, **options)

    def wrapped(beneath: Any) -> Any:
        lead(name)
        return made(beneath)

    kernel(getattr(op, name), device="cpu", wrap=True, note=note)(wrapped)


def lead(name: str, *, strided: bool = False, writes: bool = True) -> None:
    """Give the operator's function a native call path; `strided`: also for tensors that do not lie in one piece; `writes`: also
    where it writes into a given tensor."""
    session = sessions.session()
    if session is not None and session.paths is not None:
        session.paths.install(getattr(op, name), strided=strided, writes=writes)
