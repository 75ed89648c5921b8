"""What Triton kernels do not serve of indexing, by the array module: masks, indices in many dimensions, places of what is not 0.

bfloat16, of which only the bits move, goes as int16. CuPy does not check the indices that it is given: one beyond the end wraps
around, where the CPU raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import cast, is_half, wide
from tenfold.cuda.kernels.conversion import clone_contiguous, write
from tenfold.cuda.kernels.handwritten import check_indices
from tenfold.cuda.kernels.places import Places
from tenfold.cuda.recordings import spoil
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op

INT16 = np.dtype(np.int16)


def bits(array: Any) -> Any:
    """The array, bfloat16 reread as int16."""
    return array.view(INT16) if array.dtype.kind == "V" else array


def _as_index(indices: Any) -> Any:
    return tuple([slice(None) if i is None else i for i in indices])


def without_masks(indices: Any) -> tuple[list[Any], bool]:
    """The indices, each mask as the positions where it holds, whose number the host waits for; whether there were masks."""
    masks = [i for i in indices if i is not None and i.dtype == np.bool_]
    if not masks or any(not mask.ndim for mask in masks):
        return indices, False  # a mask without dimensions has no positions
    spoil()
    found: list[Any] = []
    for i in indices:
        found += i.nonzero() if i is not None and i.dtype == np.bool_ else [i]
    return found, True


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


def index(input: Any, indices: Any) -> Any:
    """An advanced index of any kind."""
    _check_each("index", input, indices)
    return bits(input)[_as_index(indices)].view(input.dtype)


def index_put(out: Any, indices: Any, values: Any, accumulate: bool) -> Any:
    """Write, or add, to the array."""
    spoil()
    _check_each("index_put", out, indices)
    where = _as_index(indices)
    if not accumulate:
        bits(out)[where] = bits(values)
    elif len(where) == 1 and where[0].dtype == np.bool_:
        write(out, _with_sums(out, where[0].nonzero(), values))  # a mask names each place once
    else:
        write(out, _with_sums(out, where, values))
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


def gather(input: Any, dim: int, index: Any) -> Any:
    """Elements along a dimension, of an array of many."""
    _check_bounds("gather", input, dim, index)
    return bits(input)[_along(dim, index)].view(input.dtype)


def scatter(rows: Any, places: Places, values: Any, add: bool) -> None:
    """Write, or add, to an array of many dimensions along one."""
    spoil()
    (found,) = places.indices
    _check_bounds("scatter", rows, found.dim, found.array)
    where = _along(found.dim, found.array)
    part = bits(values)[tuple(slice(n) for n in places.shape)]
    if add:
        write(rows, _with_sums(rows, where, part.view(values.dtype)))
    else:
        bits(rows)[where] = part


def _along(dim: int, index: Any) -> tuple[Any, ...]:
    """The index of the places (i, index[i, j], j) that gather and scatter mean."""
    n = index.ndim
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


@kernel(op.nonzero, device="cuda")
def nonzero(input: Any) -> Any:
    if not input.ndim:
        return xp.zeros((int(bool(input)), 0), np.int64)
    return cast(xp.stack(xp.nonzero(wide(input))).T, np.int64)  # dimension by dimension, as PyTorch has them


@kernel(op.repeat_places, device="cuda")
def repeat_places(repeats: Any) -> Any:
    if repeats.ndim != 1 or repeats.dtype.kind != "i":
        raise RuntimeError("repeat_interleave: repeats must be a vector of integers that are not negative")
    if not repeats.size:
        return xp.zeros(0, np.int64)
    ends = xp.cumsum(cast(repeats, np.int64))
    # The result's length has to be known: one wait, for both numbers.
    least, count = runtime.current().to_host(xp.stack([cast(repeats.min(), np.int64), ends[-1]])).tolist()
    if least < 0:
        raise RuntimeError("repeat_interleave: repeats must be a vector of integers that are not negative")
    return cast(xp.searchsorted(ends, xp.arange(count), side="right"), np.int64)
