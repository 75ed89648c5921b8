"""Sparse tensors: PyTorch's `torch.sparse`.

>>> import tenfold
>>> tenfold.sparse.mm(tenfold.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)), tenfold.ones(3, 1))
tensor([[3.],
        [4.]])
"""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.sparse import pointwise as pointwise, products as products, shapes as shapes
from tenfold.sparse.construction import (
    LEGACY,
    check_invariants as check_sparse_tensor_invariants,
    sparse_coo_tensor as sparse_coo_tensor,  # found here as tenfold.sparse_coo_tensor, the next two as Tensor's methods
    sparse_mask as sparse_mask,
    to_sparse as to_sparse,
)
from tenfold.sparse.coo import SparseTensor
from tenfold.sparse.shapes import dimension

__all__ = ["addmm", "check_sparse_tensor_invariants", "log_softmax", "mm", "softmax", "sum"]
globals().update(LEGACY)


def mm(mat1: Any, mat2: Any) -> Any:
    """Matrix product of a sparse matrix and a dense or sparse one: (M, K), (K, N) -> (M, N)."""
    return tenfold.mm(mat1, mat2)


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """beta * mat + alpha * mat1 @ mat2, of a sparse `mat1`."""
    return tenfold.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """Sum of all elements, or along dimensions."""
    return tenfold.sum(input, dim, dtype=dtype) if dim is not None else tenfold.sum(input, dtype=dtype)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Softmax over the stored elements of each line along `dim`: what is not stored counts as minus infinity."""
    x, line, lines, exps = _exponentials(input, dim, dtype)
    totals = exps.new_zeros((lines, *exps.shape[1:])).index_add(0, line, exps)
    return pointwise.mapped(x, exps / totals[line])


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of `softmax`."""
    x = softmax(input, dim, dtype=dtype)
    return pointwise.mapped(x, x._values().log())


def _exponentials(input: Any, dim: int, dtype: Any) -> tuple[SparseTensor, Tensor, int, Tensor]:
    """The coalesced tensor, the line of each stored element along `dim`, their number, and exp(value - line's maximum)."""
    x = input.coalesce() if dtype is None else input.to(dtype).coalesce()
    d = dimension(x, dim)
    if d >= x.sparse_dim():
        raise NotImplementedError(f"softmax: dimension {d} of the sparse tensor is dense")
    others = tenfold.cat([x._indices()[:d], x._indices()[d + 1 :]])
    unique, line = tenfold.unique(others, dim=1, return_inverse=True)
    held, lines = x._values(), unique.shape[1]
    place = line.reshape(-1, *[1] * (held.ndim - 1)).expand_as(held)
    highest = held.detach().new_full((lines, *held.shape[1:]), float("-inf")).scatter_reduce(0, place, held.detach(), "amax")
    return x, line, lines, (held - highest[line]).exp()
