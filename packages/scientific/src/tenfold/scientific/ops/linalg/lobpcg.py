"""A few extreme eigenvalues of a large symmetric matrix, by a search that only multiplies by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.runtime import STATE
from tenfold.ops.indexing.joining import cat
from tenfold.tensor.tensor import Tensor
from tenfold.types.numeric_limits import finfo

# Up to this size all eigenvalues of a dense matrix take no longer than the search for a few.
_ALL_AT_ONCE = 256


class Progress(NamedTuple):
    """What a `tracker` is shown after each step of the search."""

    iteration: int
    E: Tensor
    X: Tensor
    residual: Tensor  # of each pair, relative


@composite("linalg", method=None)
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Callable[[Progress], Any] | None = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The k largest (or smallest) eigenvalues of A, or of the pencil (A, B), and their eigenvectors.

    Formula: A x = lambda B x with X^H B X = I. A is symmetric, B positive definite; either may be sparse. The search starts
    from X, or from n random columns, and takes up to `niter` steps (1000) until residuals are below `tol` (the root of the
    dtype's eps); `iK` approximates A^-1. `tracker` is shown every step. A dense matrix that is small or has a gradient to
    come is decomposed as a whole.

    Shape: (*, m, m) -> (*, k), (*, m, k), with m >= 3 k. Dtype: real floating.
    Raises: AssertionError for A that is not square; ValueError for k too large.
    Differs from PyTorch: `method` and the parameters of orthogonalization are accepted and unused; B has a gradient too.
    Source: Knyazev, "Toward the Optimal Preconditioned Eigensolver", 2001, algorithm 5.1.

    >>> import tenfold
    >>> values, vectors = tenfold.lobpcg(tenfold.diag(tenfold.tensor([3.0, 1.0, 2.0])), largest=False)
    >>> values, vectors.abs()
    (tensor([1.]), tensor([[0.],
            [1.],
            [0.]]))
    """
    if A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise AssertionError(f"lobpcg: A must be square, got shape {list(A.shape)}")
    if A.dtype.category != 2:
        raise RuntimeError(f"lobpcg: expected A of a real floating dtype, got {A.dtype.name}; convert with .to()")
    k = (1 if X is None else X.shape[-1]) if k is None else k
    columns = (k if n is None else max(n, k)) if X is None else X.shape[-1]
    size = A.shape[-1]
    if size < 3 * columns:
        raise ValueError(
            f"lobpcg: LOBPCG algorithm is not applicable when the number of A rows (={size}) is smaller than 3 x the number of "
            f"requested eigenpairs (={columns}); take linalg.eigh"
        )
    largest = True if largest is None else largest
    plain = not A.is_sparse and (B is None or not B.is_sparse) and tracker is None
    if plain and (size <= _ALL_AT_ONCE or A.requires_grad or (B is not None and B.requires_grad) or STATE.transforms):
        return _decomposed(A, B, k, largest)
    start = op.randn((*A.shape[:-1], columns), dtype=A.dtype, device=A.device) if X is None else X.detach()
    limits = (1000 if niter is None else niter, finfo(A.dtype).eps ** 0.5 if tol is None else tol)
    if A.dim() == 2:
        values, vectors = _search(A.detach(), None if B is None else B.detach(), start, iK, limits, largest, tracker)
        return values[:k], vectors[:, :k]
    found = [
        lobpcg(
            a, k, None if B is None else B[i], start[i], n, None if iK is None else iK[i], niter, tol, largest, method, tracker
        )
        for i, a in enumerate(A)
    ]
    return op.stack([e for e, _ in found]), op.stack([v for _, v in found])


def _decomposed(A: Tensor, B: Tensor | None, k: int, largest: bool) -> tuple[Tensor, Tensor]:
    A = (A + A.mT) / 2  # the gradient is symmetric then
    if B is None:
        values, vectors = op.linalg_eigh(A)
    else:
        L = op.linalg_cholesky((B + B.mT) / 2)
        half = op.linalg_solve_triangular(L, A, upper=False)
        values, vectors = op.linalg_eigh(op.linalg_solve_triangular(L, half.mT, upper=False))
        vectors = op.linalg_solve_triangular(L.mT, vectors, upper=True)
    if largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    return values[..., :k], vectors[..., :k]


def _search(
    A: Tensor, B: Tensor | None, X: Tensor, iK: Tensor | None, limits: tuple[int, float], largest: bool, tracker: Any
) -> tuple[Tensor, Tensor]:
    steps, tol = limits
    k = X.shape[1]
    norm_of_B = 1.0 if B is None else (_times(B, X).norm() / X.norm()).item()
    E, X = _best(A, B, X, k, largest)
    P = X[:, :0]
    for iteration in range(1, steps + 1):
        AX = _times(A, X)
        R = AX - (X if B is None else _times(B, X)) * E
        scale = (AX.norm() / X.norm()).item() + E.abs() * norm_of_B
        residual = R.norm(dim=0) / (X.norm(dim=0) * scale)
        if tracker is not None:
            tracker(Progress(iteration, E, X, residual))
        if bool((residual < tol).all()):
            break
        basis = cat([X, R if iK is None else _times(iK, R), P], 1)
        before = X
        E, X = _best(A, B, basis, k, largest)
        P = X - before @ (before.mT @ (X if B is None else _times(B, X)))
    return E, X


def _times(A: Tensor, X: Tensor) -> Tensor:
    product: Tensor = A @ X
    return product


def _best(A: Tensor, B: Tensor | None, S: Tensor, k: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The k extreme eigenvalues that vectors in the span of S attain, and these vectors, of B-length 1 and B-orthogonal."""
    S = S / S.norm(dim=0).clamp_min(finfo(S.dtype).tiny)
    for _ in range(2):  # once leaves an error as large as the condition of S squared
        lengths, axes = op.linalg_eigh(S.mT @ (S if B is None else _times(B, S)))
        kept = lengths > lengths[-1] * finfo(S.dtype).eps * S.shape[1]
        S = S @ (axes[:, kept] / lengths[kept].sqrt())
    reduced = S.mT @ _times(A, S)
    values, places = op.linalg_eigh((reduced + reduced.mT) / 2)
    if largest:
        values, places = values.flip(0), places.flip(1)
    return values[:k], S @ places[:, :k]
