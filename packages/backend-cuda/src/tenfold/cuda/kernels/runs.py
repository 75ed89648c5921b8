"""Distinct values: elements are sorted, runs of equal ones are numbered, and each element is told its run.

The device is waited for once, to learn how many distinct values there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import wide
from tenfold.cuda.kernels.handwritten import Handwritten, contiguous, start
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.kernels.sorting import BLOCK, INT64, Rows, bits, in_order, key_constants, rows_along, served
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op

INT32 = np.dtype(np.int32)


def _grid(count: int) -> tuple[int, ...]:
    return (-(-count // BLOCK),)


def _ordinals(flags: Any) -> Any:
    """The number of each element's run, from 1 on, where flags are 1 at the beginning of each."""
    return xp.cumsum(flags, dtype=INT64 if flags.size >= 2**31 else INT32)


def _run_ordinals(x: Any, width: int, same: bool) -> Any:
    """The ordinals of runs of equal elements in rows that are in order; `same`: NaNs are equal."""
    now = runtime.current()
    flags = now.empty((x.size,), INT32, now.index_of(x))
    constants = (*key_constants(x.dtype), ("SAME", int(same)), ("BLOCK", BLOCK))
    start(Handwritten("mark_runs", constants, by_address=True), _grid(x.size), (flags, bits(x), x.size, width), now.index_of(x))
    return _ordinals(flags)


def _placed(ordinals: Any, place: Any) -> tuple[Any, Any, Any]:
    """(first elements of runs, each element's run, lengths of runs); without `place` the elements lie in order."""
    now = runtime.current()
    index, count = now.index_of(ordinals), ordinals.size
    total = int(now.to_host(ordinals[-1:])[0])  # the size of the results: the only wait
    first, inverse = now.empty((total + 1,), INT64, index), now.empty((count,), INT64, index)
    constants = (("ORDERED", int(place is None)), ("BLOCK", BLOCK))
    given = (first, inverse, ordinals, first if place is None else place, count, total)
    start(Handwritten("place_runs", constants, by_address=True), _grid(count), given, index)
    return first[:-1], inverse, first[1:] - first[:-1]


@kernel(op.unique_parts, device="cuda")
def unique_parts(input: Any, dim: int | None, consecutive: bool) -> tuple[Any, Any, Any]:
    if not served(input, Rows(input, 1, input.size, 1, (0, 0, 1), ((), ()))):
        return through_host("unique_parts")(input, dim, consecutive)
    if dim is not None:
        return _slices(input, dim, consecutive)
    x, place = contiguous(input).reshape(-1), None
    if not x.size:
        now = runtime.current()
        none = now.empty(input.shape, INT64, now.index_of(input))
        return x, none, none.reshape(-1)
    if not consecutive:
        x, place = in_order(rows_along(x, 0))
    first, inverse, counts = _placed(_run_ordinals(x, x.size, False), place)
    return bits(x)[first].view(input.dtype), inverse.reshape(input.shape), counts


def _slices(input: Any, dim: int, consecutive: bool) -> tuple[Any, Any, Any]:
    """The distinct slices along a dimension, in the order of their first elements that differ."""
    now = runtime.current()
    rows = xp.moveaxis(input, dim, 0)
    count = rows.shape[0]
    if not count:
        none = now.empty((0,), INT64, now.index_of(input))
        return input.copy(), none, none
    table = contiguous(rows).reshape(count, rows.size // count)
    place = None
    if not consecutive and table.size:
        place = _lexical_order(contiguous(table.T))
        table = bits(table)[place].view(input.dtype)
    x = wide(table)
    flags = xp.ones((count,), INT32)
    flags[1:] = (x[1:] != x[:-1]).any(1)
    first, inverse, counts = _placed(_ordinals(flags), place)
    values = bits(table)[first].view(input.dtype).reshape(first.size, *rows.shape[1:])
    return contiguous(xp.moveaxis(values, 0, dim)), inverse, counts


def _lexical_order(columns: Any) -> Any:
    """The order of columns' elements by the first column, among equals by the second, and so on.

    Elements become ranks in their columns, and the ranks of two neighbouring columns one number, until there is one column.
    """
    count = columns.shape[1]
    while True:
        values, places = in_order(rows_along(columns, 1))
        if len(columns) == 1:
            return places[0]
        ranks = _ranks(values, places)
        pairs = ranks[0 : len(ranks) - 1 : 2] * count + ranks[1::2]
        columns = xp.concatenate([pairs, ranks[-1:]]) if len(ranks) % 2 else pairs


def _ranks(values: Any, places: Any) -> Any:
    """Each element's rank among the different ones of its row, of rows in order and the positions that they came from."""
    now = runtime.current()
    ordinals = _run_ordinals(values, values.shape[1], True)
    out = now.empty(values.shape, INT64, now.index_of(values))
    given = (out, ordinals, places, values.size, values.shape[1])
    start(Handwritten("rank_rows", (("BLOCK", BLOCK),), by_address=True), _grid(values.size), given, now.index_of(values))
    return out
