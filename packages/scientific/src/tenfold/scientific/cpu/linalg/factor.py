"""NumPy (LAPACK) kernels of linear algebra; matrices in the last two dimensions, batches before."""

from __future__ import annotations

import cmath
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.scientific.cpu.linalg.columns import by_columns
from tenfold.scientific.cpu.linalg.lu import factor, pivot_order
from tenfold.scientific.ops.linalg.checks import LinAlgError

linalg = np.linalg


def checked(function: Any, name: str) -> Callable[..., Any]:
    """The kernel for float32, float64 and complex matrices; NumPy's failure to converge as LinAlgError with PyTorch's words.

    Other dtypes are refused here, before NumPy computes them in another precision; the shape rule says why.
    """

    @functools.wraps(function)
    def guarded(A: Any, *rest: Any) -> Any:
        if A.dtype.kind not in "fc" or A.dtype.itemsize == 2:
            raise TypeError(f"{name}: got {A.dtype}")
        try:
            return function(A, *rest)
        except linalg.LinAlgError as error:
            if not np.isfinite(A).all():
                raise LinAlgError(
                    f"linalg.{name}: The algorithm failed to converge because the input matrix contained non-finite values."
                ) from None
            raise LinAlgError(f"linalg.{name}: {error}") from None

    return guarded


def _qr(A: Any, mode: Any) -> Any:
    if mode == "r":
        return np.empty(0, A.dtype), by_columns(linalg.qr(A, "r"))
    if 0 in A.shape:
        M, N = A.shape[-2:]
        K = M if mode == "complete" else min(M, N)
        return by_columns(np.broadcast_to(np.eye(M, K, dtype=A.dtype), (*A.shape[:-2], M, K))), by_columns(
            np.zeros((*A.shape[:-2], K, N), A.dtype)
        )
    return tuple(by_columns(part) for part in linalg.qr(A, mode))


def _svd(A: Any, full_matrices: bool) -> Any:
    U, S, Vh = linalg.svd(A, full_matrices)
    return by_columns(U), S, by_columns(Vh)


def _eigh(A: Any, UPLO: Any) -> Any:
    values, vectors = linalg.eigh(A, UPLO.upper())
    return values, by_columns(vectors)


def _eig(A: Any) -> Any:
    if not np.isfinite(A).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = linalg.eig(A)
    dtype = np.result_type(A.dtype, np.complex64)
    return values.astype(dtype, copy=False), by_columns(vectors.astype(dtype, copy=False))


for _operator, _function, _name in (
    (op.qr_pair, _qr, "qr"), (op.svd_triple, _svd, "svd"), (op.eigh_pair, _eigh, "eigh"), (op.eig_pair, _eig, "eig"),
):  # fmt: skip
    kernel(_operator, device="cpu")(checked(_function, _name))


@kernel(op.linalg_svdvals, device="cpu")
def linalg_svdvals(A: Any, driver: Any) -> Any:
    if driver is not None or A.ndim < 2 or A.dtype.kind not in "fc" or A.dtype.itemsize == 2:
        return NotImplemented
    return checked(lambda a: linalg.svd(a, compute_uv=False), "svdvals")(A)


@kernel(op.linalg_eigvalsh, device="cpu")
def linalg_eigvalsh(A: Any, UPLO: Any) -> Any:
    if A.ndim < 2 or A.shape[-1] != A.shape[-2] or A.dtype.kind not in "fc" or A.dtype.itemsize == 2:
        return NotImplemented
    return checked(lambda a: linalg.eigvalsh(a, UPLO.upper()), "eigvalsh")(A)


# Systems: NumPy stops at the first singular matrix of a batch; then each is tried by itself. What is no finite number is worked
# out here: its LAPACK leaves columns below a NaN as they were, and multiplies it by the zeros beside a triangle.


def _info(A: Any) -> Any:
    return np.zeros(A.shape[:-2], np.int32)


def _inverse(A: Any) -> Any:
    if A.shape[-1] != A.shape[-2]:
        raise ValueError("no square matrix")
    return _solved(A, None)


def _solve(A: Any, B: Any) -> Any:
    if A.dtype != B.dtype or not A.shape[-2] == A.shape[-1] == B.shape[-2]:
        raise ValueError("operands do not fit")
    return _solved(A, B)


def _solved(A: Any, B: Any) -> Any:
    """X with A X = B, None for the identity, and of each matrix where it failed."""
    X, info = _by_lapack(A, B)
    odd = _odd(A)
    if odd is not None:
        unit = np.eye(A.shape[-1], dtype=A.dtype)
        X[odd], info[odd] = _eliminated(A[odd], np.broadcast_to(unit, A[odd].shape) if B is None else B[odd])
    return by_columns(X), info


def _by_lapack(A: Any, B: Any) -> Any:
    solve, given = (linalg.inv, [A]) if B is None else (linalg.solve, [A, B])
    info = _info(A)
    try:
        return solve(*given), info
    except linalg.LinAlgError:
        pass
    result = np.empty(given[-1].shape, A.dtype)
    for place in np.ndindex(info.shape):
        try:
            result[place] = solve(*[a[place] for a in given])
        except linalg.LinAlgError:
            info[place] = _zero_pivot(A[place])
            result[place] = np.nan
    return result, info


def _zero_pivot(a: Any) -> int:
    """The first (1-based) zero on the diagonal of a singular matrix's triangular factor."""
    return int(factor(a, True)[2]) or 1


def _odd(*given: Any) -> Any:
    """Which of the matrices hold numbers that are not finite, as an array of bools; None where none does."""
    if all(cmath.isfinite(np.vdot(a, a)) for a in given):  # which makes no array of bools
        return None
    odd = ~np.logical_and.reduce([np.isfinite(a).all((-2, -1)) for a in given])
    return odd if odd.any() else None


def _eliminated(A: Any, B: Any) -> Any:
    """X and where it failed, step by step, by the factors of matrices in one dimension of a batch."""
    LU, pivots, info = factor(A, True)
    Y = np.take_along_axis(B, pivot_order(pivots, A.shape[-1])[..., None], -2)
    L = np.tril(LU, -1) + np.eye(A.shape[-1], dtype=A.dtype)
    X = _substituted(np.triu(LU), _turned_round(_substituted(L[..., ::-1, ::-1], _turned_round(Y))))
    X[info > 0] = np.nan
    return X, info


def _turned_round(X: Any) -> Any:
    return X[..., ::-1, :]


def _triangular(A: Any, B: Any, upper: bool, unitriangular: bool) -> Any:
    if A.dtype != B.dtype or A.shape[-1] != B.shape[-2] or A.shape[-1] != A.shape[-2]:
        raise ValueError("operands do not fit")
    T = np.triu(A) if upper else np.tril(A)
    if unitriangular:
        diagonal = np.arange(A.shape[-1])
        T[..., diagonal, diagonal] = 1
    if not upper:  # turned round, so that LAPACK's elimination finds nothing to eliminate and only substitutes
        T, B = T[..., ::-1, ::-1], _turned_round(B)
    odd = _odd(T, B)
    try:
        X = linalg.solve(T, B)
    except linalg.LinAlgError:
        X, odd = _substituted(T, B), None
    if odd is not None:
        X[odd] = _substituted(T[odd], B[odd])
    return by_columns(X if upper else _turned_round(X))


def _substituted(U: Any, B: Any) -> Any:
    """Back substitution, with infinities where the diagonal is zero."""
    X = B.copy()
    with np.errstate(all="ignore"):
        for i in range(U.shape[-1] - 1, -1, -1):
            rest = U[..., i : i + 1, i + 1 :] @ X[..., i + 1 :, :]
            X[..., i, :] = (X[..., i, :] - rest[..., 0, :]) / U[..., i, i, None]
    return X


_CHECKED: tuple[tuple[Any, Any, str], ...] = (
    (op.inverse_pair, _inverse, "inv"), (op.solve_pair, _solve, "solve"),
    (op.triangular_solution, _triangular, "solve_triangular"),
)  # fmt: skip
for _operator, _function, _name in _CHECKED:
    kernel(_operator, device="cpu")(checked(_function, _name))


def _cholesky(A: Any, upper: bool) -> Any:
    if A.shape[-1] != A.shape[-2]:
        raise ValueError("no square matrix")
    given = A.conj().swapaxes(-1, -2) if upper else A
    info = _info(A)
    try:
        L = linalg.cholesky(given)
    except linalg.LinAlgError:
        L = np.empty(A.shape, A.dtype)
        for place in np.ndindex(info.shape):
            L[place], info[place] = _one_cholesky(given[place])
    unknown = np.isnan(linalg.diagonal(L)).any(-1) & (info == 0)  # nan, which OpenBLAS takes for positive, and LAPACK does not
    for place in zip(*np.nonzero(unknown)) if L.ndim > 2 else [()] * int(unknown):
        L[place], info[place] = _part_of_cholesky(given[place])
    return by_columns(L.conj().swapaxes(-1, -2) if upper else L), info


def _one_cholesky(a: Any) -> tuple[Any, int]:
    """The factor, or as far as it goes and the order of the first leading minor that is not positive."""
    try:
        return linalg.cholesky(a), 0
    except linalg.LinAlgError:
        return _part_of_cholesky(a)


def _part_of_cholesky(a: Any) -> tuple[Any, int]:
    """The columns of a factor up to the first pivot that is not positive, and the order of its minor."""
    L = np.tril(a)
    for j in range(len(L)):
        row = L[j, :j]
        pivot = (a[j, j] - row @ row.conj()).real
        if not pivot > 0:
            L[j, j] = pivot  # the columns before it are the factor's, as LAPACK leaves them
            return L, j + 1
        L[j, j] = np.sqrt(pivot)
        L[j + 1 :, j] = (a[j + 1 :, j] - L[j + 1 :, :j] @ row.conj()) / L[j, j]
    return L, 0


def _cholesky_inverted(L: Any, upper: bool) -> Any:
    zeros = np.argwhere(linalg.diagonal(L) == 0)
    if zeros.size:
        *batch, place = zeros[0].tolist()
        where = f"(Batch element {np.ravel_multi_index(batch, L.shape[:-2])}): " if batch else ""
        raise LinAlgError(
            f"cholesky_inverse: {where}The diagonal element {place + 1} is zero, the inversion could not be completed because "
            f"the input matrix is singular."
        )
    L = L if upper else L.conj().swapaxes(-1, -2)
    one = np.broadcast_to(np.eye(L.shape[-1], dtype=L.dtype), L.shape)
    half = _triangular(L, one, True, False)
    return by_columns(half @ half.conj().swapaxes(-1, -2))


kernel(op.cholesky_inverted, device="cpu")(checked(_cholesky_inverted, "cholesky_inverse"))


def _cholesky_solution(A: Any, B: Any, upper: bool) -> Any:
    L = A.conj().swapaxes(-1, -2) if upper else A
    return _triangular(L.conj().swapaxes(-1, -2), _triangular(L, B, False, False), True, False)


def _log_determinant(A: Any) -> Any:
    sign, size = linalg.slogdet(A)
    if A.dtype.kind == "f" and np.isnan(size).any():  # of which PyTorch's sign is 0
        sign = np.where(np.isnan(size), A.dtype.type(0), sign)
    return sign, size


kernel(op.cholesky_solution, device="cpu")(checked(_cholesky_solution, "cholesky_solve"))
kernel(op.cholesky_pair, device="cpu")(checked(_cholesky, "cholesky"))
kernel(op.determinant, device="cpu")(checked(quiet(lambda A: linalg.det(A)), "det"))  # noqa: PLW0108 - the parameter's name is checked
kernel(op.log_determinant, device="cpu")(checked(quiet(_log_determinant), "slogdet"))


def _pinv(A: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if hermitian:
        values, U = linalg.eigh(A)
        size, Vh = np.abs(values), U.conj().swapaxes(-1, -2)
    else:
        U, values, Vh = linalg.svd(A, False)
        size = values
    limit = np.maximum(atol, rtol * size.max(-1))[..., None]
    inverted = np.where(size > limit, 1 / np.where(size > limit, values, 1), 0).astype(values.dtype)
    return (Vh.conj().swapaxes(-1, -2) * inverted[..., None, :]) @ U.conj().swapaxes(-1, -2)


kernel(op.pseudo_inverse, device="cpu")(checked(_pinv, "pinv"))
