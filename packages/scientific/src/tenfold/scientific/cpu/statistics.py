"""NumPy kernels of medians and modes. PyTorch's median is the lower of two; a NaN is the result unless NaNs are skipped."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.reduction.ordering import order
from tenfold.cpu.reduction.reductions import orderable, taken
from tenfold.cpu.reduction.sums import add_reduce
from tenfold.cpu.selection import LONGEST, STABLE, sorted_positions
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op


@kernel(op.median_value, device="cpu")
def median_value(input: Any, skip_nan: bool) -> Any:
    x = orderable(input).reshape(-1)
    if not x.size:
        # As C++ converts nan: to the least int or long, of which a narrower type has the lower bits.
        least = np.asarray(np.nan if input.dtype.kind in "fV" else np.iinfo(f"i{max(input.dtype.itemsize, 4)}").min)
        return least.astype(input.dtype)
    missing = int(np.isnan(x).sum()) if x.dtype.kind == "f" else 0
    if (missing and not skip_nan) or missing == x.size:
        return np.asarray(np.nan).astype(input.dtype)
    middle = (x.size - missing - 1) // 2
    return np.partition(x, middle)[middle].astype(input.dtype)


@kernel(op.median_dim, device="cpu")
def median_dim(input: Any, dim: int, keepdim: bool, skip_nan: bool) -> tuple[Any, Any]:
    x = orderable(input)
    if not x.ndim:
        return input.copy(), np.zeros((), np.int64)
    size = x.shape[dim]
    alone = _alone(x, (size - 1) // 2, dim) if size else None
    if alone is not None:
        return taken(input, alone, dim, keepdim)
    positions = order(x, dim, False)
    middle = np.full([1 if i == dim % x.ndim else n for i, n in enumerate(x.shape)], (size - 1) // 2)
    if x.dtype.kind == "f":
        missing = add_reduce(np.isnan(x), dim, np.int64, None, True)
        if skip_nan:
            middle = np.maximum(size - missing - 1, 0) // 2
        else:
            middle = np.where(missing > 0, size - missing, middle)  # the first NaN
    return taken(input, np.take_along_axis(positions, middle, dim), dim, keepdim)


def _alone(x: Any, place: int, dim: int) -> Any:
    """Positions of the elements that sorting would bring to a place, by selection; None where nan or equals leave a choice."""
    if x.dtype.kind == "f" and np.isnan(x).any():
        return None
    equal = x == np.take(np.partition(x, place, dim), [place], dim)
    if np.count_nonzero(equal) * x.shape[dim] != x.size:
        return None
    if dim % x.ndim == x.ndim - 1:
        return equal.argmax(dim, keepdims=True)
    places = np.nonzero(np.moveaxis(equal, dim, -1))[-1]  # one for each row, in the order of rows
    return np.expand_dims(places.reshape([n for d, n in enumerate(x.shape) if d != dim % x.ndim]), dim)


@kernel(op.mode_pair, device="cpu")
def mode(input: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    x = orderable(input)
    if not x.ndim:
        return input.copy(), np.zeros((), np.int64)
    if x.shape[dim] == 0:
        raise ValueError("mode of no elements")
    positions = _most_frequent(np.moveaxis(x, dim, -1))
    return taken(input, np.moveaxis(positions, -1, dim), dim, keepdim)


def _most_frequent(rows: Any) -> Any:
    """The position of each row's most frequent element, the least of several, that stands last when the row is sorted."""
    values = np.sort(rows, -1)
    begins = np.ones(values.shape, bool)
    np.not_equal(values[..., 1:], values[..., :-1], begins[..., 1:])
    place = np.arange(values.shape[-1])
    times = place - np.maximum.accumulate(np.where(begins, place, 0), -1)  # that an element came before, as far as a place
    found = rows == np.take_along_axis(values, times.argmax(-1, keepdims=True), -1)
    last = values.shape[-1] - 1 - found[..., ::-1].argmax(-1, keepdims=True)
    positions = np.where(found.any(-1, keepdims=True), last, 0)  # of nothing but nan the first
    if STABLE < rows.shape[-1] <= LONGEST:
        for i in map(tuple, np.argwhere(found.sum(-1, keepdims=True) > 1)[:, :-1]):
            positions[i] = [p for p in sorted_positions(rows[i].tolist()) if found[i][p]][-1]
    return positions
