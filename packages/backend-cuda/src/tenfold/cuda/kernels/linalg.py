"""Linear systems, inverses, determinants, Cholesky, LU and LDL on the device, over cuSOLVER and cuBLAS (solver.py).

Nothing here waits for the device, except where an operator must raise: LAPACK's codes are results.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import vectors  # noqa: F401 - it attaches kernels of this family too
from tenfold.cuda.kernels.handwritten import Handwritten, check_indices, contiguous, start
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.kernels.stacks import (
    by_columns,
    by_rows,
    current,
    factorising,
    identity,
    matrices,
    no_codes,
    require,
    require_fit,
)
from tenfold.cuda.runtime import xp
from tenfold.cuda.solver import ADJOINT, LANES, LOWER, NOT_TRANSPOSED, TRANSPOSED, UPPER
from tenfold.dispatch.operators import op

STEPS = 128  # of a diagonal that a program reads at a time

# Cholesky


@factorising(op.cholesky_pair)
def cholesky_pair(A: Any, upper: bool) -> Any:
    require(A)
    if not A.size:
        return xp.empty(A.shape, A.dtype), no_codes(A)
    # Row by row in memory it is A^T to LAPACK, whose upper factor, conjugated, is A's lower one transposed: L, row by row.
    stack = by_rows(A)
    info = current().potrf(stack, LOWER if upper else UPPER)
    return (xp.triu if upper else xp.tril)(stack).reshape(A.shape), info.reshape(A.shape[:-2])


@factorising(op.cholesky_solution)
def cholesky_solution(A: Any, B: Any, upper: bool) -> Any:
    require_fit(A, B)
    return _by_factor(A, by_rows(B), upper).reshape(B.shape) if B.size else xp.empty(B.shape, B.dtype)


def _by_factor(L: Any, X: Any, upper: bool) -> Any:
    """The solutions in place of the stack of right-hand sides, by rows."""
    adjoint = ADJOINT if L.dtype.kind == "c" else TRANSPOSED
    for operation in (adjoint, NOT_TRANSPOSED) if upper else (NOT_TRANSPOSED, adjoint):
        _substitute(L, X, upper, operation)
    return X


@factorising(op.cholesky_inverted)
def cholesky_inverted(L: Any, upper: bool) -> Any:
    require(L)
    if not L.size:
        return xp.empty(L.shape, L.dtype)
    # A zero on the diagonal gives inf or nan, as on a GPU in PyTorch: nobody waits to look for one.
    return _by_factor(L, by_rows(identity(L.shape[:-2], L.shape[-1], L.shape[-1], L.dtype)), upper).reshape(L.shape)


# Triangles


@factorising(op.triangular_solution)
def triangular_solution(A: Any, B: Any, upper: bool, unitriangular: bool) -> Any:
    require_fit(A, B)
    if not B.size:
        return xp.empty(B.shape, B.dtype)
    X = by_rows(B)
    _substitute(A, X, upper, NOT_TRANSPOSED, unitriangular)
    return X.reshape(B.shape)


def _substitute(T: Any, X: Any, upper: bool, operation: int, unit: bool = False) -> None:
    """The solutions of op(T) X = B in place of a stack of right-hand sides by rows, which are X^T to cuBLAS: X^T op(T)^T = B^T.

    T by rows is T^T to it, so op stays what it is and the triangle is the other one; T by columns is read as it lies, too.
    """
    turned = T.swapaxes(-1, -2)
    if not T.flags.c_contiguous and turned.flags.c_contiguous and operation != ADJOINT:
        T, operation, uplo = turned, TRANSPOSED - operation, UPPER if upper else LOWER
    else:
        T, uplo = contiguous(T), LOWER if upper else UPPER
    current().trsm_right(T.reshape(-1, *T.shape[-2:]), X, uplo, operation, unit)


# LU


@factorising(op.lu_packed)
def lu_packed(A: Any, pivot: bool) -> Any:
    require(A, square=False)
    batch = A.shape[:-2]
    if not A.size:
        return xp.empty(A.shape, A.dtype), xp.empty((*batch, min(A.shape[-2:])), np.int32), no_codes(A)
    stack = by_columns(A)
    pivots, info = current().getrf(stack, pivot)
    return matrices(stack, batch), pivots.reshape(*batch, -1), info.reshape(batch)


@kernel(op.pivot_order, device="cuda")
def pivot_order(pivots: Any, rows: int) -> Any:
    *batch, steps = pivots.shape
    order = xp.empty((*batch, rows), np.int64)
    order[...] = xp.arange(rows)
    if order.size and steps:
        pivots, count = contiguous(pivots), order.size // rows
        check_indices("lu_unpack", pivots, 1, rows + 1)
        exchange = Handwritten("exchange_rows", (("LANES", LANES),), 1)
        index = runtime.current().index_of(order)
        start(exchange, (-(-count // LANES),), (order, pivots, count, min(steps, rows), steps, rows), index)
    return order


@factorising(op.solve_pair)
def solve_pair(A: Any, B: Any) -> Any:
    require_fit(A, B)
    if not A.size:
        return xp.empty(B.shape, B.dtype), no_codes(A)
    lu = by_columns(A)
    pivots, info = current().getrf(lu, True)
    info = info.reshape(A.shape[:-2])
    if not B.size:
        return xp.empty(B.shape, B.dtype), info
    X = by_columns(B)
    current().getrs(lu, pivots, X)
    return matrices(X, B.shape[:-2]), info


@factorising(op.inverse_pair)
def inverse_pair(A: Any) -> Any:
    require(A)
    return solve_pair(A, xp.broadcast_to(xp.eye(A.shape[-1], dtype=A.dtype), A.shape))


@factorising(op.determinant)
def determinant(A: Any) -> Any:
    require(A)
    if not A.size:
        return xp.ones(A.shape[:-2], A.dtype)
    return _determinants(A, False)[0]


@factorising(op.log_determinant)
def log_determinant(A: Any) -> Any:
    require(A)
    if not A.size:
        return xp.ones(A.shape[:-2], A.dtype), xp.zeros(A.shape[:-2], A.dtype.char.lower())
    return _determinants(A, True)


def _determinants(A: Any, log: bool) -> tuple[Any, Any]:
    """(the determinants, or their signs; the logarithms of their absolute values) by L and U."""
    now, batch, real = runtime.current(), A.shape[:-2], np.dtype(A.dtype.char.lower())
    stack = by_columns(A)
    pivots, info = current().getrf(stack, True)
    index = now.index_of(stack)
    out = now.empty(batch, A.dtype, index)
    size = now.empty(batch, real, index) if log else out
    plain = [x.reshape(-1).view(real) for x in (out, size, stack)]
    fixed = (("PAIRED", int(A.dtype.kind == "c")), ("LOG", int(log)), ("BLOCK", STEPS))
    start(Handwritten("determinants", fixed), (stack.shape[0],), (*plain, pivots, info, A.shape[-1]), index)
    return out, size


# Symmetric indefinite matrices

_ldl_on_host = through_host("ldl_packed")


@factorising(op.ldl_packed)
def ldl_packed(A: Any, hermitian: bool) -> Any:
    """cuSOLVER has sytrf for symmetric matrices only, and CuPy not its function that solves with the factors."""
    require(A)
    if hermitian and A.dtype.kind == "c":
        return _ldl_on_host(A, hermitian)
    if not A.size:
        return xp.empty(A.shape, A.dtype), xp.empty(A.shape[:-1], np.int32), no_codes(A)
    stack = by_columns(A)
    pivots, info = current().sytrf(stack)
    # By columns the lower triangle is what lies above the diagonal of the stack.
    return matrices(xp.triu(stack), A.shape[:-2]), pivots.reshape(A.shape[:-1]), info.reshape(A.shape[:-2])


kernel(op.linalg_ldl_solve, device="cuda", note="computed on the host")(through_host("linalg_ldl_solve"))
