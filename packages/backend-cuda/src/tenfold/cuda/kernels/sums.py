"""What meets at one place: sums by atomic additions, or in a fixed order where deterministic algorithms are asked for.

Half precision is added up in float32, short integers in 32 bits, and each is rounded once.
"""

from __future__ import annotations

from math import gcd, prod
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.kernels.argument_types import TYPE_OF
from tenfold.cuda.kernels.array_kernels import cast
from tenfold.cuda.kernels.conversion import clone_contiguous, write
from tenfold.cuda.kernels.handwritten import F32, F64, Handwritten, contiguous, start
from tenfold.cuda.kernels.places import Index, Places, run
from tenfold.cuda.runtime import xp
from tenfold.settings.determinism import are_deterministic_algorithms_enabled

I32, I64 = np.dtype(np.int32), np.dtype(np.int64)
ONE = np.broadcast_to(np.ones((), np.int32), (1,))  # which a fill makes, without a copy
TILE = 4096  # elements that a program of segments holds
NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -float("inf"), "amin": float("inf")}


def accumulator(dtype: Any) -> Any:
    """The dtype in which numbers of a dtype are added up."""
    if dtype.kind == "c" or dtype in (F32, F64):
        return dtype
    if dtype.kind in "fV":
        return F32
    return I64 if dtype.itemsize == 8 else I32


def zeros(shape: Any, dtype: Any, index: int) -> Any:
    """A new array of zeros, by a memset."""
    return runtime.current().from_host(np.broadcast_to(np.zeros((), dtype), tuple(shape)), index)


def target(input: Any, out: Any) -> Any:
    """The array to write into, holding the input's values."""
    if out is None:
        return clone_contiguous(input)
    if out is not input:
        write(out, input)
    return out


def row(array: Any) -> Any:
    """The array, a 0-d one with a dimension."""
    return array if array.ndim else array.reshape(1)


def added(name: str, input: Any, out: Any, places: Places, values: Any, strides: Any) -> Any:
    """The input, in `out` if that is given, with values added; None for what the kernels do not serve.

    The values' strides are those on the walked shape.
    """
    dtype = accumulator(input.dtype)
    same = input.dtype == dtype or (input.dtype.kind == "u" and input.dtype.itemsize >= 4)  # two's complement: sums are the same
    if same and (out is None or out.flags.c_contiguous or not are_deterministic_algorithms_enabled()):
        result = target(input, out)
        return result if add_to(name, row(result), places, values, strides) else None
    total = clone_contiguous(input) if same else cast(input, dtype)
    if are_deterministic_algorithms_enabled():
        total = contiguous(total)
    if not add_to(name, row(total), places, values, strides):
        return None
    if out is None:
        return cast(total, input.dtype)
    write(out, total)
    return out


def add_to(name: str, sums: Any, places: Places, values: Any, strides: Any, skipped: int | None = None) -> bool:
    """The same, to an array of a dtype that is added to."""
    if sums.dtype.kind == "c":  # the hardware adds to one number at a time
        parts = pairs(values, places.shape, strides)
        numbers = pairs(sums, sums.shape, sums.strides)
        return add_to(name, numbers, of_pairs(places, sums.ndim), parts, parts.strides, skipped)
    if are_deterministic_algorithms_enabled() and sums.dtype in (F32, F64):
        return in_order(name, "sum", sums, places, values, strides, 2, skipped)
    return run("add", name, values, strides, sums, places, skipped)


def pairs(array: Any, shape: Any, strides: Any) -> Any:
    """Complex numbers as pairs of numbers, which are one more dimension."""
    now, half = runtime.current(), array.dtype.itemsize // 2
    return now.view(array, (*shape, 2), (*strides, half), now.memory(array)[2], np.dtype(f"f{half}"))


def of_pairs(places: Places, ndim: int) -> Places:
    """The places of pairs of numbers, in an array that had `ndim` dimensions."""
    indices = tuple(Index(i.dim, i.array, (*i.strides, 0)) for i in places.indices)
    return Places((*places.shape, 2), (*places.own, ndim), indices, places.wrap)


def in_order(
    name: str, reduce: str, out: Any, places: Places, values: Any, strides: Any, begin: int, skipped: int | None = None
) -> bool:
    """Reduce values into a contiguous array, those of one place in the order in which they are walked.

    `begin` is the kernel's START: 2 with the array's own values, 3 without them.
    """
    now = runtime.current()
    index = now.index_of(out)
    k, columns = _rows(places, out)
    lead = places.shape[:k]
    where = now.empty(lead, I64, index)
    walked = Places(lead, places.own[:k], tuple(Index(i.dim, i.array, i.strides[:k]) for i in places.indices), places.wrap)
    natural = tuple(prod(out.shape[d + 1 :]) // columns for d in range(out.ndim))
    units = tuple(0 if d is None else natural[d] for d in walked.own), tuple(natural[i.dim] for i in walked.indices)
    if not prod(places.shape):
        return True
    if not run("where", name, where, where.strides, out, walked, None, units=units):
        return False
    if skipped is not None:
        where = xp.where(where == skipped, -1, where)
    rows = _as_rows(values, places.shape, strides)
    flat = where.reshape(-1)
    order = cast(xp.argsort(flat, kind="stable"), I64)
    offsets = cast(xp.searchsorted(flat[order], xp.arange(out.size // columns + 1)), I64)
    if out.dtype.kind == "c":  # of which only products come here
        _multiplied(out, rows, order, offsets, columns, begin == 2)
        return True
    reduced(reduce, out, rows, order, offsets, (1, out.size // columns, flat.size, columns), begin, None)
    return True


def _rows(places: Places, out: Any) -> tuple[int, int]:
    """(how many walked dimensions come before whole rows of the array, elements of such a row)."""
    k, d, columns = len(places.shape), out.ndim, 1
    moving = [any(i.strides[j] for i in places.indices) for j in range(k)]
    while k and d and not moving[k - 1] and places.own[k - 1] == d - 1 and places.shape[k - 1] == out.shape[d - 1]:
        k, d, columns = k - 1, d - 1, columns * out.shape[d - 1]
    return k, max(columns, 1)


def _as_rows(values: Any, shape: Any, strides: Any) -> Any:
    """The values on the walked shape, row-major."""
    now = runtime.current()
    return contiguous(now.view(values, shape, strides, now.memory(values)[2], values.dtype))


def _multiplied(out: Any, rows: Any, order: Any, offsets: Any, columns: int, own: bool) -> None:
    """Launch products of complex numbers."""
    segments, block = out.size // columns, min(1 << (columns - 1).bit_length(), 256)
    several = max(1, min(256 // block, 1 << (segments - 1).bit_length()))
    numbers, factors = pairs(out, out.shape, out.strides), pairs(rows, rows.shape, rows.strides)
    found = Handwritten("segments_multiplied", (("OWN", int(own)), ("SEGMENTS", several), ("BLOCK", block)))
    grid = (-(-segments // several) * -(-columns // block),)
    start(found, grid, (numbers, factors, order, offsets, segments, columns), runtime.current().index_of(out))


def reduced(
    reduce: str, out: Any, rows: Any, order: Any, offsets: Any, sizes: tuple[int, int, int, int], begin: int, initial: Any
) -> None:
    """Launch: `sizes` are batches, segments of each, rows of each, and columns of a row."""
    batches, count, length, columns = sizes
    segments = batches * count
    if not segments or not columns:
        return
    kind = accumulator(out.dtype)
    block = min(1 << (columns - 1).bit_length(), 256 if columns < 1 << 20 else 1024)
    average = max(1, length // max(count, 1))
    each = min(1 << (average - 1).bit_length(), TILE // block, 512)
    if block == 1:  # Triton's compiler, 3.6 and 3.7, refuses blocks of 32 by 1 by 1
        each = max(each, 2)
    several = max(1, min(TILE // (block * each * 4), 1 << (segments - 1).bit_length()))
    unit = 0 if columns == 1 else 1 if columns >= 2**31 else gcd(8, columns)  # 1: the kernel then counts in 64 bits
    double = int(kind == F64)
    fixed = (("REDUCE", reduce), ("KIND", TYPE_OF[kind]), ("ORDERED", int(order is not None)), ("START", begin),
             ("DOUBLE", double), ("UNIT", unit), ("SEGMENTS", several), ("ROWS", each), ("BLOCK", block))  # fmt: skip
    empty = float("nan") if reduce == "mean" else NEUTRAL[reduce]
    neutral = NEUTRAL[reduce]
    numbers: tuple[Any, ...] = (float(empty if initial is None else initial), float(neutral))
    if kind.kind == "i":
        limits = np.iinfo(np.int64 if kind == I64 else np.int32)
        whole = {"amax": int(limits.min), "amin": int(limits.max)}.get(reduce, int(neutral))
        numbers = (0, whole)
    grid = (-(-segments // several) * -(-columns // block),)
    given = (out, rows, offsets if order is None else order, offsets, segments, count, length, columns // max(unit, 1), *numbers)
    start(Handwritten("segments_reduced", fixed, 4), grid, given, runtime.current().index_of(out))
