"""Sorting, selection by rank and binary search, along any dimension of arrays with any strides.

Kernels see unsigned integers of the elements' width. Rows of at most `SHORT` elements are sorted in one launch; longer ones in
tiles, which are merged; the first k of a long row are selected before they are sorted. Nothing waits for the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import cast, refusing, wide
from tenfold.cuda.kernels.elementwise import TYPE_OF
from tenfold.cuda.kernels.handwritten import Handwritten, contiguous, start
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op
from tenfold.types.dtypes import BY_NAME

INFINITY = {
    BY_NAME[name].numpy: bits
    for name, bits in {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF << 52}.items()
}
INT64, UINT32 = np.dtype(np.int64), np.dtype(np.uint32)
SHORT = 12  # binary logarithm of the longest row, and of a tile of longer ones, that one program sorts
SHORT_PAIRS = 10  # the same of elements of 64 bits, whose positions are words of their own: its network is slow to compile
LEAST = 5  # of the shortest row that there is a network for
TILE = 10  # of the elements that a program sorts at least
GREATEST = 2**31 - 2**16  # rows, and elements of a row, beyond which positions do not fit
ALONE = 1 << 19  # elements of a row beyond which few rows are not left to a program each
PROGRAMS = 264  # programs that keep all of a large GPU at work
SELECTED = 4096  # elements that a program of a selection looks at in one step
BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of an array along a dimension: where they begin, as outer and inner index times a stride, and their elements."""

    array: Any
    rows: int
    width: int
    inner: int
    strides: tuple[int, int, int]  # outer, inner, along the row, in elements
    shape: tuple[tuple[int, ...], tuple[int, ...]]  # sizes before and behind the dimension

    def results(self, size: int, flat: bool) -> tuple[Any, Any, tuple[int, int, int]]:
        """(values, positions, their strides) with `size` elements for a row; `flat`: one row behind the other."""
        now = runtime.current()
        shape = (self.rows, size) if flat else (*self.shape[0], size, *self.shape[1])
        index = now.index_of(self.array)
        values, places = now.empty(shape, self.array.dtype, index), now.empty(shape, INT64, index)
        return values, places, (self.inner * size, size, 1) if flat else (self.inner * size, 1, self.inner)


def rows_along(array: Any, dim: int) -> Rows:
    """The rows along a dimension; of a copy where two strides do not say where they begin."""
    dim %= array.ndim
    shape = array.shape[:dim], array.shape[dim + 1 :]
    steps = [s // array.dtype.itemsize for s in array.strides]
    outer, inner = _stride(shape[0], steps[:dim]), _stride(shape[1], steps[dim + 1 :])
    if array.size and (outer is None or inner is None):
        return rows_along(contiguous(array), dim)
    strides = outer or 0, inner or 0, steps[dim]  # whatever they are, nothing begins anywhere in an empty array
    return Rows(array, prod(shape[0]) * prod(shape[1]), array.shape[dim], prod(shape[1]), strides, shape)


def _stride(shape: tuple[int, ...], steps: list[int]) -> int | None:
    """The stride of several dimensions as one, or None."""
    found, size = 0, 1
    for n, step in zip(reversed(shape), reversed(steps)):
        if n == 1:
            continue
        if size > 1 and step != found * size:
            return None
        found = step if size == 1 else found
        size *= n
    return found


def bits(array: Any) -> Any:
    """The array as unsigned integers of its elements' width."""
    return array.view(f"u{array.dtype.itemsize}")


def key_constants(dtype: Any) -> tuple[tuple[str, int], ...]:
    """What tells kernels how the bits of a dtype are ordered."""
    kind = 1 if dtype.kind == "i" else 2 if dtype in INFINITY else 0
    return (("KIND", kind), ("INF", INFINITY.get(dtype, 0)), ("BITS", 8 * dtype.itemsize))


def served(array: Any, rows: Rows) -> bool:
    """Whether the kernels take these rows."""
    return array.dtype in TYPE_OF and rows.rows < GREATEST and rows.width < GREATEST


def _shift(dtype: Any, width: int) -> int:
    """The bits of a word that are its position: words have 32 bits where that is enough."""
    free = 32 - 8 * dtype.itemsize
    return free if free > 0 and width < 1 << free else 32


def _log(number: int) -> int:
    return max(number - 1, 0).bit_length()


def _warps(log: int, most: int = 16) -> int:
    """Of a program that sorts or merges 2**log words: 8 of them to a thread, or 16."""
    return max(min(1 << max(log - 8, 0), most), 4)


def in_order(
    rows: Rows, descending: bool = False, first: int = 0, keep: int | None = None, rank: int = 0, index: Any = None,
    flat: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """(elements, positions) of each row in order, equal ones in that of their positions.

    Of them `keep` from the rank `first` on, or from that of a median (`rank`, for short rows only: see `sort_tiles`).
    `index`: only the elements at these positions of the rows, which rise.
    """
    width = rows.width if index is None else index.shape[-1]
    keep = width if keep is None else keep
    values, places, strides = rows.results(keep, flat)
    if not values.size:
        return values, places
    x = bits(rows.array)
    longest = SHORT_PAIRS if x.dtype.itemsize == 8 else SHORT
    short = _log(width) <= longest
    log = max(_log(width), LEAST) if short else longest
    log_rows = max(TILE - log, 0) if short else 0
    fixed = (
        ("INDEXED", int(index is not None)), *key_constants(rows.array.dtype), ("SHIFT", _shift(x.dtype, width)),
        ("DESCENDING", int(descending)), ("UNIT", int(rows.strides[2] == 1)), ("LOG_ROWS", log_rows), ("LOG", log),
    )  # fmt: skip
    tiling = Handwritten("sort_tiles", (("RANK", rank), ("FINAL", int(short)), *fixed), _warps(log + log_rows), by_address=True)
    read = (x, places if index is None else index)
    numbers = (rows.inner, *rows.strides, *strides, first, keep)
    device = runtime.current().index_of(rows.array)
    if short:
        given = (x, x, bits(values), places, *read, rows.rows, width, 1, *numbers)
        start(tiling, (-(-rows.rows >> log_rows),), given, device)
    else:
        _in_tiles(tiling, rows.rows, width, (bits(values), places), read, numbers)
    return values, places


def _in_tiles(tiling: Handwritten, rows: int, width: int, results: Any, read: Any, numbers: tuple[int, ...]) -> None:
    """Launch the sorting of tiles of long rows, and the merging of each two of them, and so on."""
    now, x = runtime.current(), read[0]
    device, pairs, fixed = now.index_of(x), x.dtype.itemsize == 8, dict(tiling.fixed)
    word = np.dtype(np.uint64 if fixed["SHIFT"] == 32 or pairs else np.uint32)
    words = [now.empty((rows, width), word, device) for _ in range(2)]
    seats = [now.empty((rows, width), UINT32, device) if pairs else x for _ in range(2)]
    tiles = -(-width >> fixed["LOG"])
    start(tiling, (rows * tiles,), (words[0], seats[0], x, results[1], *read, rows, width, tiles, *numbers), device)
    run = 1 << fixed["LOG"]
    while run < width:
        known = tuple((name, fixed[name]) for name in ("INDEXED", "BITS", "SHIFT", "LOG"))
        constants = (("FINAL", int(2 * run >= width)), *known)
        merging = Handwritten("merge_tiles", constants, _warps(fixed["LOG"], 8), by_address=True)
        given = (words[1], seats[1], *results, words[0], seats[0], *read, width, run, run.bit_length(), tiles, *numbers)
        start(merging, (rows * tiles,), given, device)
        words, seats, run = words[::-1], seats[::-1], 2 * run


def _select(rows: Rows, index: Any, parts: int, wanted: int, rank: int, descending: bool, results: Any) -> None:
    """Launch the selection of ranks, in `parts` parts of each row."""
    x, (values, places, strides) = bits(rows.array), results
    width = rows.width if index is None else index.shape[-1]
    constants = (
        ("RANK", rank), ("INDEXED", int(index is not None)), *key_constants(rows.array.dtype), ("DESCENDING", int(descending)),
        ("UNIT", int(rows.strides[2] == 1)), ("BLOCK", SELECTED),
    )  # fmt: skip
    read = (x, places if index is None else index)
    given = (bits(values), places, *read, width, parts, rows.inner, *rows.strides, *strides, wanted)
    selecting = Handwritten("select_rows", constants, 16, by_address=True)
    start(selecting, (rows.rows * parts,), given, runtime.current().index_of(rows.array))


def leading(rows: Rows, k: int, descending: bool) -> tuple[Any, Any]:
    """(elements, positions) of the k first elements in order."""
    short = 1 << (SHORT_PAIRS if rows.array.dtype.itemsize == 8 else SHORT)
    if rows.width <= short or 4 * k > rows.width or not k or not rows.rows:
        return in_order(rows, descending, keep=k)
    now = runtime.current()
    index, width, parts = None, rows.width, 0
    while width > short and parts != 1:  # of each part the k first ones, until one program can sort what is left
        parts = max(min(-(-PROGRAMS // rows.rows), width // max(2 * SELECTED, 4 * k)), 1)
        found = now.empty((rows.rows, parts * k), INT64, now.index_of(rows.array))
        _select(rows, index, parts, k, 0, descending, (rows.array, found, (0, 0, 0)))
        index, width = found, parts * k
    return in_order(rows, descending, keep=k, index=index)


def at_rank(rows: Rows, k: int, median: int = 0) -> tuple[Any, Any]:
    """(element, position) of rank k in each row, or of the median: 1 for the lower one, a NaN if there is one, 2 without NaNs."""
    if _log(rows.width) <= (SHORT_PAIRS if rows.array.dtype.itemsize == 8 else SHORT):
        return in_order(rows, first=k, keep=1, rank=median)
    if rows.width <= ALONE or 4 * rows.rows >= PROGRAMS or not rows.rows:
        results = rows.results(1, False)
        if rows.rows:
            _select(rows, None, 1, k + 1, median + 1, False, results)
        return results[:2]
    if not median:
        return in_order(rows, first=k, keep=1)
    values, places = in_order(rows, flat=True)
    found = rows.results(1, True)
    constants = (("SKIP", median - 1), *key_constants(rows.array.dtype))
    given = (bits(found[0]), found[1], bits(values), places, rows.width, rows.width.bit_length())
    start(Handwritten("middle_of_rows", constants), (rows.rows,), given, runtime.current().index_of(values))
    shape = (*rows.shape[0], 1, *rows.shape[1])
    return found[0].reshape(shape), found[1].reshape(shape)


def scalar_with_position(input: Any) -> tuple[Any, Any]:
    """What selection gives for a 0-d array."""
    return input.copy(), xp.zeros((), np.int64)


def squeezed(found: tuple[Any, Any], dim: int, keepdim: bool) -> tuple[Any, Any]:
    return found if keepdim else (found[0].squeeze(dim), found[1].squeeze(dim))


def _by_array_module(input: Any, dim: int, descending: bool) -> tuple[Any, Any]:
    """The sorted array and positions, for rows of which the kernels' positions are too narrow."""
    x = cast(input, np.uint8) if input.dtype.kind == "b" else wide(input)
    backwards = xp.flip(x, dim) if descending else x
    order = xp.argsort(backwards, dim, kind="stable")
    order = xp.flip(x.shape[dim] - 1 - order, dim) if descending else order
    return cast(xp.take_along_axis(x, order, dim), input.dtype), cast(order, INT64)


@kernel(op.sort_pair, device="cuda", plays=True)
@partial(refusing, op.sort_pair)
def sort_pair(input: Any, dim: int, descending: bool) -> tuple[Any, Any]:
    if not input.ndim:
        return scalar_with_position(input)
    rows = rows_along(input, dim)
    return in_order(rows, descending) if served(input, rows) else _by_array_module(input, dim, descending)


@kernel(op.topk_pair, device="cuda", plays=True)
@partial(refusing, op.topk_pair)
def topk_pair(input: Any, k: int, dim: int, largest: bool, sorted: bool) -> tuple[Any, Any]:
    if not input.ndim:
        return scalar_with_position(input)  # as PyTorch's, also where k is 0
    rows = rows_along(input, dim)
    if served(input, rows):
        return leading(rows, k, largest)
    values, places = (a.swapaxes(dim, 0)[:k].swapaxes(dim, 0) for a in _by_array_module(input, dim, largest))
    return contiguous(values), contiguous(places)


@kernel(op.kthvalue_pair, device="cuda", plays=True)
@partial(refusing, op.kthvalue_pair)
def kthvalue_pair(input: Any, k: int, dim: int, keepdim: bool) -> tuple[Any, Any]:
    if not input.ndim:
        return scalar_with_position(input)
    rows = rows_along(input, dim)
    if served(input, rows):
        return squeezed(at_rank(rows, k - 1), dim, keepdim)
    values, places = (a.swapaxes(dim, 0)[k - 1 : k].swapaxes(dim, 0) for a in _by_array_module(input, dim, False))
    return squeezed((contiguous(values), contiguous(places)), dim, keepdim)


# Binary search


def search(sorted_rows: Any, x: Any, right: bool, dtype: Any = INT64) -> Any:
    """Where elements would be put into rows in order: into one of one dimension, or into that of their own leading index."""
    rows, x = (contiguous(a.view(np.uint8) if a.dtype.kind == "b" else a) for a in (sorted_rows, x))
    if rows.dtype != x.dtype:
        common = np.result_type(*[np.float32 if a.dtype.kind == "V" else a.dtype for a in (rows, x)])
        rows, x = cast(rows, common), cast(x, common)
    now = runtime.current()
    out, width = now.empty(x.shape, dtype, now.index_of(x)), rows.shape[-1]
    if out.size:
        flags = (("RIGHT", int(right)), ("BATCHED", int(rows.ndim > 1)), ("WIDE", int(width >= 2**31)), ("BLOCK", BLOCK))
        each = x.shape[-1] if rows.ndim > 1 else 1
        given = (out, rows, x, x.size, each, width, width.bit_length())
        start(Handwritten("search_rows", flags, by_address=True), (-(-x.size // BLOCK),), given, now.index_of(x))
    return out


@kernel(op.search_positions, device="cuda", plays=True)
@partial(refusing, op.search_positions)
def search_positions(sorted_sequence: Any, input: Any, right: bool, out_int32: bool) -> Any:
    return search(sorted_sequence, input, right, np.dtype(np.int32) if out_int32 else INT64)
