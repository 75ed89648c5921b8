"""The gradient of an embedding table: rows of the incoming gradient, added up by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.nn.cpu.array_kernel import array_kernel

Array = np.ndarray[Any, Any]


@array_kernel()
def embedding_weight_grad(g: Array, indices: Array, num_weights: int, padding_idx: int | None, scale_by_freq: bool) -> Array:
    """Add the rows of g (*, D) to the rows of a zero table (num_weights, D) that `indices` (*) name.

    Rows of `padding_idx` (None or negative: no such row) stay zero; with `scale_by_freq` each row is divided by how
    often its index occurs.
    """
    D = g.shape[-1]
    flat, rows = indices.reshape(-1), g.reshape(-1, D)
    if padding_idx is not None and padding_idx >= 0:
        kept = np.flatnonzero(flat != padding_idx)
        if kept.size < flat.size:
            flat, rows = flat[kept], rows[kept]
    out = np.zeros((num_weights, D), g.dtype)
    if rows.size == 0:
        return out
    order = np.argsort(flat, kind="stable")
    names, starts, counts = _runs(flat[order])
    sums = _run_sums(rows, order, starts, counts)
    if scale_by_freq:
        sums /= counts[:, None].astype(g.dtype)
    out[names] = sums
    return out


def _runs(ordered: Array) -> tuple[Array, Array, Array]:
    """The distinct values of a sorted array, where each begins, and how often it occurs."""
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], starts, np.diff(starts, append=ordered.size)


def _run_sums(rows: Array, order: Array, starts: Array, counts: Array) -> Array:
    """The sum of each run of `rows[order]`, by halving: every round adds the later half of each run to its earlier half.

    log2(longest run) rounds without a loop over runs, and rounding errors grow as slowly as in a pairwise sum.
    """
    if len(starts) == order.size:
        return rows[order]
    work = rows[order]
    while (longest := counts.max()) > 1:
        halves = (counts + 1) // 2
        moved = counts - halves
        run = np.repeat(np.arange(len(counts)), moved)
        within = np.arange(len(run)) - np.repeat(np.cumsum(moved) - moved, moved)
        targets = starts[run] + within
        work[targets] += work[targets + halves[run]]
        counts = halves
        assert longest > counts.max()
    return work[starts]
