"""Linear algebra."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.array_api.data_types import together
from tenfold.array_api.reductions import sum as _sum


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Matrix product."""
    return tenfold.matmul(*together(x1, x2))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """Each matrix with rows and columns exchanged."""
    return x.mT


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: Any = 2) -> Tensor:
    """Sum of products over axes of both."""
    a, b = together(x1, x2)
    return tenfold.tensordot(a, b, axes if isinstance(axes, int) else tuple(list(side) for side in axes))


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Sum of products along an axis of both, the first conjugated."""
    a, b = together(x1, x2)
    if axis >= 0 or a.size(axis) != b.size(axis):
        raise ValueError(f"vecdot: a negative axis of one size is needed, got {axis} of {list(a.shape)} and {list(b.shape)}")
    a = tenfold.movedim(a.conj() if a.dtype.is_complex else a, axis, -1)
    return tenfold.sum(a * tenfold.movedim(b, axis, -1), -1, dtype=a.dtype)


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """The triangular factor of a positive definite matrix."""
    return tenfold.linalg.cholesky(x, upper=upper)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Cross product of vectors of three elements."""
    a, b = together(x1, x2)
    if not -min(a.ndim, b.ndim) <= axis < max(a.ndim, b.ndim) or a.size(axis) != 3 or b.size(axis) != 3:
        raise ValueError(f"cross: axis {axis} must have size 3 in both, got {list(a.shape)} and {list(b.shape)}")
    return tenfold.linalg.cross(*tenfold.broadcast_tensors(a, b), dim=axis)


def det(x: Tensor, /) -> Tensor:
    """Determinant."""
    return tenfold.linalg.det(x)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """The diagonal of each matrix."""
    return tenfold.diagonal(x, offset, -2, -1)


def eig(x: Tensor, /) -> Any:
    """Eigenvalues and eigenvectors."""
    return tenfold.linalg.eig(x)


def eigh(x: Tensor, /) -> Any:
    """Eigenvalues and eigenvectors of a symmetric or Hermitian matrix."""
    return tenfold.linalg.eigh(x)


def eigvals(x: Tensor, /) -> Tensor:
    """Eigenvalues."""
    return tenfold.linalg.eigvals(x)


def eigvalsh(x: Tensor, /) -> Tensor:
    """Eigenvalues of a symmetric or Hermitian matrix."""
    return tenfold.linalg.eigvalsh(x)


def inv(x: Tensor, /) -> Tensor:
    """Inverse."""
    return tenfold.linalg.inv(x)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Norm of each matrix."""
    if 0 in x.shape[-2:]:
        size = (*x.shape[:-2], 1, 1) if keepdims else x.shape[:-2]
        return tenfold.zeros(size, dtype=x.real.dtype if x.dtype.is_complex else x.dtype, device=x.device)
    return tenfold.linalg.matrix_norm(x, ord=ord, keepdim=keepdims)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """A matrix times itself n times, its inverse for a negative n."""
    return tenfold.linalg.matrix_power(x, n)


def matrix_rank(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    """How many singular values are above `rtol` times the largest."""
    return tenfold.linalg.matrix_rank(x, rtol=rtol)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """All products of elements of two vectors."""
    a, b = together(x1, x2)
    return tenfold.outer(a, b)


def pinv(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    """Pseudo-inverse."""
    return tenfold.linalg.pinv(x, rtol=rtol)


def qr(x: Tensor, /, *, mode: str = "reduced") -> Any:
    """Orthonormal Q and triangular R."""
    return tenfold.linalg.qr(x, mode=mode)


def slogdet(x: Tensor, /) -> Any:
    """Sign and logarithm of the determinant."""
    return tenfold.linalg.slogdet(x)


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The solution of x1 @ x = x2: one vector if x2 has one dimension, matrices otherwise."""
    a, b = together(x1, x2)
    if b.ndim == 1:
        return tenfold.linalg.solve(a, b.unsqueeze(-1)).squeeze(-1)
    batch = tenfold.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return tenfold.linalg.solve(a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:]))


def svd(x: Tensor, /, *, full_matrices: bool = True) -> Any:
    """Singular values and vectors."""
    return tenfold.linalg.svd(x, full_matrices=full_matrices)


def svdvals(x: Tensor, /) -> Tensor:
    """Singular values."""
    return tenfold.linalg.svdvals(x)


def trace(x: Tensor, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """Sum of the diagonal of each matrix."""
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(x: Tensor, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """Norm of vectors along axes."""
    axes = tuple(range(x.ndim)) if axis is None else axis
    if axes == ():  # each element is a vector of its own
        return tenfold.abs(x) if ord != 0 else (x != 0).to(tenfold.abs(x).dtype)
    return tenfold.linalg.vector_norm(x, ord, axes, keepdims)
