"""LU, LDL and packed QR in NumPy, whose own LAPACK functions do not hand these factors out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.scientific.cpu.linalg.columns import by_columns

PANEL = 32  # columns that are eliminated one by one before the rest of the matrix is updated by one product


def _require(A: Any) -> None:
    if A.dtype.kind not in "fc" or A.dtype.itemsize == 2 or A.ndim < 2:
        raise TypeError(f"got {A.dtype}")


def factor(A: Any, pivot: bool) -> tuple[Any, Any, Any]:
    """L and U in one array, 1-based row exchanges, and the first zero on U's diagonal (1-based) or 0."""
    batch, (M, N) = A.shape[:-2], A.shape[-2:]
    K = min(M, N)
    LU = np.array(A.reshape(-1, M, N)) if A.size else np.zeros((int(np.prod(batch)), M, N), A.dtype)
    pivots = np.tile(np.arange(1, K + 1, dtype=np.int32), (LU.shape[0], 1))
    info = np.zeros(LU.shape[0], np.int32)
    with np.errstate(all="ignore"):
        for start in range(0, K, PANEL):
            stop = min(start + PANEL, K)
            for k in range(start, stop):
                _eliminate(LU, pivots, info, k, stop, pivot)
            if stop < N:
                _update(LU, start, stop)
    return LU.reshape(A.shape), pivots.reshape(*batch, K), info.reshape(batch)


def _eliminate(LU: Any, pivots: Any, info: Any, k: int, stop: int, pivot: bool) -> None:
    every = np.arange(LU.shape[0])
    if pivot:
        rows = k + _size(LU)(LU[:, k:, k]).argmax(1)
        pivots[:, k] = rows + 1
        LU[every, rows], LU[:, k] = LU[:, k].copy(), LU[every, rows]
    top = LU[:, k, k]
    info[(top == 0) & (info == 0)] = k + 1
    LU[:, k + 1 :, k] /= np.where(top == 0, 1, top)[:, None]
    LU[:, k + 1 :, k + 1 : stop] -= LU[:, k + 1 :, k : k + 1] * LU[:, k : k + 1, k + 1 : stop]


def _update(LU: Any, start: int, stop: int) -> None:
    """Rows of U right of a panel, then what is left to factor."""
    for i in range(start + 1, stop):
        LU[:, i : i + 1, stop:] -= LU[:, i : i + 1, start:i] @ LU[:, start:i, stop:]
    LU[:, stop:, stop:] -= LU[:, stop:, start:stop] @ LU[:, start:stop, stop:]


@kernel(op.lu_packed, device="cpu")
def lu_packed(A: Any, pivot: bool) -> Any:
    _require(A)
    LU, pivots, info = factor(A, pivot)
    return by_columns(LU), pivots, info


@kernel(op.pivot_order, device="cpu")
def pivot_order(pivots: Any, rows: int) -> Any:
    flat = pivots.reshape(-1, pivots.shape[-1]) if pivots.size else np.zeros((int(np.prod(pivots.shape[:-1])), 0), int)
    order = np.tile(np.arange(rows), (flat.shape[0], 1))
    every = np.arange(flat.shape[0])
    for i in range(flat.shape[1]):
        j = flat[:, i] - 1
        order[every, j], order[:, i] = order[:, i].copy(), order[every, j]
    return order.reshape(*pivots.shape[:-1], rows)


@kernel(op.geqrf_pair, device="cpu")
def geqrf_pair(A: Any) -> Any:
    _require(A)
    h, tau = np.linalg.qr(A, "raw") if A.size else (A.swapaxes(-1, -2), np.zeros((*A.shape[:-2], min(A.shape[-2:])), A.dtype))
    return by_columns(h.swapaxes(-1, -2)), tau


# Bunch and Kaufman 1977, the lower triangle as LAPACK's sytf2 packs it

ALPHA = (1 + 17**0.5) / 8


def _turned(x: Any, hermitian: bool) -> Any:
    return x.conj() if hermitian else x


def _one_ldl(a: Any, hermitian: bool) -> tuple[Any, Any, int]:
    n = a.shape[0]
    a = np.tril(a)
    pivots, info, k = np.zeros(n, np.int32), 0, 0
    while k < n:
        step, p = _choose(a, k, hermitian)
        if step == 0:  # a column of zeros
            info, pivots[k] = info or k + 1, k + 1
            k += 1
            continue
        _exchange(a, k + step - 1, p, k, step, hermitian)
        if step == 1:
            pivots[k] = p + 1
            column = a[k + 1 :, k].copy()
            d = a[k, k].real if hermitian else a[k, k]
            a[k + 1 :, k] = column / d
            a[k + 1 :, k + 1 :] -= np.tril(np.outer(column, _turned(column, hermitian)) / d)
        else:
            pivots[k : k + 2] = -(p + 1)
            block = a[k : k + 2, k : k + 2].copy()
            block[0, 1] = _turned(block[1, 0], hermitian)
            columns = a[k + 2 :, k : k + 2].copy()
            solved = columns @ np.linalg.inv(block)
            a[k + 2 :, k : k + 2] = solved
            a[k + 2 :, k + 2 :] -= np.tril(solved @ _turned(columns, hermitian).T)
        k += step
    return a, pivots, info


def _choose(a: Any, k: int, hermitian: bool) -> tuple[int, int]:
    """The size of the next block of D (0: nothing to eliminate) and the row to exchange its last row with."""
    size = _size(a)
    diagonal = abs(a[k, k].real) if hermitian else size(a[k, k])
    below = size(a[k + 1 :, k])
    largest, row = (below.max(), k + 1 + int(below.argmax())) if below.size else (0.0, k)
    if max(diagonal, largest) == 0:
        return 0, k
    if diagonal >= ALPHA * largest:
        return 1, k
    in_row = max(size(a[row, k:row]).max(), size(a[row + 1 :, row]).max(initial=0))
    if diagonal >= ALPHA * largest * (largest / in_row):
        return 1, k
    own = abs(a[row, row].real) if hermitian else size(a[row, row])
    return (1, row) if own >= ALPHA * in_row else (2, row)


def _size(a: Any) -> Any:
    """LAPACK's cheap absolute value of complex numbers: |re| + |im|."""
    return (lambda x: np.abs(x.real) + np.abs(x.imag)) if a.dtype.kind == "c" else np.abs


def _exchange(a: Any, kk: int, p: int, k: int, step: int, hermitian: bool) -> None:
    """Exchange rows and columns kk and p of the part that is not yet factored."""
    if p == kk:
        return
    a[[kk, p], kk], a[[kk, p], p] = a[[kk, p], kk], a[[kk, p], p]
    a[p + 1 :, kk], a[p + 1 :, p] = a[p + 1 :, p].copy(), a[p + 1 :, kk].copy()
    middle = a[kk + 1 : p, kk].copy()
    a[kk + 1 : p, kk] = _turned(a[p, kk + 1 : p], hermitian)
    a[p, kk + 1 : p] = _turned(middle, hermitian)
    if hermitian:
        a[p, kk] = a[p, kk].conj()
    a[kk, kk], a[p, p] = a[p, p], a[kk, kk]
    if step == 2:
        a[k + 1, k], a[p, k] = a[p, k], a[k + 1, k]


@kernel(op.ldl_packed, device="cpu")
@quiet
def ldl_packed(A: Any, hermitian: bool) -> Any:
    _require(A)
    hermitian = hermitian and A.dtype.kind == "c"
    LD, pivots = np.empty(A.shape, A.dtype), np.empty(A.shape[:-1], np.int32)
    info = np.empty(A.shape[:-2], np.int32)
    for place in np.ndindex(info.shape):
        LD[place], pivots[place], info[place] = _one_ldl(A[place], hermitian)
    return by_columns(LD), pivots, info


@kernel(op.linalg_ldl_solve, device="cpu")
def linalg_ldl_solve(LD: Any, pivots: Any, B: Any, hermitian: bool) -> Any:
    _require(LD)
    if LD.dtype != B.dtype or B.ndim < 2 or not LD.shape[-2] == LD.shape[-1] == B.shape[-2]:
        raise ValueError("operands do not fit")  # the rule says why
    hermitian = hermitian and LD.dtype.kind == "c"
    batch = np.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    LD, pivots = np.broadcast_to(LD, (*batch, *LD.shape[-2:])), np.broadcast_to(pivots, (*batch, pivots.shape[-1]))
    X = np.array(np.broadcast_to(B, (*batch, *B.shape[-2:])))
    for place in np.ndindex(batch):
        _ldl_one_solve(LD[place], pivots[place], X[place], hermitian)
    return X


def _ldl_one_solve(a: Any, pivots: Any, x: Any, hermitian: bool) -> None:
    """Forward through the exchanges, columns of L and blocks of D, then backward, in place."""
    blocks, k = [], 0
    while k < a.shape[0]:
        blocks.append((k, 1 if pivots[k] > 0 else 2))
        k += blocks[-1][1]
    for k, step in blocks:
        last, p = k + step - 1, abs(int(pivots[k])) - 1
        x[[last, p]] = x[[p, last]]
        x[k + step :] -= a[k + step :, k : k + step] @ x[k : k + step]
        D = a[k : k + step, k : k + step].copy()
        if step == 2:
            D[0, 1] = _turned(D[1, 0], hermitian)
        x[k : k + step] = np.linalg.solve(D, x[k : k + step])
    for k, step in reversed(blocks):
        last, p = k + step - 1, abs(int(pivots[k])) - 1
        x[k : k + step] -= _turned(a[k + step :, k : k + step], hermitian).T @ x[k + step :]
        x[[last, p]] = x[[p, last]]
