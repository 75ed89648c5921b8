"""Sums, means and extremes along any dimensions."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.columns import Columns
from tenfold.llvm.expressions import convert, is_nan, load, select
from tenfold.llvm.kernels.attaching import rowwise
from tenfold.llvm.programs import Program, empty, suitable
from tenfold.llvm.rows import Array as Argument, Rows, largest, length, product, total
from tenfold.llvm.storage import FLOAT64, Stored

Array = np.ndarray[Any, Any]
LEAST = 1 << 14  # elements from which the compiled loops win more than the planning in Python of other layouts costs
PIECE = 1 << 16  # of a long row, whose pieces several threads add
LONG = 8 * PIECE  # elements of a row from which pieces gain more than they cost
KINDS = ("total", "mean", "largest", "smallest", "product", "total of numbers")
# What joins the results of a row's pieces.
OF_PIECES = {"total": "total", "largest": "largest", "product": "product", "total of numbers": "total"}


def _program(kind: str, stored: Stored, result: Stored, layout: str) -> Rows | Columns:
    x = load(0, stored.computed)
    if kind == "smallest":
        value = -largest(-x)
    elif kind == "largest":
        value = largest(x)
    elif kind == "product":
        value = convert(product(convert(x, "double")), result.computed)
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
    result = _in_stages(kind, x, dim, keepdim)
    if result is not None:
        return result
    dims = dimensions(x, dim)
    if dims is None:
        return NotImplemented
    shape = tuple(1 if d in dims else n for d, n in enumerate(x.shape) if keepdim or d not in dims)
    if not x.flags.c_contiguous:
        x, dims = _as_it_lies(x, dims)
    stored = suitable(x)
    if stored is None:
        return NotImplemented
    count = prod(x.shape[d] for d in dims)
    if dims[-1] - dims[0] + 1 == len(dims):
        result = _adjacent(kind, x, x.shape[: dims[0]], count, x.shape[dims[-1] + 1 :], stored)
    else:
        result = _apart(kind, x, dims, stored)
    return NotImplemented if result is None else result.reshape(shape)


def _in_stages(kind: str, x: Array, dim: Any, keepdim: bool) -> Any:
    """The reduction over several dimensions, neighbours at a time, as was planned for the shape; None where it has no plan."""
    if type(dim) is not tuple or x.size >= LONG or not x.flags.c_contiguous or any(type(d) is not int for d in dim):
        return None
    stored, (shape, stages) = suitable(x), _plan(x.shape, dim, keepdim)
    if stored is None or not stages:
        return None
    given, held, now = x, stored, kind
    for left, (parts, count, width) in enumerate(stages, 1 - len(stages)):
        last = not left
        result = stored if last else _between(kind, stored)
        out = empty(shape if last else (parts * width,), result)
        if width > 1:
            done = PROGRAM.columns((now, held, result, "columns"), parts, count, width, out, given)
        else:
            done = PROGRAM.rows((now, held, result, "rows"), parts, count, out, given)
        if not done:
            return None
        given, held, now = out, result, OF_PIECES.get(kind, kind)
    return out


@lru_cache(maxsize=1 << 10)
def _plan(
    shape: tuple[int, ...], dim: tuple[int, ...], keepdim: bool
) -> tuple[tuple[int, ...], tuple[tuple[int, int, int], ...]]:
    """The result's shape, and of neighbours among the dimensions, the last ones first, (what is before, they, what is behind)."""
    dims = {d % len(shape) for d in dim if -len(shape) <= d < len(shape)}
    if not dims or len(dims) < len(dim):
        return (), ()
    left, stages, d = list(shape), [], len(shape)
    while d:
        d -= 1
        if d in dims:
            end = d + 1
            while d - 1 in dims:
                d -= 1
            stages.append((prod(left[:d]), prod(left[d:end]), prod(left[end:])))
            left[d:end] = [1] * (end - d)
    return tuple(1 if d in dims else n for d, n in enumerate(shape) if keepdim or d not in dims), tuple(stages)


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
    """The dtype between two passes: sums, means and products are kept in float64."""
    return stored if kind in ("largest", "smallest") else FLOAT64


def _apart(kind: str, x: Array, dims: list[int], stored: Stored) -> Any:
    """Dimensions that are not neighbours: the last neighbours first."""
    first = len(dims) - 1
    while first and dims[first - 1] == dims[first] - 1:
        first -= 1
    inner = dims[first:]
    between = _between(kind, stored)
    before, after = x.shape[: inner[0]], x.shape[inner[-1] + 1 :]
    part = _adjacent(kind, x, before, prod(x.shape[d] for d in inner), after, stored, between)
    if part is None:
        return None
    rest = part.reshape(*before, *[1] * len(inner), *after)
    result = reduce(OF_PIECES.get(kind, kind), rest, tuple(dims[:first]), True)
    return None if result is NotImplemented else result.astype(stored.dtype, copy=False)


def _adjacent(
    kind: str, x: Array, before: tuple[int, ...], count: int, after: tuple[int, ...], stored: Stored, result: Stored | None = None
) -> Any:
    """The reduction of (*before, count, *after) over its middle."""
    result = result or stored
    out = empty((*before, *after), result)
    parts, width = prod(before), prod(after)
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


def _attach(name: str, kind: str) -> None:
    def serve(input: Array, dim: Any, keepdim: bool) -> Any:
        return reduce(kind, input, dim, keepdim)

    def keys(stored: Stored) -> list[Any]:
        return [(kind, stored, stored, layout) for layout in ("rows", "columns")]

    note = f"floats in one piece; other layouts from {LEAST} elements"
    rowwise(name, serve, note, "rdk", "d", PROGRAM, keys, serve_least=256)


for _name, _kind in (("sum", "total"), ("mean", "mean"), ("amax", "largest"), ("amin", "smallest"), ("prod", "product")):
    _attach(_name, _kind)
