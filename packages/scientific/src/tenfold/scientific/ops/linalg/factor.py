"""Factorisations of matrices: QR, singular values, eigenvalues, Cholesky."""

from __future__ import annotations

from typing import Any

from tenfold import return_types
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, primitive
from tenfold.scientific.ops.linalg.checks import (
    raise_if_failed,
    real_dtype,
    require_matrix,
    require_square,
    same_dtype,
    warn_of_older,
)
from tenfold.scientific.ops.linalg.solve import same_batch
from tenfold.tensor.tensor import Tensor

# QR


@primitive("linalg", method=None, name="qr_pair")
def _qr_pair(A: Tensor, mode: str) -> tuple[Tensor, Tensor]:
    """Orthogonal and upper triangular factor: what `linalg.qr` and `qr` run.

    >>> import tenfold
    >>> tenfold.op.qr_pair(tenfold.eye(2), "reduced")[1].abs()
    tensor([[1., 0.],
            [0., 1.]])
    """


def _require_mode(mode: str) -> None:
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")


@_qr_pair.rule
def _(A: Any, mode: str) -> tuple[Meta, Meta]:
    require_matrix("linalg.qr", A)
    _require_mode(mode)
    *batch, M, N = A.shape
    K = M if mode == "complete" else min(M, N)
    return Meta((0,) if mode == "r" else (*batch, M, K), A.dtype), Meta((*batch, K, N), A.dtype)


@composite("linalg", method=None, out="same")
def linalg_qr(A: Tensor, mode: str = "reduced") -> Any:
    """QR decomposition A = Q R, Q with orthonormal columns, R upper triangular.

    Shape: (..., M, N) -> (..., M, K), (..., K, N) with K = min(M, N), or M for mode "complete"; mode "r" leaves Q empty.
    Source: Householder 1958, Unitary Triangularization of a Nonsymmetric Matrix.

    >>> import tenfold
    >>> tenfold.linalg.qr(tenfold.tensor([[0.0, 2.0], [1.0, 3.0]])).R.abs()
    tensor([[1., 3.],
            [0., 2.]])
    """
    _require_mode(mode)  # here too, as kernels of some devices and of empty matrices do not ask the rule
    return return_types.linalg_qr(*_qr_pair(A, mode))


@composite("linalg", out="same")
def qr(input: Tensor, some: bool = True) -> Any:
    """QR decomposition under its older name: `linalg.qr` with mode "reduced" (some) or "complete".

    >>> import tenfold
    >>> tenfold.qr(tenfold.eye(2)).R.abs()
    tensor([[1., 0.],
            [0., 1.]])
    """
    warn_of_older("qr", "linalg.qr", "It takes mode='reduced' or 'complete' instead of some=True or False.")
    return return_types.qr(*_qr_pair(input, "reduced" if some else "complete"))


# Singular values


@primitive("linalg", method=None, name="svd_triple")
def _svd_triple(A: Tensor, full_matrices: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Singular vectors and values: what `linalg.svd` and `svd` run.

    >>> import tenfold
    >>> tenfold.op.svd_triple(tenfold.tensor([[0.0, 2.0], [1.0, 0.0]]), False)[1]
    tensor([2., 1.])
    """


@_svd_triple.rule
def _(A: Any, full_matrices: bool) -> tuple[Meta, Meta, Meta]:
    require_matrix("linalg.svd", A)
    *batch, M, N = A.shape
    K = min(M, N)
    left, right = (M, N) if full_matrices else (K, K)
    return Meta((*batch, M, left), A.dtype), Meta((*batch, K), real_dtype(A.dtype)), Meta((*batch, right, N), A.dtype)


@composite("linalg", method=None, out="same")
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """Singular value decomposition A = U diag(S) Vh, S real and falling.

    Shape: (..., M, N) -> (..., M, M), (..., K), (..., N, N) with K = min(M, N); (..., M, K), (..., K), (..., K, N) with
    full_matrices False. `driver` chooses a routine on CUDA and is refused on the CPU, as in PyTorch.
    Raises: LinAlgError when the matrix has NaN or infinite elements.

    >>> import tenfold
    >>> tenfold.linalg.svd(tenfold.tensor([[0.0, 2.0], [1.0, 0.0]])).S
    tensor([2., 1.])
    """
    if driver is not None and A.is_cpu:
        raise RuntimeError(f"linalg.svd: keyword argument `driver=` is only supported on CUDA inputs, got {driver!r}")
    return return_types.linalg_svd(*_svd_triple(A, full_matrices))


@composite("linalg", method=None, out="same")
def linalg_svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Singular values, falling. Shape: (..., M, N) -> (..., min(M, N)). Dtype: real.

    >>> import tenfold
    >>> tenfold.linalg.svdvals(tenfold.tensor([[0.0, 2.0], [1.0, 0.0]]))
    tensor([2., 1.])
    """
    return linalg_svd(A, False, driver=driver).S


@composite("linalg", out="same")
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """Singular value decomposition under its older name: input = U diag(S) V^H, with V in place of its adjoint.

    >>> import tenfold
    >>> tenfold.svd(tenfold.tensor([[0.0, 2.0], [1.0, 0.0]])).S
    tensor([2., 1.])
    """
    require_matrix("svd", input)
    if not compute_uv:
        (M, N), S = input.shape[-2:], linalg_svdvals(input)
        return return_types.svd(input.new_zeros(*input.shape[:-2], M, M), S, input.new_zeros(*input.shape[:-2], N, N))
    U, S, Vh = _svd_triple(input, not some)
    return return_types.svd(U, S, Vh.mH.contiguous())


# Eigenvalues


@primitive("linalg", method=None, name="eigh_pair")
def _eigh_pair(A: Tensor, UPLO: str) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of a symmetric matrix: what `linalg.eigh` runs.

    >>> import tenfold
    >>> tenfold.op.eigh_pair(tenfold.tensor([[2.0, 0.0], [0.0, 1.0]]), "L")[0]
    tensor([1., 2.])
    """


@_eigh_pair.rule
def _(A: Any, UPLO: str) -> tuple[Meta, Meta]:
    require_square("linalg.eigh", A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"linalg.eigh: Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return Meta(A.shape[:-1], real_dtype(A.dtype)), Meta(A.shape, A.dtype)


@composite("linalg", method=None, out="same")
def linalg_eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Eigenvalues (real, rising) and orthonormal eigenvectors (columns) of a symmetric or Hermitian matrix.

    Only one triangle is read: the lower (UPLO "L") or the upper. Shape: (..., N, N) -> (..., N), (..., N, N).

    >>> import tenfold
    >>> tenfold.linalg.eigh(tenfold.tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
    tensor([1., 3.])
    """
    return return_types.linalg_eigh(*_eigh_pair(A, UPLO))


@composite("linalg", method=None, out="same")
def linalg_eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Eigenvalues of a symmetric or Hermitian matrix, real and rising. Shape: (..., N, N) -> (..., N).

    >>> import tenfold
    >>> tenfold.linalg.eigvalsh(tenfold.tensor([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])
    """
    return _eigh_pair(A, UPLO)[0]


@primitive("linalg", method=None, name="eig_pair")
def _eig_pair(A: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of a square matrix: what `linalg.eig` runs.

    >>> import tenfold
    >>> tenfold.op.eig_pair(tenfold.tensor([[2.0]]))[0]
    tensor([2.+0.j])
    """


@_eig_pair.rule
def _(A: Any) -> tuple[Meta, Meta]:
    require_square("linalg.eig", A)
    dtype = A.dtype if A.dtype.kind == "c" else f"c{2 * A.dtype.itemsize}"
    return Meta(A.shape[:-1], dtype), Meta(A.shape, dtype)


@composite("linalg", method=None, out=True)
def linalg_eig(A: Tensor) -> Any:
    """Eigenvalues and eigenvectors (columns of norm 1) of a square matrix. Dtype: complex, also for real matrices.

    Shape: (..., N, N) -> (..., N), (..., N, N). Raises: RuntimeError for NaN or infinite elements.

    >>> import tenfold
    >>> tenfold.linalg.eig(tenfold.tensor([[2.0, 0.0], [0.0, 3.0]])).eigenvalues
    tensor([2.+0.j, 3.+0.j])
    """
    return return_types.linalg_eig(*_eig_pair(A))


@composite("linalg", method=None, out=True)
def linalg_eigvals(A: Tensor) -> Tensor:
    """Eigenvalues of a square matrix, complex. Shape: (..., N, N) -> (..., N).

    >>> import tenfold
    >>> tenfold.linalg.eigvals(tenfold.tensor([[0.0, 1.0], [-1.0, 0.0]])).imag.abs()
    tensor([1., 1.])
    """
    return _eig_pair(A)[0]


# Cholesky


@primitive("linalg", method=None, name="cholesky_pair")
def _cholesky_pair(A: Tensor, upper: bool) -> tuple[Tensor, Tensor]:
    """The triangular factor and where it failed: what `linalg.cholesky` and `linalg.cholesky_ex` run.

    >>> import tenfold
    >>> tenfold.op.cholesky_pair(tenfold.tensor([[9.0]]), False)
    (tensor([[3.]]), tensor(0, dtype=tenfold.int32))
    """


@_cholesky_pair.rule
def _(A: Any, upper: bool) -> tuple[Meta, Meta]:
    require_square("linalg.cholesky", A)
    return Meta(A.shape, A.dtype), Meta(A.shape[:-2], "int32")


def _require_positive(name: str, info: Any) -> None:
    raise_if_failed(
        name, info,
        lambda order: f"The factorization could not be completed because the input is not positive-definite (the leading "
        f"minor of order {order} is not positive-definite).",
    )  # fmt: skip


@composite("linalg", method=None, out="same")
def linalg_cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """Cholesky decomposition with, for each matrix, 0 or the order of the leading minor that is not positive definite.

    >>> import tenfold
    >>> tenfold.linalg.cholesky_ex(tenfold.tensor([[4.0, 0.0], [0.0, -1.0]])).info
    tensor(2, dtype=tenfold.int32)
    """
    L, info = _cholesky_pair(A, upper)
    if check_errors:
        _require_positive("linalg.cholesky_ex", info)
    return return_types.linalg_cholesky_ex(L, info)


@composite("linalg", method=None, out="same")
def linalg_cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """Lower triangular L with A = L L^H (or, with `upper`, U with A = U^H U) of a positive definite matrix.

    Shape: (..., N, N) -> (..., N, N). Raises: LinAlgError when the matrix is not positive definite.

    >>> import tenfold
    >>> tenfold.linalg.cholesky(tenfold.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    L, info = _cholesky_pair(A, upper)
    _require_positive("linalg.cholesky", info)
    return L


@composite("linalg", out=True)
def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """Cholesky decomposition under its older name.

    >>> import tenfold
    >>> tenfold.cholesky(tenfold.tensor([[9.0]]))
    tensor([[3.]])
    """
    warn_of_older("cholesky", "linalg.cholesky", "Its `.mH` is what upper=True gives.")
    return linalg_cholesky(input, upper=upper)


@primitive("linalg", method=None, name="cholesky_inverted")
def _cholesky_inverted(L: Tensor, upper: bool) -> Tensor:
    """The inverse of the matrix that has this triangular factor: what `cholesky_inverse` runs.

    >>> import tenfold
    >>> tenfold.op.cholesky_inverted(tenfold.tensor([[2.0]]), False)
    tensor([[0.2500]])
    """


@_cholesky_inverted.rule
def _(L: Any, upper: bool) -> Meta:
    require_square("cholesky_inverse", L)
    return Meta(L.shape, L.dtype)


@composite("linalg", out=True)
def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """Inverse of L L^H, given L (or of U^H U, given U with `upper`). Shape: (..., N, N) -> (..., N, N).

    >>> import tenfold
    >>> tenfold.cholesky_inverse(tenfold.tensor([[2.0]]))
    tensor([[0.2500]])
    """
    return _cholesky_inverted(input, upper)


@primitive("linalg", method=None, name="cholesky_solution")
def _cholesky_solution(A: Tensor, B: Tensor, upper: bool) -> Tensor:
    """The solution of a system whose matrix has the triangular factor A: what `cholesky_solve` runs.

    >>> import tenfold
    >>> tenfold.op.cholesky_solution(tenfold.tensor([[2.0]]), tenfold.tensor([[4.0]]), False)
    tensor([[1.]])
    """


@_cholesky_solution.rule
def _(A: Any, B: Any, upper: bool) -> Meta:
    require_square("cholesky_solve", A)
    same_dtype("cholesky_solve", A, B)
    if B.shape[-2] != A.shape[-1]:
        raise RuntimeError(f"cholesky_solve: shapes do not fit, got {list(B.shape)} and a factor {list(A.shape)}")
    return Meta(B.shape, B.dtype)


@composite("linalg", out=True)
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """Solution X of L L^H X = input, given L as input2 (or of U^H U X = input, given U with `upper`).

    Shape: (..., N, K), (..., N, N) -> (..., N, K), batches broadcast.

    >>> import tenfold
    >>> tenfold.cholesky_solve(tenfold.tensor([[4.0]]), tenfold.tensor([[2.0]]))
    tensor([[1.]])
    """
    require_matrix("cholesky_solve", input, "B")
    require_square("cholesky_solve", input2)
    L, B = same_batch("cholesky_solve", input2, input)
    return _cholesky_solution(L, B, upper)
