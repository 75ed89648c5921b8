"""QR factors of small matrices, and products of reflections: quick functions for tenfold-scientific's composites, and what they
compute by.

What they do not know is left to the composites, by NotImplemented or by any exception.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold import return_types
from tenfold.dispatch.devices import CPU
from tenfold.llvm.kernels.attaching import chosen, quickly
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled
from tenfold.llvm.quick_views import free
from tenfold.llvm.reflections import factored_by_reflections, reflected
from tenfold.llvm.storage import FLOAT32, FLOAT64
from tenfold.tensor.tensor import wrap

Array = np.ndarray[Any, Any]
SERVED = {FLOAT32.dtype: FLOAT32, FLOAT64.dtype: FLOAT64}
FACTORED = Compiled("QR factors", factored_by_reflections)
REFLECTED = Compiled("products of reflections", reflected)
LARGEST = 20  # rows or columns above which LAPACK takes less time


def _small(A: Array) -> bool:
    return A.dtype in SERVED and A.ndim > 1 and A.size > 0 and max(A.shape[-2:]) <= LARGEST


def _by_lines(A: Array) -> Array:
    """A copy whose rows are the columns of matrices."""
    return A.swapaxes(-1, -2).copy("C")


def geqrf_lines(A: Array) -> Any:
    """R with the reflections below it as rows, and their factors."""
    if not _small(A):
        return NotImplemented
    M, N = A.shape[-2:]
    lines, tau, told = _by_lines(A), np.empty((*A.shape[:-2], min(M, N)), A.dtype), np.empty(A.shape[:-2], np.int32)
    grain = max(1, GRAIN_ELEMENTS // (M * N * N))
    if not FACTORED.run((SERVED[A.dtype],), prod(told.shape), grain, lines, tau, told, M, N, min(M, N)):
        return NotImplemented
    return NotImplemented if np.count_nonzero(told) else (lines, tau)


def _reflected(lines: Array, tau: Array, columns: Array, backwards: bool) -> bool:
    """The reflections upon columns, which are rows as well, in their place."""
    (N, M), many = lines.shape[-2:], columns.shape[-2]
    grain = max(1, GRAIN_ELEMENTS // (M * many * max(1, tau.shape[-1])))
    key = (SERVED[lines.dtype], backwards)
    return REFLECTED.run(key, prod(lines.shape[:-2]), grain, lines, tau, columns, M, N, tau.shape[-1], many)


@lru_cache(maxsize=1 << 10)
def _unit(rows: int, columns: int, dtype: Any) -> Array:
    return np.eye(columns, rows, dtype=dtype)  # by columns


@lru_cache(maxsize=1 << 10)
def _upper(rows: int, columns: int) -> Array:
    """Where a triangle of columns is, and of none of its dtypes anything else."""
    return np.tri(columns, rows, 0, bool)


def qr_pair(A: Array, mode: str) -> Any:
    """Orthogonal and triangular factor."""
    found = geqrf_lines(A) if mode in ("reduced", "complete") else NotImplemented
    if found is NotImplemented:
        return found
    lines, tau = found
    M, N = A.shape[-2:]
    K = M if mode == "complete" else min(M, N)
    Q, R = np.empty((*A.shape[:-2], K, M), A.dtype), np.zeros((*A.shape[:-2], N, K), A.dtype)
    Q[...] = _unit(M, K, A.dtype)
    np.copyto(R[..., : min(M, K)], lines[..., : min(M, K)], where=_upper(min(M, K), N))
    return (Q.swapaxes(-1, -2), R.swapaxes(-1, -2)) if _reflected(lines, tau, Q, True) else NotImplemented


def geqrf_pair(A: Array) -> Any:
    """R with the reflections below it, and their factors."""
    found = geqrf_lines(A)
    return found if found is NotImplemented else (found[0].swapaxes(-1, -2), found[1])


def linalg_qr(A: Any, mode: Any = "reduced") -> Any:
    """Both factors."""
    pair = qr_pair(A._array, mode) if free(A) and type(mode) is str else NotImplemented
    return pair if pair is NotImplemented else return_types.linalg_qr(wrap(pair[0], CPU), wrap(pair[1], CPU))


def _fit(A: Array, tau: Array) -> bool:
    few = tau.ndim == A.ndim - 1 and tau.shape[:-1] == A.shape[:-2] and 0 < tau.shape[-1] <= min(A.shape[-2:])
    return few and tau.dtype is A.dtype and _small(A)


def linalg_householder_product(A: Any, tau: Any) -> Any:
    """The first columns of the product of reflections."""
    a, factors = A._array, tau._array
    if not free(A) or not free(tau) or not _fit(a, factors) or a.shape[-1] > a.shape[-2]:
        return NotImplemented
    made = np.empty((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    made[...] = _unit(a.shape[-2], a.shape[-1], a.dtype)
    done = _reflected(_by_lines(a), np.ascontiguousarray(factors), made, True)
    return wrap(made.swapaxes(-1, -2), CPU) if done else NotImplemented


def ormqr(input: Any, tau: Any, other: Any, left: Any = True, transpose: Any = False) -> Any:
    """The product of reflections, or its adjoint, times a matrix."""
    a, factors, b = input._array, tau._array, other._array
    if left is not True or type(transpose) is not bool or not free(input) or not free(tau) or not free(other):
        return NotImplemented
    if not _fit(a, factors) or b.dtype is not a.dtype or b.shape[:-1] != a.shape[:-1] or not b.size:
        return NotImplemented
    made = _by_lines(b)
    done = _reflected(_by_lines(a), np.ascontiguousarray(factors), made, not transpose)
    return wrap(made.swapaxes(-1, -2), CPU) if done else NotImplemented


NOTE = f"float32 and float64, up to {LARGEST} rows or columns"
chosen("qr_pair", qr_pair, 2, NOTE)
chosen("geqrf_pair", geqrf_pair, 1, NOTE)
quickly(linalg_qr, linalg_householder_product, ormqr)
