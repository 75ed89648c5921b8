"""NumPy kernels of indexing."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.conversion import clone
from tenfold.cpu.places import along, any_of, as_index, as_iterated, checked, in_our_words, most_dims, shape_of, taken_along
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.ops.indexing.selection import check_values
from tenfold.types.memory_format import contiguous_format, preserve_format, suggested_format


@kernel(op.getitem, device="cpu")
def getitem(input: Any, index: Any) -> Any:
    if type(index) is slice:
        step = index.step
        if step is None or step > 0:
            return input[index]
        raise ValueError(index)
    if type(index) is tuple:
        for item in index:
            if type(item) is slice and item.step is not None and item.step <= 0:
                raise ValueError(index)
        # The trailing ... makes NumPy return an array, not a scalar.
        return input[index] if Ellipsis in index else input[(*index, ...)]
    return input[index, ...] if index is not Ellipsis else input[...]


@kernel(op.index, device="cpu")
def index(input: Any, indices: Any) -> Any:
    try:
        if not input.size:  # where there is nothing to find NumPy looks at no position
            shape_of(input, indices, told=True)
        *before, last = indices
        if input.ndim > 1 and last is not None and last.dtype == np.int64 and input.flags.c_contiguous and not any_of(before):
            return input.take(last, len(before))  # whole rows: several times faster than the general way
        found = input[as_index(indices)]
        return found if found.flags.c_contiguous and input.flags.c_contiguous else as_iterated(found, input, indices)
    except IndexError as error:
        shape = shape_of(input, indices)
        if shape is None or 0 not in shape:
            raise in_our_words(error) from None
        return np.empty(shape, input.dtype)  # nothing is looked up


@kernel(op.index_put, device="cpu", into=True)
def index_put(input: Any, indices: Any, values: Any, accumulate: bool, out: Any = None) -> Any:
    if input.dtype != values.dtype:
        check_values(values, shape_of(input, indices, told=True) or (), input.dtype)
    if out is None:
        out = clone(input, None)
    elif out is not input:
        np.copyto(out, input)
    elif values is out or any(place is out for place in indices):
        return NotImplemented  # the full path refuses it
    if values.ndim > 1 and values.ndim > most_dims(out, indices):  # which NumPy takes if they are of size 1
        check_values(values, shape_of(out, indices, told=True) or (), out.dtype)
    try:
        if accumulate:
            add_at(out, as_index(indices), values)
        else:
            out[as_index(indices)] = values
    except IndexError as error:
        shape = shape_of(out, indices)
        if shape is None or 0 not in shape:
            raise in_our_words(error) from None
        check_values(values, shape, out.dtype)
    except ValueError:
        check_values(values, shape_of(out, indices) or (), out.dtype)
        raise
    return out


def add_at(out: Any, where: tuple[Any, ...], values: Any) -> None:
    """out[where] += values, adding up what meets at one place: half precision is rounded each time."""
    if len(where) == 1 and where[0].dtype.kind == "i" and out.ndim > 1 and prod(out.shape[1:]) >= 8 and out.itemsize > 2:
        _add_rows(out, where[0], np.broadcast_to(values, where[0].shape + out.shape[1:]))
    elif any(type(i) is not slice and i.dtype == np.bool_ for i in where) and len(where) == 1:
        out[where] += values  # a mask names each place once
    else:
        with np.errstate(all="ignore"):
            np.add.at(out, where, values)


def _add_rows(out: Any, rows: Any, values: Any) -> None:
    """Rows added at positions of the first dimension: sorted, so that equal positions add up as runs."""
    rows = rows.reshape(-1)
    if not rows.size:
        return
    if rows.min() < -len(out) or rows.max() >= len(out):
        bad = rows[(rows < -len(out)) | (rows >= len(out))][0]
        raise IndexError(f"index {bad} is out of bounds for dimension 0 with size {len(out)}")
    rows = np.where(rows < 0, rows + len(out), rows)
    values = values.reshape(len(rows), *out.shape[1:])
    order = np.argsort(rows, kind="stable")
    sorted_rows = rows[order]
    starts = np.flatnonzero(np.concatenate(([True], sorted_rows[1:] != sorted_rows[:-1])))
    if len(starts) == len(rows):
        out[rows] += values
        return
    out[sorted_rows[starts]] += np.add.reduceat(values[order], starts, axis=0)


@kernel(op.nonzero, device="cpu")
def nonzero(input: Any) -> Any:
    return np.argwhere(input).astype(np.int64, copy=False)


# Along one dimension


def _ranked(*arrays: Any) -> list[Any]:
    return [np.atleast_1d(a) for a in arrays]


def _fitting(src: Any, index: Any) -> Any:
    """The part of the source that the index covers; numbers as they are."""
    if not hasattr(src, "shape"):
        return src
    src = np.atleast_1d(src)
    return src if src.shape == index.shape else src[tuple(slice(n) for n in index.shape)]


def _check(rows: Any, dim: int, places: Any) -> None:
    size, dim = rows.shape[dim], dim % rows.ndim
    if places.dtype.kind != "i" or places.dtype.itemsize < 4:
        raise TypeError("index")
    if rows.ndim != places.ndim or any(m > n for d, (m, n) in enumerate(zip(places.shape, rows.shape)) if d != dim):
        raise ValueError("index larger")
    checked(size, dim, places)


@kernel(op.gather, device="cpu")
def gather(input: Any, dim: int, index: Any, sparse_grad: bool) -> Any:
    if not index.size:
        range(input.ndim or 1)[dim]
        return np.empty(index.shape, input.dtype)  # of any dtype, as in PyTorch
    rows, places = _ranked(input, index)
    _check(rows, dim, places)
    return np.asarray(taken_along(rows, places, dim), order="C").reshape(index.shape)  # NumPy's lie as the index does


def _scatter(input: Any, dim: int, index: Any, src: Any, out: Any, write: Any) -> Any:
    if out is None:
        out = input.copy()
    elif src is out or index is out:
        return NotImplemented  # the full path refuses it
    elif out is not input:
        np.copyto(out, input)
    rows, places = out.reshape(-1) if not out.ndim else out, np.atleast_1d(index)
    range(rows.ndim)[dim]
    if hasattr(src, "dtype") and src.dtype != input.dtype:
        raise ValueError("scatter: dtypes differ")
    if places.size:
        part = _fitting(src, places)
        if hasattr(part, "shape") and part.shape and part.shape != places.shape:
            raise ValueError("index larger")
        _check(rows, dim, places)
        row, where = along(rows, dim, places)
        if row.ndim == 1:
            write(row, (where,), part.reshape(-1) if hasattr(part, "shape") and part.ndim else part)
        else:
            write(row, where, part)
    return out


@kernel(op.scatter_set, device="cpu", into=True)
def scatter_set(input: Any, dim: int, index: Any, src: Any, out: Any = None) -> Any:
    return _scatter(input, dim, index, src, out, lambda rows, where, part: rows.__setitem__(where, part))


@kernel(op.scatter_add, device="cpu", into=True)
def scatter_add(input: Any, dim: int, index: Any, src: Any, out: Any = None) -> Any:
    return _scatter(input, dim, index, src, out, _add_wide)


def _add_wide(out: Any, where: Any, values: Any) -> None:
    """out[where] += values, half precision rounded once."""
    half = out.dtype.kind == "V" or out.dtype.char == "e"
    sums = out.astype(np.float32) if half else out
    add_at(sums, where, values)
    if half:
        with np.errstate(all="ignore"):
            np.copyto(out, sums, casting="unsafe")


_AT = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


@kernel(op.scatter_reduce, device="cpu", into=True)
def scatter_reduce(input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, out: Any = None) -> Any:
    if src.dtype != input.dtype or reduce not in _AT:
        raise ValueError("scatter_reduce: dtypes differ")
    if input.dtype.kind == "c" and reduce in ("amax", "amin"):
        raise NotImplementedError(reduce)
    half = input.dtype.itemsize == 2 and input.dtype.kind in "fV"
    if half and out is not None:
        return NotImplemented
    work, part = (a.astype(np.float32) if half else a for a in (input, src))

    def write(rows: Any, where: Any, values: Any) -> None:
        if not include_self:
            rows[where] = _neutral(reduce, rows.dtype)
        _AT[reduce].at(rows, where, values)
        if reduce == "mean":
            count = np.full(rows.shape, 1 if include_self else 0)
            np.add.at(count, where, 1)
            rows[...] = _mean(rows.astype(input.dtype, copy=False), np.maximum(count, 1))

    with np.errstate(all="ignore"):
        found = _scatter(work, dim, index, part, out, write)
        return found if found is NotImplemented else found.astype(input.dtype, copy=False)


def _neutral(reduce: str, dtype: Any) -> Any:
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "b":
        return reduce == "amin"
    low, high = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return low if reduce == "amax" else high


def _mean(total: Any, count: Any) -> Any:
    if total.dtype.kind in "iu":
        return np.floor_divide(total, count)
    return total / count.astype(total.dtype)


# Joining and rearranging


@kernel(op.cat, device="cpu")
def cat(tensors: Any, dim: int) -> Any:
    try:
        return _by_format(np.concatenate(tensors, dim), tensors)
    except ValueError:
        real = [a for a in tensors if a.shape != (0,)]
        if len(real) == len(tensors) or not all(a.ndim for a in tensors):
            raise
        return _by_format(np.concatenate(real, dim), tensors) if real else tensors[0].copy()


def _by_format(joined: Any, tensors: Any) -> Any:
    """Row by row, or channels last where all parts are."""
    formats = {suggested_format(a) for a in tensors} if joined.ndim in (4, 5) else ()
    wanted = formats.pop() if len(formats) == 1 else contiguous_format
    as_wanted = suggested_format(joined) is wanted if wanted.order else joined.flags.c_contiguous
    return joined if as_wanted else clone(joined, wanted)


@kernel(op.stack, device="cpu")
def stack(tensors: Any, dim: int) -> Any:
    if dim == 0:
        return _by_format(np.concatenate([a[None] for a in tensors]), ())
    n = tensors[0].ndim + 1
    if not -n <= dim < n:
        raise IndexError(dim)
    place = (*(slice(None),) * (dim % n), None)
    shape = tensors[0].shape
    if any(a.shape != shape for a in tensors):
        raise ValueError("stack: shapes differ")
    return _by_format(np.concatenate([a[place] for a in tensors], dim), ())


def _cut(input: Any, diagonal: int, keep: Any, out: Any) -> Any:
    rows, columns = input.shape[-2:]
    below = np.arange(rows)[:, None] + diagonal >= np.arange(columns)
    if out is None:
        out = input.copy()
    elif out is not input:
        np.copyto(out, input)
    np.copyto(out, np.zeros((), input.dtype), where=keep(below))
    return out


@kernel(op.tril, device="cpu", into=True)
def tril(input: Any, diagonal: int, out: Any = None) -> Any:
    return _cut(input, diagonal, np.logical_not, out)


@kernel(op.triu, device="cpu", into=True)
def triu(input: Any, diagonal: int, out: Any = None) -> Any:
    return _cut(input, diagonal - 1, np.asarray, out)


@kernel(op.flip, device="cpu")
def flip(input: Any, dims: Any) -> Any:
    dims = (dims,) if isinstance(dims, (int, np.integer)) else tuple(dims)
    op.flip.shape_rule(input, dims)
    backwards = [slice(None)] * input.ndim
    for d in dims if input.ndim else ():
        backwards[d] = slice(None, None, -1)
    if not input.ndim or input.flags.c_contiguous:
        return input[tuple(backwards)].copy("C") if input.ndim else input.copy()
    order = preserve_format.order_for(input)
    return input[tuple(backwards)].transpose(order).copy("C").transpose(np.argsort(order))


@kernel(op.roll, device="cpu")
def roll(input: Any, shifts: Any, dims: Any) -> Any:
    op.roll.shape_rule(input, shifts, dims)
    if not input.ndim or not input.size:
        return input.copy()
    if isinstance(shifts, (int, np.integer)) and isinstance(dims, (int, np.integer)):
        cut = -shifts % input.shape[dims]
        front = (slice(None),) * (dims % input.ndim)
        return _by_format(np.concatenate((input[(*front, slice(cut, None))], input[(*front, slice(cut))]), dims), [input])
    along_dims = None if dims is None or (isinstance(dims, (tuple, list)) and not dims) else dims
    shifts = shifts[0] if along_dims is None and not isinstance(shifts, (int, np.integer)) else shifts
    return _by_format(np.roll(input, shifts, along_dims), [input])


@kernel(op.repeat_places, device="cpu")
def repeat_places(repeats: Any) -> Any:
    if repeats.ndim != 1 or repeats.dtype.kind != "i" or (repeats.size and repeats.min() < 0):
        raise RuntimeError("repeat_interleave: repeats must be a vector of integers that are not negative")
    return np.repeat(np.arange(len(repeats)), repeats)


# Gradients of views


def independent(shape: Any, strides: Any) -> tuple[list[int], list[int]]:
    """Dimensions in which no two positions share memory, the largest first choice, and the other dimensions."""
    kept: list[int] = []
    for d in sorted((d for d, n in enumerate(shape) if n > 1), key=lambda d: -shape[d]):
        reach = 0
        for s, n in sorted((strides[k], shape[k]) for k in [*kept, d]):
            if s <= reach:
                break
            reach += s * (n - 1)
        else:
            kept.append(d)
    return kept, [d for d, n in enumerate(shape) if n > 1 and d not in kept]


@kernel(op.strided_sum, device="cpu")
def strided_sum(input: Any, shape: Any, size: Any, stride: Any, storage_offset: int) -> Any:
    result = np.zeros(shape, input.dtype)
    if not input.size:
        return result
    region = np.ndarray(size, input.dtype, result, storage_offset * input.itemsize, [s * input.itemsize for s in stride])
    _, shared = independent(size, stride)
    if not shared:
        region[...] = input
        return result
    order = [*shared, *(d for d in range(len(size)) if d not in shared)]
    region, terms = region.transpose(order), input.transpose(order)
    for place in np.ndindex(*(size[d] for d in shared)):
        region[place] += terms[place]
    return result
