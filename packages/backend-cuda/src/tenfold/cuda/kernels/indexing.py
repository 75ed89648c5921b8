"""Indexing, joining and rearranging by the array module. bfloat16, of which only the bits move, goes as int16.

CuPy does not check the indices that `index` and `index_put` are given: one beyond the end wraps around, where the CPU raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import cast, is_half, wide
from tenfold.cuda.kernels.conversion import clone_contiguous, write
from tenfold.cuda.kernels.handwritten import check_indices
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op

INT16 = np.dtype(np.int16)


def bits(array: Any) -> Any:
    """The array, bfloat16 reread as int16."""
    return array.view(INT16) if array.dtype.kind == "V" else array


def _as_index(indices: Any) -> Any:
    return tuple([slice(None) if i is None else i for i in indices])


def _check_each(name: str, input: Any, indices: Any) -> None:
    """Each array of integers by the dimension that it is for; on NumPy arrays indexing itself checks."""
    if runtime.is_replaced():
        return
    dim = 0
    for i in indices:
        if i is not None and i.dtype.kind == "b":
            dim += max(i.ndim - 1, 0)
        elif i is not None:
            check_indices(name, i, -input.shape[dim], input.shape[dim])
        dim += 1


@kernel(op.index, device="cuda")
def index(input: Any, indices: Any) -> Any:
    _check_each("index", input, indices)
    return bits(input)[_as_index(indices)].view(input.dtype)


@kernel(op.index_put, device="cuda", into=True)
def index_put(input: Any, indices: Any, values: Any, accumulate: bool, out: Any = None) -> Any:
    if input.dtype != values.dtype:
        raise TypeError("index_put: values of another dtype")
    _check_each("index_put", input, indices)
    out = _target(input, out)
    where = _as_index(indices)
    if not accumulate:
        bits(out)[where] = bits(values)
    elif len(where) == 1 and where[0].dtype == np.bool_:
        write(out, _with_sums(out, where[0].nonzero(), values))  # a mask names each place once
    else:
        write(out, _with_sums(out, where, values))
    return out


def _target(input: Any, out: Any) -> Any:
    """The array to write into, holding the input's values."""
    if out is None:
        return clone_contiguous(input)
    if out is not input:
        write(out, input)
    return out


def _with_sums(rows: Any, where: Any, values: Any) -> Any:
    """A copy of `rows` with the values added, in a dtype for which the hardware has atomic additions."""
    dtype = rows.dtype
    if is_half(rows):
        accumulator: Any = np.dtype(np.float32)
    elif dtype.kind in "fc":
        accumulator = dtype
    elif dtype.itemsize == 8:
        accumulator = np.dtype(np.uint64)  # two's complement: sums are the same
    else:
        accumulator = np.dtype(np.int32)
    wider = clone_contiguous(rows) if accumulator == dtype else cast(rows, accumulator)
    values = cast(values, accumulator) if values.dtype != accumulator else values
    if dtype.kind == "c":  # the hardware adds to one number at a time
        for part, added in ((wider.real, values.real), (wider.imag, values.imag)):
            xp.add.at(part, where, added)
    else:
        xp.add.at(wider, where, values)
    return wider


@kernel(op.nonzero, device="cuda")
def nonzero(input: Any) -> Any:
    if not input.ndim:
        return xp.zeros((int(bool(input)), 0), np.int64)
    return cast(xp.stack(xp.nonzero(wide(input)), 1), np.int64)


# Along one dimension


def _along(input: Any, dim: int, index: Any) -> tuple[Any, ...]:
    """The index of the places (i, index[i, j], j) that gather and scatter mean."""
    n = input.ndim
    places = [xp.arange(m).reshape([-1 if d == i else 1 for d in range(n)]) for i, m in enumerate(index.shape)]
    places[dim] = index
    return tuple(places)


def _check_bounds(name: str, input: Any, dim: int, index: Any) -> None:
    """An index that is out of bounds is an error, on a GPU at the next wait for it."""
    size = input.shape[dim]
    if not runtime.is_replaced():
        check_indices(name, index, 0, size)
    elif index.size and not (int(index.min()) >= 0 and int(index.max()) < size):
        raise RuntimeError(f"index is out of bounds for dimension {dim % input.ndim} with size {size}")


@kernel(op.gather, device="cuda")
def gather(input: Any, dim: int, index: Any, sparse_grad: bool) -> Any:
    rows, places = xp.atleast_1d(bits(input)), xp.atleast_1d(index)
    if not places.size:
        return xp.empty(index.shape, bits(input).dtype).view(input.dtype)
    if rows.ndim != places.ndim or any(m > n for d, (m, n) in enumerate(zip(places.shape, rows.shape)) if d != dim % rows.ndim):
        raise ValueError("gather: index larger than input")
    _check_bounds("gather", rows, dim, places)
    return rows[_along(rows, dim, places)].reshape(index.shape).view(input.dtype)


def _scatter(input: Any, dim: int, index: Any, src: Any, out: Any, add: bool) -> Any:
    out = _target(input, out)
    rows, places = out.reshape(-1) if not out.ndim else out, xp.atleast_1d(index)
    if not places.size:
        return out
    if rows.ndim != places.ndim or (hasattr(src, "dtype") and src.dtype != input.dtype):
        raise ValueError("scatter: ranks or dtypes differ")
    part = src
    if hasattr(src, "shape"):
        part = xp.atleast_1d(bits(src))[tuple(slice(n) for n in places.shape)]
        if part.shape != places.shape:
            raise ValueError("scatter: index larger than src")
        part = part.view(src.dtype)
    _check_bounds("scatter", rows, dim, places)
    where = _along(rows, dim, places)
    if add:
        write(rows, _with_sums(rows, where, part))
    elif hasattr(src, "shape"):
        bits(rows)[where] = bits(part)
    else:
        bits(rows)[where] = bits(np.asarray(part, rows.dtype)).item()
    return out


@kernel(op.scatter_set, device="cuda")
def scatter_set(input: Any, dim: int, index: Any, src: Any) -> Any:
    return _scatter(input, dim, index, src, None, add=False)


@kernel(op.scatter_add, device="cuda", into=True)
def scatter_add(input: Any, dim: int, index: Any, src: Any, out: Any = None) -> Any:
    return _scatter(input, dim, index, src, out, add=True)


kernel(op.scatter_reduce, device="cuda", note="computed on the host")(through_host("scatter_reduce"))


# Joining and rearranging


@kernel(op.cat, device="cuda")
def cat(tensors: Any, dim: int) -> Any:
    parts = [a for a in tensors if a.shape != (0,)] or tensors[:1]
    first = parts[0]
    if not -first.ndim <= dim < first.ndim:
        raise IndexError(dim)
    dim %= first.ndim
    rest = first.shape[:dim] + first.shape[dim + 1 :]
    if any(a.shape[:dim] + a.shape[dim + 1 :] != rest or a.ndim != first.ndim for a in parts):
        raise ValueError("cat: shapes differ")
    now = runtime.current()
    shape = (*first.shape[:dim], sum(a.shape[dim] for a in parts), *first.shape[dim + 1 :])
    out, start = now.empty(shape, first.dtype, now.index_of(first)), 0
    for part in parts:
        stop = start + part.shape[dim]
        if part.size:
            write(out[(*(slice(None),) * dim, slice(start, stop))], part)
        start = stop
    return out


@kernel(op.stack, device="cuda")
def stack(tensors: Any, dim: int) -> Any:
    n = tensors[0].ndim + 1
    if not -n <= dim < n:
        raise IndexError(dim)
    if any(a.shape != tensors[0].shape for a in tensors):
        raise ValueError("stack: shapes differ")
    return cat([a[(*(slice(None),) * (dim % n), None)] for a in tensors], dim % n)


@kernel(op.tril, device="cuda")
def tril(input: Any, diagonal: int) -> Any:
    return xp.tril(bits(input), diagonal).view(input.dtype)


@kernel(op.triu, device="cuda")
def triu(input: Any, diagonal: int) -> Any:
    return xp.triu(bits(input), diagonal).view(input.dtype)


@kernel(op.flip, device="cuda")
def flip(input: Any, dims: Any) -> Any:
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    op.flip.shape_rule(input, dims)
    backwards = [slice(None)] * input.ndim
    for d in dims if input.ndim else ():
        backwards[d] = slice(None, None, -1)
    return clone_contiguous(input[tuple(backwards)] if input.ndim else input)


@kernel(op.roll, device="cuda")
def roll(input: Any, shifts: Any, dims: Any) -> Any:
    op.roll.shape_rule(input, shifts, dims)
    if not input.ndim:
        return clone_contiguous(input)
    along_dims = None if dims is None or dims == () else dims
    shift = shifts[0] if along_dims is None and not isinstance(shifts, int) else shifts
    return xp.roll(bits(input), shift, along_dims).view(input.dtype)


@kernel(op.repeat_places, device="cuda")
def repeat_places(repeats: Any) -> Any:
    if repeats.ndim != 1 or repeats.dtype.kind != "i" or (repeats.size and int(repeats.min()) < 0):
        raise RuntimeError("repeat_interleave: repeats must be a vector of integers that are not negative")
    ends = xp.cumsum(repeats)
    return cast(xp.searchsorted(ends, xp.arange(int(ends[-1]) if ends.size else 0), side="right"), np.int64)
