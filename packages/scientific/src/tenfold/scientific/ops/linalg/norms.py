"""Linear algebra: the norms of matrices; with its parts, everything under `tenfold.linalg`."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.scientific.ops.linalg.checks import require_floating, require_matrix, require_square
from tenfold.tensor.tensor import Tensor

Ints = Sequence[int]


@composite("linalg", method=None, out="same")
def linalg_matrix_norm(A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Norm of matrices: "fro" the root of the sum of squares, "nuc" the sum of singular values, 2 and -2 their largest and
    smallest, 1, -1, inf, -inf the largest and smallest sums of absolute values of columns (1) or rows (inf).

    Shape: (..., M, N) -> (...). Dtype: that of A, real for complex. Raises: RuntimeError for integers or an unknown ord.

    >>> import tenfold
    >>> tenfold.linalg.matrix_norm(tenfold.tensor([[3.0, 0.0], [4.0, 0.0]]))
    tensor(5.)
    """
    if A.dim() < 2:
        raise RuntimeError(f"linalg.matrix_norm: The input tensor A must have at least 2 dimensions, got {A.dim()}")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple of dimensions, got {dim}")
    rows, columns = (wrap_dim(d, A.dim(), "linalg.matrix_norm") for d in dim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if A.dtype.category < 2:
        raise RuntimeError(f"linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {A.dtype.name}")
    A = A if dtype is None else A.to(dtype)
    if ord == "fro":
        return op.vector_norm(A, 2, (rows, columns), keepdim)
    if ord in ("nuc", 2, -2):
        return _spectral_norm(A, ord, rows, columns, keepdim)
    if not isinstance(ord, str) and abs(ord) in (1, inf):
        return _sum_norm(A, ord, rows, columns, keepdim)
    raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported; it takes 'fro', 'nuc', 1, 2, inf and their negatives")


def _spectral_norm(A: Any, ord: Any, rows: int, columns: int, keepdim: bool) -> Any:
    require_floating("linalg.matrix_norm", A)
    rest = [d for d in range(A.dim()) if d not in (rows, columns)]
    values = op.linalg_svdvals(A.permute([*rest, rows, columns]))
    if ord == "nuc" or (ord > 0 and not values.shape[-1]):  # of no values the largest is 0, as their sum
        result = values.sum(-1)
    else:
        result = values.amax(-1) if ord > 0 else values.amin(-1)
    return _restored(result, rows, columns) if keepdim else result


def _restored(x: Any, *dims: int) -> Any:
    for d in sorted(dims):
        x = x.unsqueeze(d)
    return x


def _sum_norm(A: Any, ord: float, rows: int, columns: int, keepdim: bool) -> Any:
    added, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = op.vector_norm(A, 1, added, True)
    if ord > 0:  # the largest of no sums is 0
        result = sums.amax(compared, True) if sums.shape[compared] else sums.sum(compared, True)
    else:
        result = sums.amin(compared, True)
    return result if keepdim else result.squeeze((rows, columns))


@composite("linalg", method=None, out="same")
def linalg_norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Norm of a vector (one dim, or `ord` given for a vector), of a matrix (two), or of all elements (ord None, dim None).

    >>> import tenfold
    >>> tenfold.linalg.norm(tenfold.tensor([[3.0, 0.0], [4.0, 0.0]]))
    tensor(5.)
    """
    if dim is not None:
        dim = (dim,) if isinstance(dim, (int, np.integer)) else tuple(dim)
        if len(dim) not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    elif ord is not None and A.dim() not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.dim()}D.")
    if ord is not None and (len(dim) if dim is not None else A.dim()) == 2:
        return linalg_matrix_norm(A, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(ord, str):
        if A.dim() > 1:
            raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {', '.join(map(str, dim))}")
        raise RuntimeError(f"linalg.matrix_norm: The input tensor A must have at least 2 dimensions for order {ord!r}")
    ord = 2 if ord is None else ord
    if dtype is not None:
        return op.vector_norm(A, ord, dim, keepdim, dtype=dtype)
    return op.vector_norm(A, ord, dim, keepdim)  # a name takes three times as long as the norm of a few numbers


@composite("linalg", method=None, out=True)
def linalg_cond(A: Tensor, p: Any = None) -> Tensor:
    """Condition number: the norm of a matrix times the norm of its inverse; None and 2: largest over smallest singular value.

    Shape: (..., M, N) -> (...), square for other norms than 2 and -2. inf for singular matrices.

    >>> import tenfold
    >>> tenfold.linalg.cond(tenfold.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor(2.)
    """
    if p not in (None, "fro", "nuc", inf, -inf, 1, -1, 2, -2):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if p in (None, 2, -2) or (p == "nuc" and A.numel()):
        (require_square if p == "nuc" else require_matrix)("linalg.cond", A)
        if 0 in A.shape[-2:]:
            return A.new_zeros(A.shape[:-2]).abs()
        values = op.linalg_svdvals(A)
        if p == "nuc":
            return values.sum(-1) * values.reciprocal().sum(-1)
        largest, smallest = values.select(-1, 0), values.select(-1, -1)
        return smallest / largest if p == -2 else largest / smallest
    (require_square if A.numel() or isinstance(p, str) else require_matrix)("linalg.cond", A)
    if A.numel() == 0:
        return A.new_zeros(A.shape[:-2]).abs()
    inverse, info = op.linalg_inv_ex(A)
    singular = info != 0
    inverse = inverse.masked_fill(singular.unsqueeze(-1).unsqueeze(-1), 1)
    return (linalg_matrix_norm(A, p) * linalg_matrix_norm(inverse, p)).masked_fill(singular, inf)
