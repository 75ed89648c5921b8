"""Approximate decompositions of matrices of low rank, from products with a few random vectors.

Source: Halko, Martinsson, Tropp, Finding Structure with Randomness (2009), algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.operators import composite, op
from tenfold.tensor.tensor import Tensor


def _check(name: str, A: Any, q: int, niter: int) -> None:
    most = min(A.shape[-2:])
    if not 0 <= q <= most:
        raise ValueError(f"{name}: q(={q}) must be non-negative integer and not greater than min(m, n)={most}")
    if niter < 0:
        raise ValueError(f"{name}: niter(={niter}) must be non-negative integer")


def _basis(A: Any, q: int, niter: int) -> Any:
    """Orthonormal columns Q whose span all but holds that of A: (..., M, N) -> (..., M, q)."""
    Q = op.linalg_qr(A.matmul(op.randn(A.shape[-1], q, dtype=A.dtype, device=A.device))).Q
    for _ in range(niter):
        Q = op.linalg_qr(A.mH.matmul(Q)).Q
        Q = op.linalg_qr(A.matmul(Q)).Q
    return Q


@composite("linalg", method=None, random=True)
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> Any:
    """The first q singular values of A - M and their vectors, about: U (..., M, q), S (q), V (..., N, q).

    `niter` passes back and forth make them more exact, the more the slower singular values fall off.

    >>> import tenfold
    >>> tenfold.svd_lowrank(tenfold.ones(4, 3), q=1)[1].round(decimals=3)
    tensor([3.4640])
    """
    x = A if M is None else A - M
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    if x.shape[-2] < x.shape[-1]:  # the shorter side gets the basis
        V, S, U = _decomposed(x.mH, q, niter)
        return U, S, V
    return _decomposed(x, q, niter)


def _decomposed(x: Any, q: int, niter: int) -> tuple[Any, Any, Any]:
    _check("svd_lowrank", x, q, niter)
    Q = _basis(x, q, niter)
    U, S, Vh = op.linalg_svd(Q.mH.matmul(x), full_matrices=False)
    return Q.matmul(U), S, Vh.mH.contiguous()


@composite("linalg", method=None, random=True)
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """The first q principal components of observations in rows, about: U (..., M, q), S (q), V (..., N, q).

    Columns of V are the directions, S squared over M - 1 the variances along them. `center` takes the mean off first.

    >>> import tenfold
    >>> tenfold.pca_lowrank(tenfold.tensor([[1.0, 1.0], [3.0, 3.0]]), q=1)[1].round(decimals=3)
    tensor([2.])
    """
    q = min(6, *A.shape[-2:]) if q is None else q
    _check("pca_lowrank", A, q, niter)
    return svd_lowrank(A - A.mean(-2, True) if center else A, q, niter)
