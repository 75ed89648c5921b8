"""The functions of `solver.CuSolver` on NumPy arrays, by SciPy's LAPACK: what the interpreter factorises with.

The stacks are the same, column by column in memory, so that what is built on these functions is tested without a GPU.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tenfold.cuda.solver import LETTERS, LOWER, UPPER


@cache
def available() -> Any:
    """An object with the functions; None without SciPy."""
    try:
        from scipy.linalg import blas, lapack  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return None
    return Lapack(lapack, blas)


class Lapack:
    """LAPACK, matrix by matrix."""

    def __init__(self, lapack: Any, blas: Any) -> None:
        self.lapack, self.blas = lapack, blas

    def _dense(self, name: str, dtype: Any) -> Any:
        return getattr(self.lapack, LETTERS[dtype.char] + name)

    def potrf(self, a: Any, uplo: int) -> Any:
        info, potrf = np.zeros(len(a), np.int32), self._dense("potrf", a.dtype)
        for i, x in enumerate(_matrices(a)):
            x[...], info[i] = potrf(x, lower=uplo == LOWER, clean=0)
        return info

    def getrf(self, a: Any, pivot: bool) -> tuple[Any, Any]:
        K = min(a.shape[1:])
        info, pivots = np.zeros(len(a), np.int32), np.tile(np.arange(1, K + 1, dtype=np.int32), (len(a), 1))
        getrf = self._dense("getrf", a.dtype)
        for i, x in enumerate(_matrices(a)):
            if pivot:
                x[...], exchanges, info[i] = getrf(x)
                pivots[i] = exchanges + 1  # SciPy counts from 0
            else:
                info[i] = _eliminated(x)
        return pivots, info

    def getrs(self, lu: Any, pivots: Any, b: Any) -> None:
        getrs = self._dense("getrs", lu.dtype)
        for x, exchanges, y in zip(_matrices(lu), pivots, _matrices(b)):
            y[...] = getrs(x, exchanges - 1, y)[0]

    def trsm_right(self, t: Any, b: Any, uplo: int, operation: int, unit: bool) -> None:
        trsm = getattr(self.blas, LETTERS[t.dtype.char] + "trsm")
        for x, y in zip(_matrices(t), _matrices(b)):
            y[...] = trsm(1, x, y, side=1, lower=uplo == LOWER, trans_a=operation, diag=unit)

    def geqrf(self, a: Any) -> Any:
        tau, geqrf = np.empty((len(a), min(a.shape[1:])), a.dtype), self._dense("geqrf", a.dtype)
        for i, x in enumerate(_matrices(a)):
            x[...], tau[i], _, _ = geqrf(x)
        return tau

    def orgqr(self, a: Any, tau: Any, columns: int) -> None:
        orgqr = self._dense("ungqr" if a.dtype.kind == "c" else "orgqr", a.dtype)
        for x, t in zip(_matrices(a), tau):
            x[:, :columns] = orgqr(x[:, :columns], t)[0]

    def ormqr(self, a: Any, tau: Any, c: Any, left: bool, adjoint: bool) -> None:
        ormqr = self._dense("unmqr" if a.dtype.kind == "c" else "ormqr", a.dtype)
        turned = "N" if not adjoint else "C" if a.dtype.kind == "c" else "T"
        for x, t, y in zip(_matrices(a), tau, _matrices(c)):
            y[...] = ormqr("L" if left else "R", turned, x[:, : len(t)], t, y, 64 * max(y.shape))[0]

    def sytrf(self, a: Any) -> tuple[Any, Any]:
        pivots, info = np.empty(a.shape[:2], np.int32), np.zeros(len(a), np.int32)
        sytrf = self._dense("sytrf", a.dtype)
        for i, x in enumerate(_matrices(a)):
            x[...], pivots[i], info[i] = sytrf(x, lower=1)
        return pivots, info

    def syevd(self, a: Any, uplo: int, vectors: bool) -> tuple[Any, Any, Any]:
        w, info = np.empty(a.shape[:2], a.dtype.char.lower()), np.zeros(len(a), np.int32)
        syevd = self._dense("heevd" if a.dtype.kind == "c" else "syevd", a.dtype)
        for i, x in enumerate(_matrices(a)):
            w[i], v, info[i] = syevd(x, compute_v=vectors, lower=uplo != UPPER)
            if vectors:
                x[...] = v
        return w, info, None

    def has_geev(self) -> bool:
        return True

    def geev(self, a: Any) -> tuple[Any, Any, Any, Any]:
        values, vectors = np.empty(a.shape[:2], a.dtype.char.upper()), np.empty_like(a)
        info, geev = np.zeros(len(a), np.int32), self._dense("geev", a.dtype)
        for i, (x, v) in enumerate(zip(_matrices(a), _matrices(vectors))):
            *parts, _, v[...], info[i] = geev(x, compute_vl=0)
            values[i] = parts[0] + 1j * parts[1] if len(parts) == 2 else parts[0]
        return values, vectors, info, None

    def gesvdj(self, a: Any, vectors: bool, full: bool) -> tuple[Any, Any, Any, Any]:
        U, S, VH, info = self.gesvd(a, vectors, full)
        return U, S, np.ascontiguousarray(VH.conj().swapaxes(1, 2)), info

    def gesvd(self, a: Any, vectors: bool, full: bool) -> tuple[Any, Any, Any, Any]:
        count, N, M = a.shape
        K = min(M, N)
        left, right = (M, N) if full else (K, K)
        U, VH = np.empty((count, left, M), a.dtype), np.empty((count, N, right), a.dtype)
        S, info, gesvd = np.empty((count, K), a.dtype.char.lower()), np.zeros(count, np.int32), self._dense("gesvd", a.dtype)
        for i, (x, u, v) in enumerate(zip(_matrices(a), _matrices(U), _matrices(VH))):
            found = gesvd(x, compute_uv=vectors, full_matrices=full)
            S[i], info[i] = found[1], found[3]
            if vectors:
                u[...], v[...] = found[0], found[2]
        return U, S, VH, info


def _matrices(stack: Any) -> Any:
    """The matrices of a stack as LAPACK has them: columns are contiguous."""
    return stack.swapaxes(1, 2)


def _eliminated(a: Any) -> int:
    """L and U in place, without exchanges; the (1-based) place of the first zero on the diagonal."""
    code = 0
    with np.errstate(all="ignore"):
        for k in range(min(a.shape)):
            if a[k, k] == 0:
                code = code or k + 1
                continue
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return code
