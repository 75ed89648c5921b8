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
from tenfold.sparse import (
    compressed_operators as compressed_operators,
    pointwise as pointwise,
    products as products,
    shapes as shapes,
)
from tenfold.sparse.compressed_operators import sampled_addmm as sampled_addmm
from tenfold.sparse.construction import (
    LEGACY,
    _validate_sparse_compressed_tensor_args as _validate_sparse_compressed_tensor_args,
    check_invariants as check_sparse_tensor_invariants,
    sparse_bsc_tensor as sparse_bsc_tensor,
    sparse_bsr_tensor as sparse_bsr_tensor,
    sparse_compressed_tensor as sparse_compressed_tensor,
    sparse_coo_tensor as sparse_coo_tensor,  # found here as tenfold.sparse_coo_tensor, the next two as Tensor's methods
    sparse_csc_tensor as sparse_csc_tensor,
    sparse_csr_tensor as sparse_csr_tensor,
    sparse_mask as sparse_mask,
    to_sparse as to_sparse,
    without_elements as without_elements,
)
from tenfold.sparse.coo import SparseTensor, _keys, unravelled
from tenfold.sparse.products import (  # found here as tenfold.dsmm and so on
    dsmm as dsmm,
    hsmm as hsmm,
    hspmm as hspmm,
    saddmm as saddmm,
    smm as smm,
    sspaddmm as sspaddmm,
)
from tenfold.sparse.shapes import broadcast_to, dimension
from tenfold.types.dtypes import c_name

__all__ = ["addmm", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax", "spdiags", "sum"]
_sparse_broadcast_to = broadcast_to
globals().update(LEGACY)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any = None) -> Any:
    """A sparse matrix with rows of `diagonals` on its diagonals of these offsets: column j of a row goes to column j.

    Shape: diagonals (K, N), offsets (K) -> `shape`.

    >>> import tenfold
    >>> tenfold.sparse.spdiags(tenfold.tensor([[1.0, 2.0]]), tenfold.tensor([1]), (2, 2)).to_dense()
    tensor([[0., 2.],
            [0., 0.]])
    """
    rows, starts = (diagonals.unsqueeze(0), offsets.unsqueeze(0)) if diagonals.ndim == 1 else (diagonals, offsets)
    starts = starts.reshape(-1)
    if offsets.dtype is not tenfold.int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {c_name(offsets.dtype)}")
    if rows.ndim != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets.ndim > 1:
        raise RuntimeError("Offsets must be scalar or vector")
    if len(starts) != len(rows):
        raise RuntimeError(f"Number of diagonals ({len(rows)}) does not match the number of offsets ({len(starts)})")
    if len(tenfold.unique(starts)) != len(starts):
        raise RuntimeError("Offset tensor contains duplicate values")
    if layout not in (None, tenfold.sparse_coo, tenfold.sparse_csr, tenfold.sparse_csc):
        raise RuntimeError(f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {layout}")
    column = tenfold.arange(rows.shape[1], device=rows.device).expand(rows.shape)
    row = column - starts.unsqueeze(1)
    inside = (row >= 0) & (row < shape[0]) & (column < shape[1])
    made = sparse_coo_tensor(tenfold.stack([row[inside], column[inside]]), rows[inside], tuple(shape)).coalesce()
    return made if layout in (None, tenfold.sparse_coo) else made.to_sparse(layout=layout)


def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """Matrix product of a sparse matrix and a dense or sparse one: (M, K), (K, N) -> (M, N).

    `reduce` ("sum", "mean", "amax" or "amin") says what becomes of the products of a row's stored elements, of a matrix of layout
    sparse_csr and a dense one; where a row stores none, the result is 0.
    """
    return tenfold.mm(mat1, mat2) if reduce is None else products.reduced_mm(mat1, mat2, reduce)


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """beta * mat + alpha * mat1 @ mat2, of a sparse `mat1`."""
    return tenfold.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """Sum of all elements, or along dimensions."""
    return tenfold.sum(input, dim, dtype=dtype) if dim is not None else tenfold.sum(input, dtype=dtype)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Softmax over the stored elements of each line along `dim`: what is not stored counts as minus infinity."""
    x, d = _summed_up(input, dim, dtype)
    if d >= x.sparse_dim():
        return pointwise.mapped(x, x._held.softmax(d - x.sparse_dim() + 1))
    shifted, line, lines = _below_highest(x, d)
    exps = shifted.exp()
    return pointwise.mapped(x, exps / _totals(exps, line, lines)[line])


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of `softmax`, without the loss of small numbers."""
    x, d = _summed_up(input, dim, dtype)
    if d >= x.sparse_dim():
        return pointwise.mapped(x, x._held.log_softmax(d - x.sparse_dim() + 1))
    shifted, line, lines = _below_highest(x, d)
    return pointwise.mapped(x, shifted - _totals(shifted.exp(), line, lines).log()[line])


def _summed_up(input: Any, dim: int, dtype: Any) -> tuple[SparseTensor, int]:
    """The coalesced tensor, and a dimension counted from the front."""
    return input.coalesce() if dtype is None else input.to(dtype).coalesce(), dimension(input, dim)


def _below_highest(x: SparseTensor, d: int) -> tuple[Tensor, Tensor, int]:
    """Values less the highest of their line along a dimension, the line of each, and the number of lines."""
    n = x.sparse_dim()
    others = [k for k in range(n) if k != d]
    unique, line = tenfold.unique(_keys(x._at[others], [x.shape[k] for k in others]), return_inverse=True)
    held, lines = x._held, len(unique)
    place = line.reshape(-1, *[1] * (held.ndim - 1)).expand_as(held)
    highest = held.detach().new_full((lines, *held.shape[1:]), float("-inf")).scatter_reduce(0, place, held.detach(), "amax")
    return held - highest[line], line, lines


def _totals(exps: Tensor, line: Tensor, lines: int) -> Tensor:
    return exps.new_zeros((lines, *exps.shape[1:])).index_add(0, line, exps)


def _validate_sparse_coo_tensor_args(indices: Tensor, values: Tensor, size: Any, is_coalesced: bool | None = None) -> None:
    """RuntimeError where indices, values and size do not make a tensor."""
    sparse_coo_tensor(indices, values, size, check_invariants=True, is_coalesced=is_coalesced)


def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """Coordinates (batch dims + 2, elements) of compressed indices: of each element its matrix, line and place."""
    starts = crow_indices.reshape(-1, crow_indices.shape[-1])
    places = col_indices.reshape(len(starts), col_indices.shape[-1])
    lines = [
        tenfold.arange(len(s) - 1, device=s.device).repeat_interleave((s[1:] - s[:-1]).to(tenfold.int64)) for s in starts
    ]  # fmt: skip
    line, place = tenfold.cat(lines), places.flatten()
    which = tenfold.arange(len(starts), device=line.device).repeat_interleave(places.shape[1])
    batch = unravelled(which, tuple(crow_indices.shape[:-1])) if crow_indices.ndim > 1 else []
    pair = (place, line) if transpose else (line, place)
    at = tenfold.stack([*batch, *(p.to(tenfold.int64) for p in pair)])
    return at.to(tenfold.int32) if out_int32 else at
