"""Softmax, its logarithm, and their gradients.

Along the last dimension they are programs over rows; along another one, neighbours go down it together (`inner_rows.py`), or
where these are few, the dimension is made the last one first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.llvm import maths
from tenfold.llvm.expressions import Expr, convert, load, walk
from tenfold.llvm.formats import in_one_piece
from tenfold.llvm.inner_rows import BLOCK, program as inner_program
from tenfold.llvm.kernels.attaching import rowwise
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled, Program, empty, suitable
from tenfold.llvm.rows import Array as Argument, Rows, keep, largest, total
from tenfold.llvm.storage import Stored

Array = np.ndarray[Any, Any]

INNER = Compiled("softmax along a dimension with others behind it", inner_program)
FEW, LONG = 16, 8  # neighbours that are too few for vectors, unless the dimension has fewer elements than this
SMALL = 512  # neighbourhoods that have been gone through before copies are made


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
        if not first.ndim or not first.size or any(a.shape != first.shape for a in given):
            return NotImplemented
        if dim not in (-1, first.ndim - 1):
            return _inner(name, serve, given, dim) if -first.ndim <= dim < first.ndim else NotImplemented
        given = [np.ascontiguousarray(a) for a in given]
        stored = suitable(*given)
        if stored is None:
            return NotImplemented
        out = empty(first.shape, stored)
        length = first.shape[-1]
        return out if program.rows((stored,), first.size // length, length, out, *given) else NotImplemented

    rowwise(name, serve, "floats", "r" * arrays + "l", "r", program, lambda stored: [(stored,)])


def _inner(name: str, serve: Any, given: list[Array], dim: int) -> Any:
    """Along a dimension that is not the last one."""
    given = [in_one_piece(a) for a in given]
    shape, dim = given[0].shape, dim % given[0].ndim
    length, inner = shape[dim], 1
    for n in shape[dim + 1 :]:
        inner *= n
    if inner < FEW and length >= LONG and given[0].size > SMALL * inner:
        found = serve(*(a.swapaxes(dim, -1) for a in given), -1)
        return found if found is NotImplemented else in_one_piece(found.swapaxes(dim, -1))
    stored = suitable(*given)
    if stored is None:
        return NotImplemented
    out, blocks = empty(shape, stored), -(-inner // BLOCK)
    items = given[0].size // (length * inner) * blocks
    grain = max(1, GRAIN_ELEMENTS // (length * min(inner, BLOCK)))
    return out if INNER.run((stored, name), items, grain, out, *given, length, inner, blocks) else NotImplemented


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
