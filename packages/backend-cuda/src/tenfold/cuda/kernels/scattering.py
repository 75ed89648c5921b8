"""Scattering along one dimension.

Sums and means are made by additions, the greatest and the least by keys in the order of the numbers, products in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import array_indexing, places as at, sums
from tenfold.cuda.kernels.array_kernels import cast
from tenfold.cuda.kernels.conversion import clone_contiguous
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.handwritten import Handwritten, contiguous, start
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.kernels.sums import I64, row, target
from tenfold.dispatch.operators import op
from tenfold.ops.indexing.along import REDUCTIONS
from tenfold.settings.determinism import are_deterministic_algorithms_enabled

_on_host = through_host("scatter_reduce")
BLOCK = 1024


def fitting(out: Any, dim: int, index: Any, src: Any) -> tuple[Any, at.Places, Any, Any]:
    """(the rows that are written, the places, the values, their strides on the places) of a scatter; None without places."""
    now = runtime.current()
    if hasattr(src, "shape"):
        if src.dtype != out.dtype:
            raise ValueError("scatter: dtypes differ")
        src = row(src)
    else:
        src = now.from_host(np.broadcast_to(np.asarray(src).astype(out.dtype), (1,)), now.index_of(out))
        src = now.view(src, index.shape or (1,), (0,) * max(index.ndim, 1), now.memory(src)[2], out.dtype)
    rows, positions = row(out), row(index)
    places = at.along(positions, dim, rows.shape)
    if src.ndim != positions.ndim or any(m > n for m, n in zip(positions.shape, src.shape)):
        raise ValueError("scatter: the index is larger than src")
    return rows, places, src, src.strides


@kernel(op.scatter_set, device="cuda", plays=True)
def scatter_set(input: Any, dim: int, index: Any, src: Any) -> Any:
    return put(input, dim, index, src, None)


def put(input: Any, dim: int, index: Any, src: Any, out: Any) -> Any:
    """The input, in `out` if that is given, with an array or one number put to places along a dimension."""
    out = target(input, out)
    if index.size:
        rows, places, values, strides = fitting(out, dim, index, src)
        if not at.run("set", "scatter", values, strides, rows, places):
            array_indexing.scatter(rows, places, values, add=False)
    return out


@kernel(op.scatter_add, device="cuda", into=True, plays=are_deterministic_algorithms_enabled)
def scatter_add(input: Any, dim: int, index: Any, src: Any, out: Any = None) -> Any:
    if not index.size:
        return target(input, out)
    _, places, values, strides = fitting(input, dim, index, src)
    found = sums.added("scatter", input, out, places, values, strides)
    if found is None:
        found = target(input, out)
        array_indexing.scatter(row(found), places, values, add=True)
    return found


@kernel(op.scatter_reduce, device="cuda")
def scatter_reduce(input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool) -> Any:
    if not index.size:
        return clone_contiguous(input)
    if reduce not in REDUCTIONS or (input.dtype.kind == "c" and reduce in ("amax", "amin")):
        raise NotImplementedError(reduce)
    if input.dtype.name == "uint64" and reduce in ("amax", "amin"):
        return _flipped(scatter_reduce(_flipped(input, I64), dim, index, _flipped(src, I64), reduce, include_self), input.dtype)
    work = clone_contiguous(input)
    rows, places, values, strides = fitting(work, dim, index, src)
    if reduce in ("amax", "amin"):
        found = _extreme(rows, places, values, strides, reduce == "amin", include_self)
    elif reduce == "prod":
        found = cast(rows, sums.accumulator(rows.dtype))
        if not sums.in_order("scatter", "prod", found, places, values, strides, 2 if include_self else 3):
            found = None
    else:
        found = _added(rows, places, values, strides, reduce == "mean", include_self)
    if found is None:
        return _on_host(input, dim, index, src, reduce, include_self)
    return cast(found, input.dtype).reshape(input.shape)


def _flipped(array: Any, dtype: Any) -> Any:
    """Whole numbers of 64 bits without a sign as those with one that are in the same order, or back."""
    now = runtime.current()
    signed = now.view(array, array.shape, array.strides, now.memory(array)[2], I64)
    found = run("bitwise_xor", signed, -(2**63))
    return now.view(found, found.shape, found.strides, now.memory(found)[2], dtype)


def _number(value: Any, dtype: Any, places: at.Places, index: int) -> tuple[Any, Any]:
    """(an array of one number, strides by which it is for all places)."""
    made = runtime.current().from_host(np.broadcast_to(np.asarray(value, dtype), (1,)), index)
    return made, (0,) * len(places.shape)


def _added(rows: Any, places: at.Places, values: Any, strides: Any, mean: bool, include_self: bool) -> Any:
    """Sums, or means; None for what the kernels do not serve."""
    index = runtime.current().index_of(rows)
    total = rows if rows.dtype == sums.accumulator(rows.dtype) else cast(rows, sums.accumulator(rows.dtype))
    if not include_self and not at.run("set", "scatter", *_number(0, total.dtype, places, index), total, places):
        return None
    if not sums.add_to("scatter", total, places, values, strides):
        return None
    if not mean:
        return total
    counts = runtime.current().from_host(np.broadcast_to(np.ones((), np.int32), total.shape), index)
    if not include_self:
        at.run("set", "scatter", *_number(0, np.int32, places, index), counts, places)
    at.run("add", "scatter", *_number(1, np.int32, places, index), counts, places)
    if total.dtype.kind == "c":
        return total / counts
    if total.dtype.kind == "i":  # of sums that have the input's own bits
        wide = rows.dtype if rows.dtype.name == "uint64" else total.dtype
        return run("floor_divide", cast(cast(total, rows.dtype), wide), cast(counts, wide))
    return run("div", total, cast(counts, total.dtype))


def _extreme(rows: Any, places: at.Places, values: Any, strides: Any, least: bool, include_self: bool) -> Any:
    """The greatest, or the least, of what meets at a place, NaN if one is; None for what the kernels do not serve."""
    now = runtime.current()
    index, dtype = now.index_of(rows), rows.dtype
    long = dtype.itemsize == 8 or dtype.name == "uint32"
    keys = now.empty(rows.shape, np.int64 if long else np.int32, index)
    _keys(keys, rows, least, back=False)
    if not include_self:
        lowest = np.iinfo(keys.dtype).min
        if not at.run("set", "scatter", *_number(lowest, keys.dtype, places, index), keys, places):
            return None
    if dtype.name == "uint32":
        values, strides = _wider(values, places, strides)
    if not at.run("max", "scatter", values, strides, keys, places, least=least):
        return None
    out = now.empty(rows.shape, dtype, index)
    _keys(keys, out, least, back=True)
    return out


def _wider(values: Any, places: at.Places, strides: Any) -> tuple[Any, Any]:
    now = runtime.current()
    found = cast(now.view(values, places.shape, strides, now.memory(values)[2], values.dtype), np.int64)
    return found, found.strides


def _keys(keys: Any, numbers: Any, least: bool, back: bool) -> None:
    if not keys.size:
        return
    numbers = contiguous(numbers)
    program = Handwritten("keys_of_numbers", (("BACK", int(back)), ("LEAST", int(least)), ("BLOCK", BLOCK)))
    start(program, (-(-keys.size // BLOCK),), (keys, numbers, keys.size), runtime.current().index_of(keys))
