"""Operators that move coordinates about, and sums along dimensions."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from math import prod
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.sparse.coo import SparseTensor, unravelled
from tenfold.sparse.table import knows


def dimension(x: Any, dim: int, ndim: int | None = None) -> int:
    """A dimension counted from the front."""
    n = x.ndim if ndim is None else ndim
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


@knows("permute")
def permute(input: Any, *dims: Any) -> SparseTensor:
    """The dimensions in another order: those that have coordinates among themselves, and the others among themselves."""
    given = list(dims[0]) if len(dims) == 1 and not isinstance(dims[0], int) else list(dims)
    if len(given) != input.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of "
            f"dimensions i.e. input.dim() = {input.ndim} is not equal to len(dims) = {len(given)}"
        )
    order = [dimension(input, d) for d in given]
    if len(set(order)) != len(order):
        raise RuntimeError("permute(sparse_coo): duplicate dims are not allowed.")
    n = input.sparse_dim()
    if sorted(order[:n]) != list(range(n)):
        raise RuntimeError("permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.")
    ordered = order[:n] == list(range(n)) and given[:1] == [0]  # PyTorch looks at the number as it was given
    return _reordered(input, order, ordered and input._is_summed)


def _reordered(input: SparseTensor, order: Sequence[int], coalesced: bool) -> SparseTensor:
    n = input.sparse_dim()
    held = (
        input._held.permute(0, *(d - n + 1 for d in order[n:])) if list(order[n:]) != list(range(n, input.ndim)) else input._held
    )
    return SparseTensor.of(input._at[list(order[:n])], held, [input.shape[d] for d in order], coalesced)


@knows("transpose", "swapaxes", "swapdims")
def transpose(input: Any, dim0: int, dim1: int) -> SparseTensor:
    """Two dimensions that have coordinates exchanged."""
    order = list(range(input.ndim))
    a, b = dimension(input, dim0), dimension(input, dim1)
    order[a], order[b] = order[b], order[a]
    n = input.sparse_dim()
    if a != b and not (a < n and b < n):
        raise RuntimeError(f"sparse transpose: transposed dimensions must be sparse. Got sparse_dim: {n}, d0: {a}, d1: {b}")
    return _reordered(input, order, input._nnz() < 2 or (input._is_summed and a == b))


@knows("t")
def t(input: Any) -> SparseTensor:
    """A matrix transposed."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {input.sparse_dim()} sparse")
    return transpose(input, 0, 1) if input.ndim == 2 else input


@knows("adjoint")
def adjoint(input: Any) -> Any:
    """The last two dimensions exchanged, complex numbers conjugated."""
    return transpose(input, -2, -1).conj()


@knows("transpose_", "swapaxes_", "swapdims_")
def transpose_(input: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged, in place."""
    return input.become(transpose(input, dim0, dim1))


@knows("t_")
def t_(input: Any) -> Any:
    """A matrix transposed, in place."""
    return input.become(t(input))


@knows("broadcast_to")
def broadcast_to(input: Any, size: Sequence[int]) -> SparseTensor:
    """The elements repeated along new dimensions at the front, and along those of size 1."""
    x, size = input, tuple(size)
    if tuple(x.shape) == size:
        return x  # type: ignore[no-any-return]
    extra, n = len(size) - x.ndim, x.sparse_dim()
    if extra < 0:
        raise RuntimeError(f"_sparse_broadcast_to: the size {list(size)} has fewer dimensions than the tensor of {list(x.shape)}")
    for d, (have, want) in enumerate(zip(x.shape, size[extra:], strict=True)):
        if have not in (1, want):
            raise RuntimeError(
                f"The expanded size of the tensor ({want}) must match the existing size ({have}) at non-singleton dimension "
                f"{d + extra}. Target sizes: {list(size)}. Tensor sizes: {list(x.shape)}"
            )
    wide = [*range(extra), *(d + extra for d in range(n) if x.shape[d] != size[d + extra])]  # of the result's dimensions
    copies = prod(size[d] for d in wide)
    grid = unravelled(tenfold.arange(copies, device=x.device), [size[d] for d in wide]) if wide else []
    at = tenfold.cat([x._at.new_zeros((extra, x._nnz())), x._at]).repeat(1, copies)  # (extra + n, copies * nnz)
    for d, row in zip(wide, grid, strict=True):
        at[d] = row.repeat_interleave(x._nnz())
    held = x._held.expand(x._nnz(), *size[extra + n :])
    held = held.repeat(copies, *[1] * (held.ndim - 1)) if copies != 1 else held
    return SparseTensor.of(at, held, size, x._is_summed and wide == list(range(len(wide))))


@knows("narrow", "narrow_copy")
def narrow(input: Any, dim: int, start: Any, length: int) -> SparseTensor:
    """A range of a dimension."""
    if not -input.ndim <= dim < input.ndim:
        raise RuntimeError(f"narrow: dimension {dim} out of range: expected {-input.ndim} <= dim < {input.ndim}")
    d, first, size = dim % input.ndim, int(start), list(input.shape)
    if not (first >= 0 and length >= 0 and first + length <= size[d]):
        raise RuntimeError(f"Invalid range to narrow: {first} to {first + length} must be a part of 0 to {size[d]}")
    size[d], n = length, input.sparse_dim()
    if d >= n:
        return SparseTensor.of(input._at, input._held.narrow(d - n + 1, first, length), size, input._is_summed)
    here = ((input._at[d] >= first) & (input._at[d] < first + length)).nonzero().flatten()
    at = input._at[:, here]
    at[d] -= first
    return SparseTensor.of(at, input._held[here], size, input._is_summed)


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
        return input._held[here].sum(0, dtype=input.dtype)  # sums of small integers are of their dtype here
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
    size = input.shape[d]
    if len(index) and not -size <= int(index.min()) <= int(index.max()) < size:
        worst = int(index.min()) if int(index.min()) < -size else int(index.max())
        raise IndexError(
            f"index_select(): index contains {worst} that is out of range for tensor of size {list(input.shape)} at dimension {d}"
        )
    wanted = tenfold.where(index < 0, index + size, index).to(tenfold.int64)
    line, order = input._at[d].sort(stable=True)
    first = tenfold.searchsorted(line, wanted)
    counts = tenfold.searchsorted(line, wanted, right=True) - first
    place = tenfold.arange(len(index), device=index.device).repeat_interleave(counts)  # the new index of each result
    behind = tenfold.arange(len(place), device=index.device) - (counts.cumsum(0) - counts)[place]  # its place among its like
    stored = order[first[place] + behind]
    at = input._at[:, stored]
    at[d] = place
    return SparseTensor.of(at, input._held[stored], [*input.shape[:d], len(index), *input.shape[d + 1 :]])


@knows("cat", "concat", "concatenate")
def cat(tensors: Sequence[Any], dim: int = 0) -> SparseTensor:
    """Tensors one behind the other."""
    first = tensors[0]
    for i, x in enumerate(tensors):
        if not isinstance(x, SparseTensor):
            raise RuntimeError(
                f"Concatenating sparse tensors, but a dense tensor was found at position {i}: call .to_sparse() on it"
            )
    d, n = dimension(first, dim), first.sparse_dim()
    for i, x in enumerate(tensors):
        if (x.sparse_dim(), x.dense_dim()) != (n, first.dense_dim()):
            raise RuntimeError(
                f"All tensors must have the same number of sparse and dense dimensions: {n}, {first.dense_dim()}, but tensor at "
                f"position {i} has {x.sparse_dim()}, {x.dense_dim()}."
            )
        if [*x.shape[:d], *x.shape[d + 1 :]] != [*first.shape[:d], *first.shape[d + 1 :]]:
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first.shape)} (except in the concatenating dimension {d}), but "
                f"found shape: {list(x.shape)} at position {i}."
            )
    length = builtins.sum(x.shape[d] for x in tensors)
    ats, helds, begin = [], [], 0
    for x in tensors:
        at, held = x._at, x._held
        if d < n:
            at = at.clone()
            at[d] += begin
        else:  # each has zeros where the others are
            inner = d - n + 1
            before, after = list(held.shape), list(held.shape)
            before[inner], after[inner] = begin, length - begin - x.shape[d]
            held = tenfold.cat([held.new_zeros(before), held, held.new_zeros(after)], inner)
        ats.append(at)
        helds.append(held)
        begin += x.shape[d]
    return SparseTensor.of(
        tenfold.cat(ats, 1), tenfold.cat(helds), [*first.shape[:d], length, *first.shape[d + 1 :]]
    )  # fmt: skip


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
    listed = [dimension(input, d) for d in ([dim] if isinstance(dim, int) else dim)]
    dims = set(listed)
    if len(dims) != len(listed):
        twice = next(d for d in listed if listed.count(d) > 1)
        raise RuntimeError(f"sum: dim {twice} appears multiple times in the list of dims")
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
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None, **_: Any) -> Tensor:
    """The norm of all elements."""
    if keepdim:
        raise RuntimeError("norm_sparse currently does not support keepdim=True: call .to_dense() first")
    if dim not in (None, (), []):
        raise RuntimeError(f"norm_sparse currently only supports full reductions, got dim={dim}: call .to_dense() first")
    if dtype is not None:
        if p == "fro":
            raise ValueError("norm: dtype argument is not supported in frobenius norm")
        raise RuntimeError(f"norm_sparse currently does not support 'dtype' argument, got {dtype}")
    return input.coalesce()._held.flatten().norm(p)  # type: ignore[no-any-return]
