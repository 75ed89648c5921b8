"""NumPy kernels of sorting, selection, distinct values and binary search."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

import numpy as np

from tenfold.cpu.places import taken_along
from tenfold.cpu.reduction.reductions import orderable, taken
from tenfold.cpu.selection import refine, refine_leading
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.types.memory_format import preserve_format


def order(x: Any, dim: int, descending: bool) -> Any:
    """The positions that sort, equal elements in their order, NaN as the greatest."""
    if not descending:
        return np.argsort(x, dim, "stable")
    backwards = np.argsort(np.flip(x, dim), dim, "stable")
    return np.ascontiguousarray(np.flip(x.shape[dim] - 1 - backwards, dim))


@kernel(op.sort_pair, device="cpu")
def sort(input: Any, dim: int, descending: bool) -> tuple[Any, Any]:
    if not input.ndim:
        op.sort_pair.shape_rule(input, dim, descending)
        return input.copy(), np.zeros((), np.int64)
    positions = order(orderable(input), dim, descending)
    values = taken_along(input, positions, dim)
    return _laid_as(input, values), _laid_as(input, positions)


def _laid_as(like: Any, x: Any) -> Any:
    """An array of the same shape with its dimensions in the other's order in memory."""
    if like.flags.c_contiguous:
        return x
    order = preserve_format.order_for(like)
    return x.transpose(order).copy().transpose(np.argsort(order))


@kernel(op.topk_pair, device="cpu")
def topk(input: Any, k: int, dim: int, largest: bool, sorted: bool) -> tuple[Any, Any]:
    if not input.ndim:
        op.topk_pair.shape_rule(input, k, dim, largest, sorted)
        return input.copy(), np.zeros((), np.int64)  # as PyTorch's, also where k is 0
    x = orderable(input)
    if not 0 <= k <= x.shape[dim]:
        raise ValueError("k is out of range")
    found = _leading(x, k, dim % x.ndim, largest) if sorted and 0 < k < x.shape[dim] else None
    if found is None:
        found = refine_leading(x, np.take(order(x, dim, largest), np.arange(k), dim), k, dim, largest, sorted)
    values, found = (a.reshape(-1).reshape(a.shape) for a in (taken_along(input, found, dim), found))  # row by row
    return values, found


def _leading(x: Any, k: int, dim: int, largest: bool) -> Any:
    """Positions of the k greatest or least in order, found by selection; None where equals or nan leave a choice."""
    n = x.shape[dim]
    rows = np.ascontiguousarray(np.moveaxis(x, dim, -1))
    place = n - k if largest else k - 1
    parted = np.partition(rows, place, -1)
    last = parted[..., place : place + 1]
    top = parted[..., place:] if largest else last
    if (top != top).any():
        return None  # nan, the greatest
    within = np.flatnonzero((rows >= last if largest else rows <= last).reshape(-1))
    if within.size * n != rows.size * k:  # one that equals the last stands outside
        return None
    values = rows.reshape(-1).take(within, mode="wrap").reshape(-1, k)
    ranks = values.argsort(-1)
    ordered = taken_along(values, ranks, 1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        return None
    found = taken_along(within.reshape(-1, k) % n, ranks[:, ::-1] if largest else ranks, 1)
    return np.ascontiguousarray(np.moveaxis(found.reshape(*rows.shape[:-1], k), -1, dim))


@kernel(op.kthvalue_pair, device="cpu")
def kthvalue(input: Any, k: int, dim: int, keepdim: bool) -> tuple[Any, Any]:
    if not input.ndim:
        if k != 1:
            raise ValueError("k is out of range")
        return input.copy(), np.zeros((), np.int64)
    if not 1 <= k <= input.shape[dim]:
        raise ValueError("k is out of range")
    x = orderable(input)
    chosen = np.argpartition(x, k - 1, dim)[(*(slice(None),) * (dim % x.ndim), slice(k - 1, k))]
    values = taken_along(x, chosen, dim)
    if (values == values).all() and np.count_nonzero(x == values) == chosen.size:  # neither nan nor one of several equals
        return taken(input, chosen, dim, keepdim)
    positions = refine(x, np.take(np.argsort(x, dim, "stable"), [k - 1], dim), k - 1, dim)
    return taken(input, positions, dim, keepdim)


@kernel(op.unique_parts, device="cpu")
def unique(input: Any, dim: int | None, consecutive: bool) -> tuple[Any, Any, Any]:
    if input.dtype.kind == "V":
        values, inverse, counts = unique(input.astype(np.float32), dim, consecutive)
        return values.astype(input.dtype), inverse, counts
    if consecutive:
        return _consecutive(input, dim)
    if dim is not None and 0 in input.shape and input.shape[dim] == 0:
        return input.copy(), np.zeros(0, np.int64), np.zeros(0, np.int64)
    if dim is None:
        values, inverse, counts = np.unique(input, return_inverse=True, return_counts=True, equal_nan=False)
        return values, inverse.reshape(input.shape).astype(np.int64), counts.astype(np.int64)
    # Slices in the order of their elements; NumPy's own way compares bytes, in which nan and -0 have no place.
    rows = np.moveaxis(input, dim, 0)
    flat = rows.reshape(rows.shape[0], -1)
    if input.dtype.kind == "f" and np.isnan(flat).any():
        order = np.array(sorted(range(len(flat)), key=cmp_to_key(lambda a, b: _compared(flat[a], flat[b]))), np.intp)
    else:
        order = np.lexsort(flat.T[::-1]) if flat[:1].size else np.arange(len(flat))
    values, places, counts = _consecutive(np.moveaxis(rows[order], 0, dim), dim)
    inverse = np.empty_like(places)
    inverse[order] = places
    return values, inverse, counts


def _compared(a: Any, b: Any) -> int:
    """Which of two rows comes first, by the first elements of which one is less; beside nan none is."""
    first = np.flatnonzero((a < b) | (a > b))[:1]
    return 0 if not first.size else -1 if (a < b)[first[0]] else 1


def _consecutive(input: Any, dim: int | None) -> tuple[Any, Any, Any]:
    rows = input.reshape(-1) if dim is None else np.moveaxis(input, dim, 0)
    count = rows.shape[0]
    starts = np.ones(count, np.bool_)
    if count:
        starts[1:] = (rows[1:] != rows[:-1]).any(tuple(range(1, rows.ndim)))
    first = np.flatnonzero(starts)
    counts = np.diff(np.append(first, count))
    inverse = np.cumsum(starts) - 1
    values = rows[first] if dim is None else np.moveaxis(rows[first], 0, dim)
    return np.ascontiguousarray(values), inverse.reshape(input.shape) if dim is None else inverse, counts


@kernel(op.search_positions, device="cpu")
def search(sorted_sequence: Any, input: Any, right: bool, out_int32: bool) -> Any:
    rows, x, kind = orderable(sorted_sequence), orderable(input), np.int32 if out_int32 else np.int64
    if rows.ndim == 1:
        return np.asarray(_placed(rows, x, right)).astype(kind)
    if rows.ndim == 0 or rows.shape[:-1] != x.shape[:-1]:
        raise ValueError("rows do not match")
    result = np.empty(x.shape, kind)
    for i in np.ndindex(rows.shape[:-1]):
        result[i] = _placed(rows[i], x[i], right)
    return result


def _placed(row: Any, x: Any, right: bool) -> Any:
    if not row.size or row[-1] == row[-1]:
        return np.searchsorted(row, x, "right" if right else "left")
    low = np.zeros(x.shape, np.int64)  # with NaN at its end: PyTorch's bisection, to which no number is greater
    high = low + row.size
    while (low < high).any():
        middle = (low + high) // 2
        v = row[np.minimum(middle, row.size - 1)]
        before = (v > x if right else v >= x) | (low == high)
        low, high = np.where(before, low, middle + 1), np.where(before, np.minimum(middle, high), high)
    return low
