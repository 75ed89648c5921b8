"""LU factors of small matrices: operators of tenfold-scientific."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.elimination import exchanged_order, factored, width
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.kernels.selecting import before
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64

Array = np.ndarray[Any, Any]
FACTORED, ORDER = Compiled("LU factors", factored), Compiled("exchanged rows", exchanged_order)
LARGEST = 192  # rows or columns above which products of panels take less time


def lu_packed(A: Array, pivot: bool) -> Any:
    """L and U in one array, column by column, the exchanges, and where U has a zero."""
    stored = BY_DTYPE.get(A.dtype)
    if stored not in (FLOAT32, FLOAT64) or A.ndim < 2 or not A.size or min(A.shape[-2:]) > LARGEST:
        return NotImplemented
    batch, (M, N) = A.shape[:-2], A.shape[-2:]
    count, K, padded = prod(batch), min(M, N), width(stored, N)
    rows = np.zeros((count, M, padded), A.dtype)
    rows[..., :N] = A.reshape(count, M, N)
    pivots = np.empty((count, K), np.int32)
    if not pivot:
        pivots[:] = np.arange(1, K + 1)
    info = np.zeros(count, np.int32)
    grain = max(1, GRAIN_ELEMENTS // (K * M * padded))
    if not FACTORED.run((stored, bool(pivot)), count, grain, rows, pivots, info, M, padded, K):
        return NotImplemented
    columns = np.empty((*batch, N, M), A.dtype).swapaxes(-1, -2)
    columns[...] = rows[..., :N].reshape(A.shape)
    return columns, pivots.reshape(*batch, K), info.reshape(batch)


def pivot_order(pivots: Array, rows: int) -> Any:
    """The order of rows that exchanges make, of which each is with one of them."""
    if type(pivots) is not np.ndarray or pivots.dtype != np.int32 or not pivots.size or type(rows) is not int:
        return NotImplemented
    pivots, count = np.ascontiguousarray(pivots), pivots.shape[-1]
    if count > rows or pivots.min() < 1 or pivots.max() > rows:
        return NotImplemented
    order = np.empty((*pivots.shape[:-1], rows), np.int64)
    items = pivots.size // count
    return order if ORDER.run((), items, max(1, GRAIN_ELEMENTS // rows), pivots, order, count, rows) else NotImplemented


chosen("lu_packed", lu_packed, 2, f"float32 and float64, up to {LARGEST} rows or columns")
before("pivot_order", pivot_order, "int32")
