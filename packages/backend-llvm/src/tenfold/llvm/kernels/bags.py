"""Bags of a table's rows and their gradients: the operators of tenfold-nn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm import bags
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.sending import HALVES
from tenfold.llvm.storage import BFLOAT16, BY_DTYPE, FLOAT32, FLOATING, INT64, Stored
from tenfold.llvm.writer import registers

Array = np.ndarray[Any, Any]

BAGS = Compiled("bags of rows", bags.bags, vectors=True)
BAGS_GRAD = Compiled("the gradient of bags of rows", bags.bags_grad, vectors=True)
BAGS_GRAD_HALVES = Compiled("the gradient of bags of rows of half precision", bags.bags_grad_halves)
MAXIMA_GRAD = Compiled("the gradient of bags' maxima", bags.maxima_grad)
WORK = 1 << 14
NOTE = "float32, float64, float16, bfloat16"


def _whole(index: Array) -> Array:
    return np.ascontiguousarray(index, np.int64)


def _starts(index: Array, offsets: Array | None, count: int, ends: bool) -> Array | None:
    """Where each bag begins; behind them, where the last one ends. None for offsets out of order, which the body knows."""
    if offsets is None:
        even: Array = np.arange(count + 1) * index.shape[1]
        return even
    found = np.empty(count + 1, np.int64)
    found[:count], found[count] = offsets[:count], offsets[count] if ends else index.size
    if np.count_nonzero(found[1:] < found[:-1]):
        return None
    np.clip(found, 0, index.size, out=found)
    return found


def _stored(*floats: Array | None) -> Stored | None:
    """The one dtype of arrays, which is served."""
    dtypes = {a.dtype for a in floats if a is not None}
    stored = BY_DTYPE.get(next(iter(dtypes))) if len(dtypes) == 1 else None
    return stored if stored in FLOATING else None


def fused_bags(
    weight: Array,
    index: Array,
    offsets: Array | None,
    factors: Array | None,
    mode: str,
    count: int,
    padding_idx: int,
    ends: bool,
    scale_by_freq: bool,
    sparse: bool = False,
) -> Any:
    """The bags, how many indices of each count, and where their maxima are; RuntimeError for an index that is no row."""
    stored = _stored(weight, factors)
    if stored is None or scale_by_freq:  # whose gradient is not the body's
        return NotImplemented
    rows, D = weight.shape
    out, sizes = empty((count, D), stored), np.empty(count, np.int64)
    places = empty((count, D), INT64) if mode == "max" else np.empty(0, np.int64)
    flags = np.zeros(2, np.int64)
    table, flat = np.ascontiguousarray(weight), _whole(index)
    starts, length = (flags, index.shape[1]) if offsets is None else (_whole(offsets), 0)
    given = (table, flat, starts, flags if factors is None else np.ascontiguousarray(factors), out, sizes, places, flags)
    grain = max(1, WORK * count // (index.size * D + 1))
    full = D // registers().lanes(FLOAT32 if stored in HALVES else stored)
    ties_up = stored is BFLOAT16 and padding_idx < 0 and mode != "max"
    key = (stored, mode, factors is not None, offsets is None, full if full <= bags.STILL else -1, ties_up)
    begun = count + 1 if ends else count
    if not BAGS.run(key, count, grain, *given, D, rows, padding_idx, index.size, length, begun) or flags[1]:
        return NotImplemented
    if flags[0]:
        raise RuntimeError(
            f"embedding_bag: Expected idx >= 0 && idx < num_embeddings; index out of range in self: got {index.min()} to "
            f"{index.max()}, the table has {rows} rows"
        )
    return out, sizes, places


def fused_bags_grad(
    grad: Array,
    weight_rows: int,
    index: Array,
    offsets: Array | None,
    factors: Array | None,
    sizes: Array,
    places: Array,
    mode: str,
    count: int,
    padding_idx: int,
    ends: bool,
    scale_by_freq: bool,
) -> Any:
    """The gradient for the table."""
    stored = _stored(grad, factors)
    starts = _starts(index, offsets, count, ends)
    if stored is None or starts is None or scale_by_freq:
        return NotImplemented
    D = grad.shape[1]
    table = empty((weight_rows, D), stored)
    table.fill(0)
    given = np.ascontiguousarray(grad)
    if mode == "max":
        grain = max(1, WORK // count)
        return table if MAXIMA_GRAD.run((stored,), D, grain, given, _whole(places), table, count, D) else NotImplemented
    others = (_whole(index), starts, table if factors is None else np.ascontiguousarray(factors))
    key = (stored, mode, factors is not None)
    grain = max(1, WORK // (index.size + 1))
    done = (BAGS_GRAD_HALVES if stored in HALVES else BAGS_GRAD).run(
        key, D, grain, given, *others, _whole(sizes), table, count, D, padding_idx
    )
    return table if done else NotImplemented


chosen("fused_bags", fused_bags, 10, NOTE)
chosen("fused_bags_grad", fused_bags_grad, 12, NOTE)
