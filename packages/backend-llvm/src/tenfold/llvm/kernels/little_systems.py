"""Systems of small matrices, and their factors: quick functions for tenfold-scientific's composites, and what they compute by.

What they do not know, and what has no finite result, is left to the composites, by NotImplemented or by any exception.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold import return_types
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.kernels import KERNELS
from tenfold.llvm.elimination import width
from tenfold.llvm.kernels.attaching import chosen, quickly
from tenfold.llvm.kernels.factors import triangular_solution
from tenfold.llvm.little_systems import ROOM, cholesky_factor, solved
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled
from tenfold.llvm.quick_views import free
from tenfold.llvm.storage import FLOAT32, FLOAT64, Stored
from tenfold.tensor.tensor import wrap

Array = np.ndarray[Any, Any]
SOLVED, CHOLESKY = Compiled("small systems", solved), Compiled("small Cholesky factors", cholesky_factor)
SERVED = {FLOAT32.dtype: FLOAT32, FLOAT64.dtype: FLOAT64}
LARGEST = 32  # rows above which LAPACK takes less time


def _square(A: Array) -> Stored | None:
    """The dtype of small square matrices that are served."""
    if A.ndim < 2 or A.shape[-1] != A.shape[-2] or not A.size or A.shape[-1] > LARGEST:
        return None
    return SERVED.get(A.dtype)


def _by_lines(shape: tuple[int, ...], columns: int, dtype: Any) -> Array:
    """Memory for matrices with the batch and rows of others, column by column."""
    return np.empty((*shape[:-2], columns, shape[-1]), dtype)


def solution(A: Array, B: Array | None) -> Any:
    """X with A X = B, None for the identity, and 0 for each matrix where that is finite."""
    stored = _square(A)
    if stored is None or (B is not None and (B.dtype is not A.dtype or B.shape[:-1] != A.shape[:-1] or not B.size)):
        return NotImplemented
    rows = A.shape[-1]
    columns = rows if B is None else B.shape[-1]
    padded = width(stored, rows + columns)
    if rows * padded > ROOM:
        return NotImplemented
    X, told = _by_lines(A.shape, columns, A.dtype), np.empty(A.shape[:-2], np.int32)
    count = prod(told.shape)
    given = 0 if B is None else np.ascontiguousarray(B)
    grain = max(1, GRAIN_ELEMENTS // (rows * rows * padded))
    if not SOLVED.run((stored,), count, grain, np.ascontiguousarray(A), given, X, told, rows, columns, padded):
        return NotImplemented
    return X.swapaxes(-1, -2), told


def factor(A: Array, upper: bool) -> Any:
    """The triangular factor, and 0 for each matrix that is positive definite."""
    stored = _square(A)
    if stored is None:
        return NotImplemented
    N = A.shape[-1]
    L, told = _by_lines(A.shape, N, A.dtype), np.empty(A.shape[:-2], np.int32)
    steps = (1, N, N, 1) if upper else (N, 1, 1, N)
    grain = max(1, GRAIN_ELEMENTS // (N * N * N))
    if not CHOLESKY.run((stored,), prod(told.shape), grain, np.ascontiguousarray(A), L, told, N, *steps):
        return NotImplemented
    return L.swapaxes(-1, -2), told


def _with_others(name: str, pair: Any, *given: Any) -> Any:
    """What was found; matrices of a batch where it did not go well, as the kernel without conditions has them by themselves."""
    if pair is NotImplemented or not np.count_nonzero(pair[1]):
        return pair
    found, told = pair
    if not told.ndim:
        return NotImplemented
    odd = told != 0
    beneath: Any = next(k.function for k in KERNELS[name, "cpu"] if not k.accelerates)
    found[odd], told[odd] = beneath(*[x[odd] if isinstance(x, np.ndarray) else x for x in given])
    return found, told


def solve_pair(A: Array, B: Array) -> Any:
    """`solution` of systems."""
    return _with_others("solve_pair", solution(A, B), A, B)


def inverse_pair(A: Array) -> Any:
    """`solution` for the identity."""
    return _with_others("inverse_pair", solution(A, None), A)


def cholesky_pair(A: Array, upper: bool) -> Any:
    """`factor`."""
    return _with_others("cholesky_pair", factor(A, upper), A, upper)


def _first(pair: Any) -> Any:
    """A result where all went well."""
    return NotImplemented if pair is NotImplemented or np.count_nonzero(pair[1]) else wrap(pair[0], CPU)


def _wrapped(pair: Any) -> Any:
    found = _first(pair)
    return found if found is NotImplemented else (found, wrap(pair[1], CPU))


def linalg_cholesky_ex(A: Any, *, upper: Any = False, check_errors: Any = False) -> Any:
    """The factor and where it failed."""
    pair = _wrapped(factor(A._array, upper)) if free(A) and type(upper) is bool else NotImplemented
    return pair if pair is NotImplemented else return_types.linalg_cholesky_ex(*pair)


def linalg_cholesky(A: Any, *, upper: Any = False) -> Any:
    """The factor."""
    return _first(factor(A._array, upper)) if free(A) and type(upper) is bool else NotImplemented


def linalg_inv(A: Any) -> Any:
    """The inverse."""
    return _first(solution(A._array, None)) if free(A) else NotImplemented


def inverse(input: Any) -> Any:
    """The same."""
    return linalg_inv(input)


def linalg_inv_ex(A: Any, *, check_errors: Any = False) -> Any:
    """The inverse and where it failed."""
    pair = _wrapped(solution(A._array, None)) if free(A) else NotImplemented
    return pair if pair is NotImplemented else return_types.linalg_inv_ex(*pair)


def _solved(A: Any, B: Any, left: Any) -> Any:
    if left is not True or not free(A) or not free(B):
        return NotImplemented
    a, b = A._array, B._array
    if b.ndim != a.ndim - 1 or b.shape != a.shape[:-1]:
        return solution(a, b)
    pair = solution(a, b[..., None])
    return pair if pair is NotImplemented else (pair[0][..., 0], pair[1])


def linalg_solve(A: Any, B: Any, *, left: Any = True) -> Any:
    """X with A X = B, of matrices or vectors."""
    return _first(_solved(A, B, left))


def linalg_solve_ex(A: Any, B: Any, *, left: Any = True, check_errors: Any = False) -> Any:
    """The same, and where it failed."""
    pair = _wrapped(_solved(A, B, left))
    return pair if pair is NotImplemented else return_types.linalg_solve_ex(*pair)


def linalg_solve_triangular(A: Any, B: Any, *, upper: Any, left: Any = True, unitriangular: Any = False) -> Any:
    """X with A X = B, reading one triangle of A."""
    if left is not True or type(upper) is not bool or type(unitriangular) is not bool or not free(A) or not free(B):
        return NotImplemented
    X = triangular_solution(A._array, B._array, upper, unitriangular)
    return X if X is NotImplemented else wrap(X, CPU)


def _exchanged(order: Array, pivots: list[int]) -> bool:
    """Make the exchanges; False where one is with a row that there is not."""
    for i, p in enumerate(pivots):
        if not 0 < p <= len(order):
            return False
        order[i], order[p - 1] = order[p - 1], order[i]
    return True


def _order(pivots: Array, rows: int) -> Any:
    """The order of rows that the exchanges of one matrix make; None for others."""
    if pivots.dtype != np.int32 or pivots.ndim != 1 or len(pivots) > rows or rows > LARGEST:
        return None
    order = list(range(rows))
    return order if _exchanged(order, pivots.tolist()) else None  # type: ignore[arg-type]


def linalg_lu_solve(LU: Any, pivots: Any, B: Any, *, left: Any = True, adjoint: Any = False) -> Any:
    """X with A X = B from the factors of one matrix."""
    if left is not True or adjoint is not False or not free(LU) or not free(B) or not free(pivots):
        return NotImplemented
    factors, given = LU._array, B._array
    order = _order(pivots._array, len(factors)) if factors.ndim == given.ndim == 2 and len(factors) == len(given) else None
    if order is None or len(pivots._array) != len(factors):
        return NotImplemented
    half = triangular_solution(factors, given[order], False, True)
    X = half if half is NotImplemented else triangular_solution(factors, half, True, False)
    return X if X is NotImplemented else wrap(X, CPU)


@lru_cache(maxsize=1 << 8)
def _triangle(rows: int, columns: int, dtype: Any) -> tuple[Array, Array]:
    """Where the part below a diagonal is, and ones on it."""
    return np.tri(rows, columns, -1, bool), np.eye(rows, columns, dtype=dtype)


def _unpacked(LU: Array, pivots: Array) -> Any:
    """P, L and U of one matrix."""
    if LU.ndim != 2 or LU.dtype not in SERVED or not LU.size or len(pivots) != min(LU.shape):
        return NotImplemented
    (M, N), K = LU.shape, min(LU.shape)
    order = _order(pivots, M)
    if order is None:
        return NotImplemented
    P, U = np.zeros((M, M), LU.dtype), np.zeros((K, N), LU.dtype)
    P[order, range(M)] = 1
    L = _triangle(M, K, LU.dtype)[1].copy()
    np.copyto(L, LU[:, :K], where=_triangle(M, K, LU.dtype)[0])
    np.copyto(U, LU[:K], where=~_triangle(K, N, LU.dtype)[0])
    return wrap(P, CPU), wrap(L, CPU), wrap(U, CPU)


def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: Any = True, unpack_pivots: Any = True) -> Any:
    """The factors of one packed matrix."""
    if unpack_data is not True or unpack_pivots is not True or not free(LU_data) or not free(LU_pivots):
        return NotImplemented
    parts = _unpacked(LU_data._array, LU_pivots._array)
    return parts if parts is NotImplemented else return_types.lu_unpack(*parts)


NOTE = f"float32 and float64, up to {LARGEST} rows"
chosen("cholesky_pair", cholesky_pair, 2, NOTE)
chosen("solve_pair", solve_pair, 2, NOTE)
chosen("inverse_pair", inverse_pair, 1, NOTE)
quickly(
    linalg_cholesky_ex, linalg_cholesky, linalg_inv, inverse, linalg_inv_ex, linalg_solve, linalg_solve_ex,
    linalg_solve_triangular, linalg_lu_solve, lu_unpack,
)  # fmt: skip
