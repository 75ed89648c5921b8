"""LU factors of small matrices, and solutions with triangles: operators of tenfold-scientific."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.elimination import exchanged_order, factored, substituted, width
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.kernels.selecting import before
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64

Array = np.ndarray[Any, Any]
FACTORED, ORDER = Compiled("LU factors", factored), Compiled("exchanged rows", exchanged_order)
SUBSTITUTED = Compiled("solutions with a triangle", substituted)
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


def triangular_solution(A: Array, B: Array, upper: bool, unitriangular: bool) -> Any:
    """X with A X = B, column by column, reading one triangle of A."""
    stored, shape = BY_DTYPE.get(A.dtype), B.shape
    if stored not in (FLOAT32, FLOAT64) or A.dtype != B.dtype or A.shape[:-2] != shape[:-2] or not A.size or not B.size:
        return NotImplemented
    *batch, N, K = shape
    if not A.shape[-2] == A.shape[-1] == N <= LARGEST:
        return NotImplemented
    count, padded = prod(batch), width(stored, K)
    rows = np.zeros((count, N, padded), A.dtype)
    rows[..., :K] = B.reshape(count, N, K)
    grain = max(1, GRAIN_ELEMENTS // (N * N * padded))
    key = (stored, bool(upper), bool(unitriangular))
    if not SUBSTITUTED.run(key, count, grain, np.ascontiguousarray(A), rows, N, padded):
        return NotImplemented
    columns = np.empty((*batch, K, N), A.dtype).swapaxes(-1, -2)
    columns[...] = rows[..., :K].reshape(shape)
    return columns


def cholesky_solution(A: Array, B: Array, upper: bool) -> Any:
    """X with A A^T X = B, or A^T A X = B with `upper`."""
    turned = A.swapaxes(-1, -2)
    half = triangular_solution(turned if upper else A, B, False, False)
    return half if half is NotImplemented else triangular_solution(A if upper else turned, half, True, False)


chosen("lu_packed", lu_packed, 2, f"float32 and float64, up to {LARGEST} rows or columns")
chosen("triangular_solution", triangular_solution, 4, f"float32 and float64, up to {LARGEST} rows")
chosen("cholesky_solution", cholesky_solution, 3, f"float32 and float64, up to {LARGEST} rows")
before("pivot_order", pivot_order, "int32")
