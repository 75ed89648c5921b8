"""Sums, means and extremes along any dimensions."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.columns import Columns
from tenfold.llvm.expressions import convert, is_nan, load, select
from tenfold.llvm.kernels.attaching import rowwise
from tenfold.llvm.product_rows import ProductRows
from tenfold.llvm.programs import Program, empty, suitable
from tenfold.llvm.rows import Array as Argument, Rows, largest, length, product, total
from tenfold.llvm.storage import BY_DTYPE, FLOAT64, Stored

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]
Passes = tuple[tuple[int, int, int], ...]
LEAST = 1 << 14  # elements from which the compiled loops win more than the planning in Python of other layouts costs
NUMPYS = 256  # elements below which NumPy takes less time for extremes, and for sums of what does not lie row by row
ADDED = 65  # below which it does for sums
PIECE = 1 << 16  # of a long row, whose pieces several threads add
LONG = 8 * PIECE  # elements of a row from which pieces gain more than they cost
KINDS = ("total", "mean", "largest", "smallest", "product", "total of numbers")
# What joins the results of a row's pieces.
OF_PIECES = {"total": "total", "largest": "largest", "product": "product", "total of numbers": "total"}


def _program(kind: str, stored: Stored, result: Stored, layout: str) -> Rows | Columns | ProductRows:
    x = load(0, stored.computed)
    if kind == "smallest":
        value = -largest(-x)
    elif kind == "largest":
        value = largest(x)
    elif kind == "product":
        if layout == "rows":
            return ProductRows(stored)
        value = product(x, stored)
    else:
        added = total(select(is_nan(x), 0.0, x) if kind == "total of numbers" else x)
        value = convert(added / length("double") if kind == "mean" else added, result.computed)
    if layout == "rows":
        return Rows(((value, Argument(result, "scalar")),), (Argument(stored, "row"),))
    return Columns(((value, Argument(result, "column")),), (Argument(stored, "row"),))


PROGRAM = Program("reductions", _program)


def dimensions(x: Array, dim: Any) -> list[int] | None:
    """The dimensions to reduce, in order; None where the kernel beneath has to say what is wrong."""
    if isinstance(dim, np.integer):
        dim = int(dim)
    given = range(x.ndim) if dim is None else (dim,) if type(dim) is int else tuple(dim) or range(x.ndim)
    if any(type(d) is not int or not -x.ndim <= d < x.ndim for d in given):
        return None
    found = sorted({d % x.ndim for d in given})
    return found if len(found) == len(given) else None


def reduce(kind: str, x: Array, dim: Any, keepdim: bool) -> Any:
    """The reduction of an array that lies in one piece, or NotImplemented. `kind`: one of KINDS."""
    if not x.ndim or not x.size:
        return NotImplemented
    if dim is None and not keepdim:  # the common call, in few steps
        result = _whole(kind, x)
        if result is not None:
            return result
    if type(dim) is int and (dim == -1 or dim == x.ndim - 1) and x.shape[-1] < LONG:
        stored = suitable(x)
        if stored is not None:
            lead, width = x.shape[:-1], x.shape[-1]
            out = empty((*lead, 1) if keepdim else lead, stored)
            if PROGRAM.rows((kind, stored, stored, "rows"), x.size // width, width, out, x):
                return out
    x, shape, passes = _planned(x, tuple(dim) if type(dim) is list else dim, keepdim)
    stored = result = suitable(x)
    if stored is None or result is None or not passes:
        return NotImplemented
    last = len(passes) - 1
    for k, sizes in enumerate(passes):
        found = _adjacent(kind, x, *sizes, stored, result if k == last else _between(kind, result))
        if found is None:
            return NotImplemented
        x, stored, kind = found, BY_DTYPE[found.dtype], OF_PIECES.get(kind, kind)
    return x.reshape(shape)


def _planned(x: Array, dim: Any, keepdim: bool) -> tuple[Array, Sizes, Passes]:
    """An array as it is gone through, the result's shape, and the passes; none where the kernel beneath has the words."""
    if type(dim) is tuple and x.flags.c_contiguous and all(type(d) is int for d in dim):
        return x, *_plan(x.shape, dim, keepdim)
    dims = dimensions(x, dim)
    if dims is None:
        return x, (), ()
    shape, passes = _plan(x.shape, tuple(dims), keepdim)
    if not x.flags.c_contiguous:
        x, dims = _as_it_lies(x, dims)
        passes = _plan(x.shape, tuple(dims), keepdim)[1]
    return x, shape, passes


@lru_cache(maxsize=1024)
def _plan(shape: Sizes, dim: Sizes, keepdim: bool) -> tuple[Sizes, Passes]:
    """The result's shape, and the passes over neighbours, the last ones first: the elements before, along and behind them.

    No passes where the dimensions are none, not there or given twice.
    """
    dims = {d % len(shape) for d in dim if -len(shape) <= d < len(shape)}
    if not dims or len(dims) < len(dim):
        return (), ()
    left, sizes, passes = sorted(d for d in dims if shape[d] > 1) or [max(dims)], list(shape), []
    while left:
        first = len(left) - 1
        while first and prod(sizes[left[first - 1] + 1 : left[first]]) == 1:
            first -= 1
        part, left = left[first:], left[:first]
        passes.append((prod(sizes[: part[0]]), prod(sizes[part[0] : part[-1] + 1]), prod(sizes[part[-1] + 1 :])))
        sizes[part[0] : part[-1] + 1] = [1] * (part[-1] + 1 - part[0])
    return tuple(1 if d in dims else n for d, n in enumerate(shape) if keepdim or d not in dims), tuple(passes)


def _as_it_lies(x: Array, dims: list[int]) -> tuple[Array, list[int]]:
    """An array whose dimensions lie in another order turned so that it lies row by row, if those that stay keep their order."""
    order = sorted(range(x.ndim), key=lambda d: -x.strides[d])
    turned = x.transpose(order)
    stay = [d for d in order if d not in dims]
    if not turned.flags.c_contiguous or stay != sorted(stay):
        return x, dims
    return turned, [place for place, d in enumerate(order) if d in dims]


def _whole(kind: str, x: Array) -> Any:
    """The reduction of all elements; None where it takes more than a pass over one row or its pieces."""
    stored = suitable(x)
    if stored is None:
        return None
    if x.size >= LONG:
        return _long_row(kind, x.reshape(-1), stored, stored) if kind in OF_PIECES else None
    out = np.empty((), x.dtype)
    return out if PROGRAM.rows((kind, stored, stored, "rows"), 1, x.size, out, x) else None


def _between(kind: str, stored: Stored) -> Stored:
    """The dtype between two passes: sums and means are kept in float64."""
    return stored if kind in ("largest", "smallest", "product") else FLOAT64


def _adjacent(kind: str, x: Array, parts: int, count: int, width: int, stored: Stored, result: Stored) -> Any:
    """The reduction of (parts, count, width) over its middle."""
    out = empty((parts * width,), result)
    if width > 1:
        done = PROGRAM.columns((kind, stored, result, "columns"), parts, count, width, out, x)
    elif parts == 1 and count >= LONG and kind in OF_PIECES:
        return _long_row(kind, x.reshape(-1), stored, result)
    elif parts == 1 and count >= LONG and kind == "mean":
        whole = _long_row("total", x.reshape(-1), stored, FLOAT64)
        return None if whole is None else np.asarray(whole / count, result.dtype)
    else:
        done = PROGRAM.rows((kind, stored, result, "rows"), parts, count, out, x)
    return out if done else None


def _long_row(kind: str, x: Array, stored: Stored, result: Stored) -> Any:
    """One long row, in pieces."""
    pieces = -(-x.size // PIECE)
    between = _between(kind, stored)
    part = np.empty(pieces, between.dtype)
    key = (kind, stored, between, "rows")
    whole = x.size // PIECE
    if not PROGRAM.rows(key, whole, PIECE, part, x):
        return None
    if whole < pieces:
        PROGRAM.rows(key, 1, x.size - whole * PIECE, part[whole:], x[whole * PIECE :])
    out = np.empty((), result.dtype)
    return out if PROGRAM.rows((OF_PIECES[kind], between, result, "rows"), 1, pieces, out, part) else None


def _attach(name: str, kind: str, least: int) -> None:
    def serve(input: Array, dim: Any, keepdim: bool) -> Any:
        if input.size < NUMPYS and not input.flags.c_contiguous:
            return NotImplemented
        return reduce(kind, input, dim, keepdim)

    def keys(stored: Stored) -> list[Any]:
        return [(kind, stored, stored, layout) for layout in ("rows", "columns")]

    note = f"floats in one piece; other layouts from {LEAST} elements"
    rowwise(name, serve, note, "rdk", "d", PROGRAM, keys, serve_least=least)


for _name, _kind in (("sum", "total"), ("mean", "mean"), ("amax", "largest"), ("amin", "smallest"), ("prod", "product")):
    _attach(_name, _kind, ADDED if _kind in ("total", "mean") else NUMPYS)
