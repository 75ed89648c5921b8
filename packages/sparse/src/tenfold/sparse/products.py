"""Products of sparse matrices with dense ones."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.sparse.coo import SparseTensor
from tenfold.sparse.table import knows


def _matrix(x: Any) -> SparseTensor:
    if x.sparse_dim() != 2 or x.dense_dim():
        raise RuntimeError(
            f"mm: expected a sparse matrix of 2 sparse and 0 dense dimensions, got {x.sparse_dim()} and {x.dense_dim()}"
        )
    return x  # type: ignore[no-any-return]


def _times(sparse: SparseTensor, dense: Tensor) -> Tensor:
    """(M, K) sparse, (K, N) dense -> (M, N): each stored element adds its multiple of a row of `dense` to a row."""
    row, column = sparse._at
    products = sparse._held.unsqueeze(1) * dense.index_select(0, column)  # (nnz, N)
    return products.new_zeros((sparse.shape[0], dense.shape[1])).index_add(0, row, products)


@knows("mm")
def mm(input: Any, mat2: Any) -> Any:
    """Matrix product; of two sparse matrices it is sparse."""
    if input.ndim != 2 or mat2.ndim != 2 or input.shape[1] != mat2.shape[0]:
        sizes = "x".join(map(str, input.shape)), "x".join(map(str, mat2.shape))
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({sizes[0]} and {sizes[1]})")
    if not isinstance(input, SparseTensor):
        return _times(_matrix(mat2.t()), input.t()).t()
    product = _times(_matrix(input), mat2.to_dense())
    return product.to_sparse() if isinstance(mat2, SparseTensor) else product


@knows("mv")
def mv(input: Any, vec: Any) -> Tensor:
    """Matrix times vector."""
    return mm(input, vec.unsqueeze(1)).squeeze(1)  # type: ignore[no-any-return]


@knows("matmul")
def matmul(input: Any, other: Any) -> Any:
    """Matrix times matrix or vector."""
    if input.ndim == 1:
        return mm(input.unsqueeze(0), other).squeeze(0)
    return mv(input, other) if other.ndim == 1 else mm(input, other)


@knows("addmm")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * mat1 @ mat2."""
    product = mm(mat1, mat2)
    return (input if beta == 1 else input * beta) + (product if alpha == 1 else product * alpha)


@knows("dot")
def dot(input: Any, tensor: Any) -> Any:
    """The sum of products of two vectors."""
    return (input.to_dense() * tensor.to_dense()).sum()
