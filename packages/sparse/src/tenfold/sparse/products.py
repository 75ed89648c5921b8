"""Products of sparse matrices with dense ones."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.dispatch.operators import OPERATORS
from tenfold.sparse.coo import SparseTensor
from tenfold.sparse.table import knows
from tenfold.types.dtypes import type_name


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


def _sparse_times(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """(M, K) sparse, (K, N) sparse -> (M, N) sparse: each element of `a` meets those of its row of `b`."""
    a, b = a.coalesce(), b.coalesce()
    first = tenfold.searchsorted(b._at[0].contiguous(), a._at[1].contiguous())
    counts = tenfold.searchsorted(b._at[0].contiguous(), a._at[1].contiguous(), right=True) - first
    left = tenfold.arange(a._nnz(), device=a.device).repeat_interleave(counts)
    right = first[left] + tenfold.arange(len(left), device=a.device) - (counts.cumsum(0) - counts)[left]
    at = tenfold.stack([a._at[0][left], b._at[1][right]])
    return SparseTensor.of(at, a._held[left] * b._held[right], (a.shape[0], b.shape[1])).coalesce()


@knows("mm")
def mm(input: Any, mat2: Any) -> Any:
    """Matrix product; of two sparse matrices it is sparse."""
    if input.ndim != 2 or mat2.ndim != 2 or input.shape[1] != mat2.shape[0]:
        sizes = "x".join(map(str, input.shape)), "x".join(map(str, mat2.shape))
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({sizes[0]} and {sizes[1]})")
    if input.dtype is not mat2.dtype:
        if isinstance(input, SparseTensor) and isinstance(mat2, SparseTensor):
            raise RuntimeError(f"mat1 dtype {type_name(input.dtype)} does not match mat2 dtype {type_name(mat2.dtype)}")
        raise RuntimeError(f"mm: expected scalar type {type_name(input.dtype)} but found {type_name(mat2.dtype)}")
    if not isinstance(input, SparseTensor):
        return _times(_matrix(mat2.t()), input.t()).t()
    return _sparse_times(_matrix(input), _matrix(mat2)) if isinstance(mat2, SparseTensor) else _times(_matrix(input), mat2)


def reduced_mm(mat1: Any, mat2: Any, reduce: str) -> Tensor:
    """What `tenfold.sparse.mm` makes of a row's products other than their sum; of equal extremes the first has the gradient."""
    if mat1.layout is not tenfold.sparse_csr or mat2.layout is not tenfold.strided:
        raise RuntimeError(
            f"sparse.mm: reduce={reduce!r} is for a matrix of layout torch.sparse_csr and a dense one, got {mat1.layout} and "
            f"{mat2.layout}; call .to_sparse_csr() on the first or .to_dense() on the second"
        )
    kind = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if kind not in ("sum", "mean", "amax", "amin"):
        raise RuntimeError(f"sparse.mm: reduce is 'sum', 'mean', 'amax' or 'amin', got {reduce!r}")
    if mat1.ndim != 2 or mat2.ndim != 2 or mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"sparse.mm: shapes {list(mat1.shape)} and {list(mat2.shape)} cannot be multiplied")
    if kind == "sum":
        return tenfold.mm(mat1, mat2)
    stored = mat1.crow_indices().diff()
    if kind == "mean":
        return tenfold.mm(mat1, mat2) / stored.clamp(min=1).unsqueeze(1).to(mat2.dtype)  # type: ignore[no-any-return]
    row = tenfold.repeat_interleave(tenfold.arange(len(stored), device=mat2.device), stored)
    terms = mat1.values().unsqueeze(1) * mat2[mat1.col_indices()]  # (stored elements, N)
    places = row.unsqueeze(1).expand(terms.shape)
    bounds = terms.new_zeros(mat1.shape[0], mat2.shape[1]).scatter_reduce(0, places, terms.detach(), kind, include_self=False)
    count = len(terms)
    number = tenfold.arange(count, device=mat2.device).unsqueeze(1).expand(terms.shape)
    found = tenfold.where(terms.detach() == bounds.gather(0, places), number, count)
    first = found.new_full(bounds.shape, count).scatter_reduce(0, places, found, "amin")
    return tenfold.cat([terms, terms.new_zeros(1, terms.shape[1])]).gather(0, first)


@knows("mv")
def mv(input: Any, vec: Any) -> Tensor:
    """Matrix times vector."""
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {input.ndim} Tensor Dim: {vec.ndim}")
    if input.shape[1] != vec.shape[0]:
        raise RuntimeError(f"mv: expected self.size(-1) == vec.size(-1), got {list(input.shape)} and {list(vec.shape)}")
    return mm(input, vec.unsqueeze(1)).squeeze(1)  # type: ignore[no-any-return]


@knows("bmm")
def bmm(input: Any, mat2: Any) -> Tensor:
    """Products of matrices, one by one, of three dimensions with coordinates and a dense tensor."""
    if not isinstance(input, SparseTensor) or isinstance(mat2, SparseTensor):
        raise RuntimeError("bmm_sparse: Tensor 'mat2' must be dense and 'self' sparse; call .to_dense() on the other one")
    if input.sparse_dim() != 3 or input.dense_dim() or mat2.ndim != 3:
        raise RuntimeError(f"bmm_sparse: expected 3 sparse dimensions and 3, got {input.sparse_dim()} and {mat2.ndim}")
    if input.shape[0] != mat2.shape[0]:
        raise RuntimeError(f"bmm_sparse: 'self.size(0)' and 'mat2.size(0)' must match, got {input.shape[0]}, {mat2.shape[0]}")
    if input.shape[2] != mat2.shape[1]:
        raise RuntimeError(f"bmm_sparse: 'self.size(2)' and 'mat2.size(1)' must match, got {input.shape[2]}, {mat2.shape[1]}")
    B, M, K = input.shape
    batch, row, column = input._at
    flat = SparseTensor.of(tenfold.stack([batch * M + row, batch * K + column]), input._held, (B * M, B * K))
    return _times(flat, mat2.reshape(B * K, -1) if K else mat2.reshape(0, mat2.shape[2])).reshape(B, M, mat2.shape[2])


@knows("matmul")
def matmul(input: Any, other: Any) -> Any:
    """Matrix times matrix or vector."""
    if input.ndim == 1:
        return mm(input.unsqueeze(0), other).squeeze(0)
    if input.ndim == 3 and other.ndim == 3:
        return bmm(input, other)
    return mv(input, other) if other.ndim == 1 else mm(input, other)


@knows("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weight.T + bias, either of them sparse."""
    if isinstance(weight, SparseTensor) and not isinstance(input, SparseTensor):
        rows = input.reshape(-1, input.shape[-1])
        product = mm(weight, rows.t()).t().reshape(*input.shape[:-1], weight.shape[0])
    else:
        product = matmul(input, weight.t())
    return product if bias is None else product + bias


@knows("addmm")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * mat1 @ mat2."""
    product = mm(mat1, mat2)
    return (input if beta == 1 else input * beta) + (product if alpha == 1 else product * alpha)


@knows("addmv")
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * mat @ vec."""
    product = mv(mat, vec)
    return (input if beta == 1 else input * beta) + (product if alpha == 1 else product * alpha)


@knows("dot")
def dot(input: Any, tensor: Any) -> Any:
    """The sum of products of two vectors."""
    return (input.to_dense() * tensor.to_dense()).sum()


def dsmm(mat1: Any, mat2: Any) -> Any:
    """Product of a sparse matrix and a dense one, dense."""
    return tenfold.mm(mat1, mat2)


@knows("lobpcg")
def lobpcg(*args: Any, **kwargs: Any) -> Any:
    """Extreme eigenvalues: the search takes products with the matrix, and nothing else of it."""
    return OPERATORS["lobpcg"].body(*args, **kwargs)


def smm(input: Any, mat: Tensor) -> Any:
    """Product of a sparse matrix (M, K) and a dense one (K, N), sparse: every column of the rows that have elements."""
    return hspmm(input, mat).to_dense().to_sparse()


def hspmm(mat1: Any, mat2: Tensor) -> SparseTensor:
    """Product of a sparse matrix (M, K) and a dense one (K, N) by rows: coordinates of rows alone, whose values are dense.

    >>> import tenfold
    >>> tenfold.hspmm(tenfold.sparse_coo_tensor([[1], [0]], [2.0], (3, 1)), tenfold.ones(1, 2))
    tensor(indices=tensor([[1]]),
           values=tensor([[2., 2.]]),
           size=(3, 2), nnz=1, layout=tenfold.sparse_coo)
    """
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"hspmm: Argument #3: Expected dim 0 size {mat1.shape[1]}, got {mat2.shape[0]}")
    row, column = _matrix(mat1)._at
    rows, place = tenfold.unique(row, return_inverse=True)
    products = mat1._held.unsqueeze(1) * mat2.index_select(0, column)
    held = products.new_zeros((len(rows), mat2.shape[1])).index_add(0, place, products)
    return SparseTensor.of(rows.unsqueeze(0), held, (mat1.shape[0], mat2.shape[1]), coalesced=True)


hsmm = hspmm


def sspaddmm(input: Any, mat1: Any, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * mat1 @ mat2 of sparse `input` and `mat1`, sparse."""
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"sspaddmm: Argument #3: Expected dim 0 size {mat1.shape[1]}, got {mat2.shape[0]}")
    return input * beta + smm(mat1, mat2) * alpha


saddmm = sspaddmm
