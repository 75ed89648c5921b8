"""Operators that move coordinates about, and sums along dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.sparse.coo import SparseTensor
from tenfold.sparse.table import knows


def dimension(x: Any, dim: int, ndim: int | None = None) -> int:
    """A dimension counted from the front."""
    n = x.ndim if ndim is None else ndim
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


@knows("permute")
def permute(input: Any, *dims: Any) -> SparseTensor:
    """The dimensions that have coordinates in another order."""
    order = [dimension(input, d) for d in (dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims)]
    n = input.sparse_dim()
    if order[n:] != list(range(n, input.ndim)):
        raise RuntimeError("permute: sparse and dense dimensions cannot be mixed")
    return SparseTensor.of(
        input._at[order[:n]], input._held, [input.shape[d] for d in order], order == sorted(order) and input._is_summed
    )


@knows("transpose", "swapaxes", "swapdims")
def transpose(input: Any, dim0: int, dim1: int) -> SparseTensor:
    """Two dimensions exchanged."""
    order = list(range(input.ndim))
    a, b = dimension(input, dim0), dimension(input, dim1)
    order[a], order[b] = order[b], order[a]
    return permute(input, order)


@knows("t")
def t(input: Any) -> SparseTensor:
    """A matrix transposed."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {input.sparse_dim()} sparse")
    return transpose(input, 0, 1) if input.ndim == 2 else input


@knows("unsqueeze")
def unsqueeze(input: Any, dim: int) -> SparseTensor:
    """A dimension of size 1 more."""
    d = dimension(input, dim, input.ndim + 1)
    size = [*input.shape[:d], 1, *input.shape[d:]]
    if d > input.sparse_dim():
        return SparseTensor.of(input._at, input._held.unsqueeze(d - input.sparse_dim() + 1), size, input._is_summed)
    zero = input._at.new_zeros((1, input._nnz()))
    return SparseTensor.of(tenfold.cat([input._at[:d], zero, input._at[d:]]), input._held, size, input._is_summed)


@knows("select")
def select(input: Any, dim: int, index: int) -> Any:
    """One index of a dimension; with none left that has coordinates, a dense tensor."""
    d = dimension(input, dim)
    size = input.shape[d]
    if not -size <= index < size:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {d}")
    rest = [*input.shape[:d], *input.shape[d + 1 :]]
    n = input.sparse_dim()
    if d >= n:
        return SparseTensor.of(input._at, input._held.select(d - n + 1, index), rest, input._is_summed)
    here = (input._at[d] == index % size).nonzero().flatten()
    if n == 1:
        return input._held[here].sum(0)
    at = tenfold.cat([input._at[:d], input._at[d + 1 :]])[:, here]
    return SparseTensor.of(at, input._held[here], rest, input._is_summed)


@knows("unbind")
def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """Every index of a dimension."""
    return tuple(select(input, dim, i) for i in range(input.shape[dimension(input, dim)]))


@knows("index_select")
def index_select(input: Any, dim: int, index: Tensor) -> SparseTensor:
    """The given indices of a dimension, in their order."""
    d = dimension(input, dim)
    if d >= input.sparse_dim():
        held = input._held.index_select(d - input.sparse_dim() + 1, index)
        return SparseTensor.of(input._at, held, [*input.shape[:d], len(index), *input.shape[d + 1 :]], input._is_summed)
    place, stored = (index.unsqueeze(1) == input._at[d]).nonzero().unbind(1)  # pairs of a new index and a stored element
    at = input._at[:, stored].clone()
    at[d] = place
    return SparseTensor.of(at, input._held[stored], [*input.shape[:d], len(index), *input.shape[d + 1 :]])


@knows("cat", "concat", "concatenate")
def cat(tensors: Sequence[Any], dim: int = 0) -> SparseTensor:
    """Tensors one behind the other along a dimension that has coordinates."""
    first = tensors[0]
    if not all(isinstance(x, SparseTensor) for x in tensors):
        raise RuntimeError(
            "cat: sparse tensors cannot be joined with dense ones; call .to_sparse() or .to_dense() on some of them"
        )
    d = dimension(first, dim)
    if d >= first.sparse_dim():
        raise NotImplementedError(f"cat: dimension {d} of the sparse tensors is dense")
    parts, length = [], 0
    for x in tensors:
        if [*x.shape[:d], *x.shape[d + 1 :]] != [*first.shape[:d], *first.shape[d + 1 :]]:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {d}. Got {list(first.shape)} and {list(x.shape)}"
            )
        moved = x._at.clone()
        moved[d] += length
        parts.append(moved)
        length += x.shape[d]
    size = [*first.shape[:d], length, *first.shape[d + 1 :]]
    return SparseTensor.of(tenfold.cat(parts, 1), tenfold.cat([x._held for x in tensors]), size)


@knows("stack")
def stack(tensors: Sequence[Any], dim: int = 0) -> SparseTensor:
    """Tensors along a new dimension."""
    return cat([unsqueeze(x, dim) for x in tensors], dim)


@knows("sum")
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum of all elements, or along dimensions: a sparse tensor as long as one with coordinates is left."""
    held = input._held if dtype is None else input._held.to(dtype)
    if dim is None or dim == ():
        return held.sum()
    dims = {dimension(input, d) for d in ([dim] if isinstance(dim, int) else dim)}
    n = input.sparse_dim()
    inner = [d - n + 1 for d in sorted(dims) if d >= n]
    held = held.sum(inner, keepdim=keepdim) if inner else held
    kept = [d for d in range(n) if d not in dims]
    if not kept and not keepdim:
        return held.sum(0)
    at = input._at.clone() if keepdim else input._at[kept]
    if keepdim:
        at[[d for d in range(n) if d in dims]] = 0
    size = [1 if d in dims else s for d, s in enumerate(input.shape) if keepdim or d not in dims]
    return SparseTensor.of(at, held, size).coalesce()


@knows("norm", "linalg_vector_norm")
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, **kwargs: Any) -> Tensor:
    """The norm of all elements."""
    if dim is not None:
        raise NotImplementedError("norm: a sparse tensor has the norm of all its elements only; call .to_dense() first")
    return input.coalesce()._held.flatten().norm(p)  # type: ignore[no-any-return]
