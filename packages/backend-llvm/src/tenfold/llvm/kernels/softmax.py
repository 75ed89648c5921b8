"""Softmax, its logarithm, and their gradients, along the last dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.llvm import maths
from tenfold.llvm.expressions import Expr, convert, load, walk
from tenfold.llvm.kernels.attaching import rowwise
from tenfold.llvm.programs import Program, empty, suitable
from tenfold.llvm.rows import Array as Argument, Rows, keep, largest, total
from tenfold.llvm.storage import Stored

Array = np.ndarray[Any, Any]


def _softmax(x: Expr) -> Expr:
    e = keep(maths.exp_of_negative(x - largest(x)), 0)
    return e * convert(1.0 / total(e), x.type)


def _log_softmax(x: Expr) -> Expr:
    shifted = x - largest(x)
    return shifted - convert(maths.log(total(maths.exp_of_negative(shifted))), x.type)


def _softmax_gradient(g: Expr, out: Expr) -> Expr:
    return (g - convert(total(g * out), g.type)) * out


def _log_softmax_gradient(g: Expr, out: Expr) -> Expr:
    return g - maths.exp(out) * convert(total(g), g.type)


def attach(name: str, formula: Callable[..., Expr], arrays: int) -> None:
    """Serve an operator of some arrays and a dimension by a formula over rows."""

    def make(stored: Stored) -> Rows:
        # Half precision keeps no intermediate values: they would be rounded.
        values = [load(i, stored.computed) for i in range(arrays)]
        result = formula(*values)
        return Rows(((_unkept(result) if stored.size == 2 else result, row(stored)),), (row(stored),) * arrays)

    program = Program(name, make)

    def serve(*arguments: Any) -> Any:
        *given, dim = arguments
        first = given[0]
        if not first.ndim or not first.size or dim not in (-1, first.ndim - 1) or any(a.shape != first.shape for a in given):
            return NotImplemented
        given = [np.ascontiguousarray(a) for a in given]
        stored = suitable(*given)
        if stored is None:
            return NotImplemented
        out = empty(first.shape, stored)
        length = first.shape[-1]
        return out if program.rows((stored,), first.size // length, length, out, *given) else NotImplemented

    rowwise(name, serve, "floats, the last dimension", "r" * arrays + "l", "r", program, lambda stored: [(stored,)])


def row(stored: Stored) -> Argument:
    return Argument(stored, "row")


def _unkept(root: Expr) -> Expr:
    """The same expression without `keep`."""
    made: dict[Expr, Expr] = {}
    for e in walk(root):
        args = tuple(made[a] for a in e.args)
        made[e] = args[0] if e.op == "keep" else Expr(e.op, e.type, args, e.value)
    return made[root]


attach("softmax", _softmax, 1)
attach("log_softmax", _log_softmax, 1)
attach("softmax_backward", _softmax_gradient, 2)
attach("log_softmax_backward", _log_softmax_gradient, 2)
