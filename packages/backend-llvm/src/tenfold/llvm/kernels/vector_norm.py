"""Norms: roots of sums of squares, which are float32, as in PyTorch, and added up in float64."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm.expressions import convert, load, sqrt
from tenfold.llvm.kernels.attaching import chosen, lead
from tenfold.llvm.kernels.reduction import PIECE
from tenfold.llvm.programs import Program
from tenfold.llvm.rows import Array as Argument, Rows, total
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64, Stored

Array = np.ndarray[Any, Any]


def _program(stored: Stored, result: Stored) -> Rows:
    x = load(0, stored.computed)
    value = total(convert(x * x, "double"))
    made = value if result is FLOAT64 else sqrt(convert(value, result.computed))
    return Rows(((made, Argument(result, "scalar")),), (Argument(stored, "row"),))


NORM = Program("norms", _program)
LONG = 1 << 15  # elements of one norm from which it is made in pieces


def vector_norm(input: Array, ord: Any, dim: Any, keepdim: bool) -> Any:
    """The norm of all elements, or over the last dimensions."""
    stored = BY_DTYPE.get(input.dtype)
    if type(ord) not in (int, float) or ord != 2 or stored is not FLOAT32 or not input.flags.carray or not input.size:
        return NotImplemented
    lead = _left(input.ndim, dim)
    if lead is None:
        return NotImplemented
    shape = input.shape[:lead]
    count = prod(shape)
    width = input.size // count
    if width == 1:  # of one element: its size, which no square rounds
        return NotImplemented
    if keepdim:
        shape += (1,) * (input.ndim - lead)
    if count == 1 and width >= LONG:
        found = _whole(input.reshape(-1))
        return NotImplemented if found is None else np.full(shape, found, input.dtype)
    out = np.empty(shape, input.dtype)
    return out if NORM.rows((stored, stored), count, width, out, input) else NotImplemented


def _left(ndim: int, dim: Any) -> int | None:
    """How many dimensions stay, the first ones; None where others would."""
    if dim is None:
        return 0
    if type(dim) is int:
        return ndim - 1 if dim in (-1, ndim - 1) else None
    if type(dim) not in (tuple, list) or not all(type(d) is int and -ndim <= d < ndim for d in dim):
        return None
    lead = ndim - len(dim) if dim else 0
    return lead if {d % ndim for d in dim} == set(range(lead, ndim)) or not dim else None


def _whole(x: Array) -> Any:
    """The norm of a row, in pieces, which threads share."""
    pieces = x.size // PIECE
    sums = np.zeros(pieces + 1)
    done = pieces == 0 or NORM.rows((FLOAT32, FLOAT64), pieces, PIECE, sums, x)
    rest = x[pieces * PIECE :]
    done = done and (not rest.size or NORM.rows((FLOAT32, FLOAT64), 1, rest.size, sums[pieces:], rest))
    with np.errstate(over="ignore"):
        return np.sqrt(np.add.reduce(sums).astype(np.float32)) if done else None


def _as_arrays(beneath: Any) -> Any:
    """NumPy's numbers as arrays, of which native code makes tensors."""
    lead("vector_norm", writes=False)

    def norm(*arguments: Any) -> Any:
        made = beneath(*arguments)
        return made if made is NotImplemented else np.asarray(made)

    return norm


kernel(op.vector_norm, device="cpu", wrap=True, note="numbers as arrays")(_as_arrays)
chosen("vector_norm", vector_norm, 4, "float32 in one piece, over the last dimensions", halves=1)
