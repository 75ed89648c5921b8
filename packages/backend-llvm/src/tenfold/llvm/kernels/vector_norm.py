"""Norms: roots of sums of squares, which are float32, as in PyTorch, and added up in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm.expressions import convert, load, sqrt
from tenfold.llvm.kernels.attaching import chosen
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
LEAST = 1 << 15  # elements of one norm, below which NumPy takes less time


def vector_norm(input: Array, ord: Any, dim: Any, keepdim: bool) -> Any:
    """The norm of all elements, or of each row."""
    stored = BY_DTYPE.get(input.dtype)
    if type(ord) not in (int, float) or ord != 2 or stored is not FLOAT32 or not input.flags.carray or not input.size:
        return NotImplemented
    if input.size == 1 or not input.ndim or input.shape[-1] == 1:  # of one element: its size, which no square rounds
        return NotImplemented
    if dim is None or (input.ndim == 1 and dim in (0, -1, (0,), (-1,), [0], [-1])):
        if input.size < LEAST:
            return NotImplemented
        found = _whole(input.reshape(-1))
        return NotImplemented if found is None else np.full([1] * input.ndim if keepdim else (), found, input.dtype)
    last = dim[0] if isinstance(dim, (tuple, list)) and len(dim) == 1 else dim
    if type(last) is not int or last not in (-1, input.ndim - 1):
        return NotImplemented
    lead, width = input.shape[:-1], input.shape[-1]
    out = np.empty((*lead, 1) if keepdim else lead, input.dtype)
    return out if NORM.rows((stored, stored), out.size, width, out, input) else NotImplemented


def _whole(x: Array) -> Any:
    """The norm of a row, in pieces, which threads share."""
    pieces = x.size // PIECE
    sums = np.zeros(pieces + 1)
    done = pieces == 0 or NORM.rows((FLOAT32, FLOAT64), pieces, PIECE, sums, x)
    rest = x[pieces * PIECE :]
    done = done and (not rest.size or NORM.rows((FLOAT32, FLOAT64), 1, rest.size, sums[pieces:], rest))
    with np.errstate(over="ignore"):
        return np.sqrt(np.add.reduce(sums).astype(np.float32)) if done else None


chosen("vector_norm", vector_norm, 4, "float32 in one piece, of all elements or along the last dimension", halves=1)
