"""Extremes with their positions, and the first few in order: of small arrays, in one pass."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm import positions, session as sessions
from tenfold.llvm.formats import in_one_piece
from tenfold.llvm.gates import gated
from tenfold.llvm.kernels import scans
from tenfold.llvm.kernels.attaching import ACCELERATED, lead
from tenfold.llvm.leading import FEW, leading
from tenfold.llvm.programs import Compiled, suitable
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64, FLOATING, INT64, Stored

Array = np.ndarray[Any, Any]
MOST = 1 << 15  # elements of an array up to which NumPy's calls cost more than what its longer rows gain
SHORT = 128  # elements of a row up to which they gain nothing
ON_STACK = 1 << 16  # elements of a row that stand on the stack while they are put in order

EXTREME, LEADING = Compiled("extremes and positions", positions.extreme), Compiled("the first few", leading)


def _served(x: Array) -> Stored | None:
    """The dtype of an array that is searched here."""
    stored = suitable(x) if x.ndim and x.size else None
    return stored if stored is FLOAT32 or stored is FLOAT64 else None


def _run(program: Compiled, key: tuple[Any, ...], items: int, each: int, *arguments: Any) -> bool:
    return program.run(key, items, max(1, MOST // max(1, each)), *arguments)


def with_position(kind: str, x: Array, dim: int, keepdim: bool) -> Any:
    """(extremes, their positions) along a dimension."""
    stored = _served(x)
    if stored is None or type(dim) is not int or not -x.ndim <= dim < x.ndim:
        return NotImplemented
    dim %= x.ndim
    shape = x.shape
    length, before, after = shape[dim], shape[:dim], shape[dim + 1 :]
    inner = prod(after)
    if x.size > MOST and length > SHORT and inner == 1:
        return NotImplemented
    out = (*before, 1, *after) if keepdim else before + after
    values, where = np.empty(out, x.dtype), np.empty(out, np.int64)
    done = _run(EXTREME, (stored, kind, True), where.size, length, x, where, values, length, inner)
    return (values, where) if done else NotImplemented


def position(kind: str, x: Array, dim: Any, keepdim: bool) -> Any:
    """The position of an extreme, along a dimension or of all elements in a row."""
    stored = _served(x)
    if stored is None:
        return NotImplemented
    if dim is None:
        length, inner, out = x.size, 1, (1,) * x.ndim if keepdim else ()
    elif type(dim) is int and -x.ndim <= dim < x.ndim:
        dim %= x.ndim
        before, after = x.shape[:dim], x.shape[dim + 1 :]
        length, inner, out = x.shape[dim], prod(after), (*before, 1, *after) if keepdim else before + after
    else:
        return NotImplemented
    if x.size > MOST and inner == 1:
        return NotImplemented
    where = np.empty(out, np.int64)
    return where if _run(EXTREME, (stored, kind, False), where.size, length, x, where, where, length, inner) else NotImplemented


def topk(input: Array, k: int, dim: int, largest: bool, sorted: bool) -> Any:
    """The first few, in order or not."""
    if type(input) is not np.ndarray or not input.size or type(k) is not int or not -input.ndim <= dim < input.ndim:
        return NotImplemented
    length, stored = input.shape[dim], BY_DTYPE[input.dtype]
    if not 0 < k <= length:
        return NotImplemented
    last = dim in (-1, input.ndim - 1)
    rows = in_one_piece(input if last else input.swapaxes(dim, -1))
    shape = (*rows.shape[:-1], k)
    values, where = np.empty(shape, input.dtype), np.empty(shape, np.int64)
    items, room = input.size // length, k if k * FEW <= length else length
    given = () if room <= ON_STACK else (np.empty(items * room, f"i{stored.size}"), np.empty(items * room, np.int64))
    key = stored, "largest" if largest else "smallest", bool(sorted), bool(given)
    if not _run(LEADING, key, items, length, rows, values, where, length, k, *given):
        return NotImplemented
    if not last:
        turned = (a.swapaxes(dim, -1) for a in (values, where))
        values, where = (in_one_piece(a).reshape(-1).reshape(a.shape) for a in turned)  # of size 1 the usual strides
    return values, where


# The words of the gate, as native/along.ll reads them.
BENEATH, SERVE, MOST_WORD, KIND, DTYPES, INDEX, LOOPS, WORDS = 0, 1, 2, 3, 8, 12, 16, 20
LIKE, POSITIONS, PAIR = range(3)
ALONE = 1 << 14  # elements that one thread goes through, under the interpreter's lock


def _along(name: str, serve: Any, kind: int, program: Compiled, *variant: Any) -> None:
    """Attach a function with a native gate before it."""

    def wrapped(beneath: Any) -> Any:
        session = sessions.session()
        if session is None:
            return beneath
        words = np.zeros(WORDS, np.int64)
        session.native.keep.append((beneath, serve))
        words[[BENEATH, SERVE, MOST_WORD, KIND, INDEX]] = id(beneath), id(serve), ALONE, kind, id(INT64.dtype)
        for i, stored in enumerate((FLOAT32, FLOAT64)):
            words[DTYPES + i] = id(stored.dtype)
            program.enter((stored if kind != LIKE else stored.dtype, *variant), words, LOOPS + i)
        return session.native.builtin("along_gate", words)

    ACCELERATED[name] = serve
    kernel(getattr(op, name), device="cpu", wrap=True, note=NOTE)(wrapped)


NOTE = f"float32 and float64 in one piece; longer rows of more than {MOST} elements are NumPy's"
for _end, _kind in (("max", "largest"), ("min", "smallest")):
    _along(f"{_end}_dim", partial(with_position, _kind), PAIR, EXTREME, _kind, True)
    _along(f"arg{_end}", partial(position, _kind), POSITIONS, EXTREME, _kind, False)
    lead(f"arg{_end}")


ACCELERATED["topk_pair"] = topk
kernel(op.topk_pair, device="cpu", wrap=True, note=f"{', '.join(stored.dtype.name for stored in FLOATING)}")(gated(topk, 5))
for _name, _serve, _kind in (("cumsum", scans.cumsum, "sum"), ("cumprod", scans.cumprod, "product")):
    _along(_name, _serve, LIKE, scans.RUNNING, _kind)
    lead(_name)
