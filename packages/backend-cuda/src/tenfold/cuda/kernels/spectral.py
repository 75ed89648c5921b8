"""QR, singular values and eigenvalues on the device, over cuSOLVER (solver.py).

Singular values and eigenvalues wait for the device once: a matrix on which the iteration does not converge is an error.
"""

from __future__ import annotations

from typing import Any

from tenfold.cuda.kernels.handwritten import contiguous
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.kernels.matmul import product
from tenfold.cuda.kernels.stacks import (
    LOWER_ONE,
    UPPER_ONE,
    by_columns,
    codes_on_host,
    current,
    factorising,
    finite_stack,
    identity,
    matrices,
    raise_if_failed,
    require,
)
from tenfold.cuda.runtime import xp
from tenfold.cuda.solver import LOWER, UPPER
from tenfold.dispatch.operators import op

# QR


@factorising(op.qr_pair)
def qr_pair(A: Any, mode: str) -> Any:
    require(A, square=False)
    (*batch, M, N), K = A.shape, min(A.shape[-2:])
    rows = columns = M if mode == "complete" else K
    nothing = xp.empty(0, A.dtype)
    if not A.size:
        return nothing if mode == "r" else identity(batch, M, columns, A.dtype), xp.zeros((*batch, rows, N), A.dtype)
    stack = by_columns(A)
    tau = current().geqrf(stack)
    R = matrices(xp.tril(stack[:, :, :rows]), batch)
    if mode == "r":
        return nothing, R
    if columns > N:
        wider = xp.zeros((len(stack), M, M), A.dtype)
        wider[:, :N] = stack
        stack = wider
    current().orgqr(stack, tau, columns)
    return matrices(stack[:, :columns], batch), R


@factorising(op.geqrf_pair)
def geqrf_pair(A: Any) -> Any:
    require(A, square=False)
    *batch, M, N = A.shape
    if not A.size:
        return xp.empty(A.shape, A.dtype), xp.zeros((*batch, min(M, N)), A.dtype)
    stack = by_columns(A)
    tau = current().geqrf(stack)
    return matrices(stack, batch), tau.reshape(*batch, -1)


@factorising(op.linalg_householder_product)
def linalg_householder_product(A: Any, tau: Any) -> Any:
    require(A, square=False)
    M, N = A.shape[-2:]
    if A.dtype != tau.dtype or A.shape[:-2] != tau.shape[:-1] or not M >= N >= tau.shape[-1] or not tau.size or not A.size:
        return NotImplemented
    stack = by_columns(A)
    current().orgqr(stack, contiguous(tau).reshape(len(stack), -1), N)
    return matrices(stack, A.shape[:-2])


@factorising(op.ormqr)
def ormqr(input: Any, tau: Any, other: Any, left: bool, transpose: bool) -> Any:
    require(input, square=False)
    size, K = other.shape[-2 if left else -1] if other.ndim > 1 else 0, tau.shape[-1] if tau.ndim else 0
    alike = input.dtype == tau.dtype == other.dtype and input.shape[:-2] == tau.shape[:-1] == other.shape[:-2]
    if not alike or input.shape[-2] != size or min(input.shape[-2:]) < K or not K or not other.size or not input.size:
        return NotImplemented
    stack, C = by_columns(input), by_columns(other)
    current().ormqr(stack, contiguous(tau).reshape(len(stack), -1), C, left, transpose)
    return matrices(C, other.shape[:-2])


# Singular values


@factorising(op.svd_triple)
def svd_triple(A: Any, full_matrices: bool) -> Any:
    require(A, square=False)
    return _svd("svd", A, True, full_matrices)


@factorising(op.linalg_svdvals)
def linalg_svdvals(A: Any, driver: Any) -> Any:
    require(A, square=False)
    return _svd("svdvals", A, False, False)[1]


def _svd(name: str, A: Any, vectors: bool, full: bool) -> tuple[Any, Any, Any]:
    """(U, S, V^H): by Jacobi rotations, as PyTorch has it on CUDA, and where these do not converge, by QR iterations."""
    (*batch, M, N), K = A.shape, min(A.shape[-2:])
    if not A.size:
        left, right = (M, N) if full else (K, K)
        values = xp.empty((*batch, K), A.dtype.char.lower())
        return identity(batch, M, left, A.dtype), values, identity(batch, right, N, A.dtype)
    given, finite = finite_stack(A)
    found = current().gesvdj(given, vectors, full)
    codes = codes_on_host(found[3], finite, batch)
    if (codes > 0).any():
        U, S, VH, info, finite = _by_iterations(A, batch, vectors, full)
        codes = codes_on_host(info, finite, batch)
    else:
        U, S = matrices(found[0], batch), found[1].reshape(*batch, K)
        VH = found[2].reshape(*batch, *found[2].shape[1:])  # the columns of V are the rows of V^H
        VH = xp.conj(VH) if A.dtype.kind == "c" else VH
    raise_if_failed(name, codes, "singular values")
    return U, S, VH


def _by_iterations(A: Any, batch: Any, vectors: bool, full: bool) -> tuple[Any, Any, Any, Any, Any]:
    """gesvd takes matrices with M >= N: of others the transpose, whose vectors on the left are the rows of V^H."""
    M, N = A.shape[-2:]
    given, finite = finite_stack(A, across=M < N)
    left, S, right, info = current().gesvd(given, vectors, full)
    S = S.reshape(*batch, -1)
    if M >= N:
        return matrices(left, batch), S, matrices(right, batch), info, finite
    return right.reshape(*batch, *right.shape[1:]), S, left.reshape(*batch, *left.shape[1:]), info, finite


@factorising(op.pseudo_inverse)
def pseudo_inverse(A: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    require(A, square=hermitian)
    *batch, M, N = A.shape
    if not A.size:
        return xp.zeros((*batch, N, M), A.dtype)
    if hermitian:
        values, U = _eigh("pinv", A, "L", True)
        size, V = xp.abs(values), U
    else:
        U, values, VH = _svd("pinv", A, True, False)
        size, V = values, xp.conj(VH).swapaxes(-1, -2)
    limit = xp.maximum(atol, rtol * size.max(axis=-1))[..., None]
    inverted = xp.where(size > limit, 1 / xp.where(size > limit, values, 1), 0).astype(values.dtype)
    left, right = V * inverted[..., None, :], xp.conj(U).swapaxes(-1, -2)
    return product(left.reshape(-1, N, left.shape[-1]), right.reshape(-1, right.shape[-2], M)).reshape(*batch, N, M)


# Eigenvalues


@factorising(op.eigh_pair)
def eigh_pair(A: Any, UPLO: str) -> Any:
    require(A)
    return _eigh("eigh", A, UPLO, True)


@factorising(op.linalg_eigvalsh)
def linalg_eigvalsh(A: Any, UPLO: str) -> Any:
    require(A)
    return _eigh("eigvalsh", A, UPLO, False)[0]


def _eigh(name: str, A: Any, UPLO: str, vectors: bool) -> tuple[Any, Any]:
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"linalg.{name}: Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    if not A.size:
        return xp.empty(A.shape[:-1], A.dtype.char.lower()), xp.empty(A.shape, A.dtype)
    lower = UPLO.upper() == "L"
    stack, finite = finite_stack(A, LOWER_ONE if lower else UPPER_ONE)
    values, info, held = current().syevd(stack, LOWER if lower else UPPER, vectors)
    codes = codes_on_host(info, finite, A.shape[:-2])
    del held
    raise_if_failed(name, codes, "eigenvalues")
    return values.reshape(A.shape[:-1]), matrices(stack, A.shape[:-2])


_eig_on_host = through_host("eig_pair")


@factorising(op.eig_pair)
def eig_pair(A: Any) -> Any:
    require(A)
    if not A.size:
        return xp.empty(A.shape[:-1], A.dtype.char.upper()), xp.empty(A.shape, A.dtype.char.upper())
    if not current().has_geev():
        return _eig_on_host(A)
    given, finite = finite_stack(A)
    values, stack, info, held = current().geev(given)
    codes = codes_on_host(info, finite, A.shape[:-2])
    del held
    if not (codes >= 0).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    raise_if_failed("eig", codes, "eigenvalues")
    vectors = _paired(values, stack) if A.dtype.kind == "f" else stack
    return values.reshape(A.shape[:-1]), matrices(vectors, A.shape[:-2])


def _paired(values: Any, packed: Any) -> Any:
    """Complex vectors of real matrices: of a pair LAPACK keeps the real part, then the imaginary one of the first."""
    first, second = (values.imag > 0)[..., None], (values.imag < 0)[..., None]
    vectors = xp.empty(packed.shape, values.dtype)
    vectors.real = xp.where(second, xp.roll(packed, 1, axis=1), packed)
    vectors.imag = xp.where(first, xp.roll(packed, -1, axis=1), xp.where(second, -packed, packed.dtype.type(0)))
    return vectors
