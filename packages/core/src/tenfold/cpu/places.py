"""Places (i, index[i, j], j) along one dimension, as positions in memory: NumPy finds one index faster than several."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tenfold.ops.indexing.selection import indexed_shape, warn_of_bytes


def checked(size: int, dim: int, index: Any) -> None:
    """Raises: RuntimeError where an index is negative or beyond a dimension's size."""
    if index.flags.c_contiguous:  # negative numbers are the greatest without a sign: one pass finds both
        farthest = int(index.view(f"u{index.itemsize}").max())
    else:
        farthest = int(index.max()) if int(index.min()) >= 0 else sys.maxsize
    if farthest >= size:
        bad = index[(index < 0) | (index >= size)].flat[0]
        raise RuntimeError(f"index {bad} is out of bounds for dimension {dim} with size {size}")


def along(x: Any, dim: int, index: Any) -> tuple[Any, Any]:
    """A view of `x` and an index of it for the places that gather and scatter mean: a row and positions, flat, if it can be.

    >>> row, where = along(np.arange(6).reshape(2, 3), 1, np.array([[2], [0]]))
    >>> row[where].tolist()
    [2, 3]
    """
    if x.flags.c_contiguous:
        return x.reshape(-1), _positions(x.shape, dim % x.ndim, index).reshape(-1)
    places = [np.arange(m).reshape([-1 if d == i else 1 for d in range(x.ndim)]) for i, m in enumerate(index.shape)]
    places[dim] = index
    return x, tuple(places)


def _positions(shape: tuple[int, ...], dim: int, index: Any) -> Any:
    """Where in memory the places lie, row by row."""
    steps = [1] * len(shape)
    for d in range(len(shape) - 1, 0, -1):
        steps[d - 1] = steps[d] * shape[d]
    places = np.multiply(index, steps[dim], dtype=np.int64) if steps[dim] != 1 else index
    rest = None
    for d, m in enumerate(index.shape):
        if d != dim and m > 1:
            part = (np.arange(m) * steps[d]).reshape((-1,) + (1,) * (len(shape) - 1 - d))
            rest = part if rest is None else rest + part
    return places if rest is None else places + rest


def taken_along(x: Any, positions: Any, dim: int) -> Any:
    """x at positions along a dimension that are within it; the other sizes are x's."""
    row, where = along(x, dim, positions)
    # Within the row they are: the mode that checks nothing twice.
    return row.take(where, mode="wrap").reshape(positions.shape) if row.ndim == 1 else row[where]


def as_index(indices: Any) -> Any:
    """NumPy's index for a list of index arrays and None."""
    return tuple([slice(None) if i is None else i if i.dtype.char not in _OTHERS else _mask(i) for i in indices])


_OTHERS = "BhH"  # bytes are masks; short integers NumPy takes for positions, and PyTorch does not


def _mask(index: Any) -> Any:
    if index.dtype.char == "B":
        warn_of_bytes()
        return index != 0
    raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, got {index.dtype}")


def in_our_words(error: IndexError) -> IndexError:
    text = str(error).replace(" axis ", " dimension ")
    return IndexError(text.replace("indexing arrays", "indexing tensors"))


def any_of(indices: list[Any]) -> bool:
    return bool(indices) and any(i is not None for i in indices)


def as_iterated(found: Any, input: Any, indices: Any) -> Any:
    """What was selected in the order of memory that PyTorch gives it, where NumPy puts the indexed dimensions first.

    Dimensions that were not indexed keep the order of the input's strides, and the others their places.
    """
    if input.flags.c_contiguous or any(i is not None and i.dtype == np.bool_ and not i.ndim for i in indices):
        return found.copy("C")
    places: list[Any] = []
    for i in indices:
        places += [i] if i is None or i.dtype != np.bool_ else i.nonzero()
    places += [None] * (input.ndim - len(places))
    arrays = [i for i in places if i is not None]
    kept = [n for n, i in enumerate(places) if i is None]
    indexed = [n for n, i in enumerate(places) if i is not None]
    width = found.ndim - len(kept)
    first = indexed[0] if indexed[-1] - indexed[0] < len(indexed) else 0  # apart, they go to the front
    before = sum(n < first for n in kept)
    outer = [input.strides[n] for n in kept]
    wide = np.broadcast_arrays(*arrays)
    operands = [[*outer[:before], *[0] * width, *outer[before:]]]
    operands += [[*[0] * before, *i.strides, *[0] * (len(kept) - before)] for i in wide]
    axes = _from_fastest(operands, found.shape)[::-1]
    return np.ascontiguousarray(found.transpose(axes)).transpose(np.argsort(axes))


def _from_fastest(operands: list[list[int]], shape: tuple[int, ...]) -> list[int]:
    """Dimensions by the operands' strides, the fastest first; a stride of 0 says nothing, and ties stay as they are."""
    order = list(range(len(shape)))[::-1]
    for i in range(1, len(order)):
        at = i
        for j in range(i - 1, -1, -1):
            a, b = order[j], order[at]
            told = [(s[a], s[b]) for s in operands if s[a] and s[b] and (s[a] != s[b] or shape[a] > shape[b])]
            if told and told[0][0] < told[0][1]:
                break
            if told:
                order[j], order[at] = order[at], order[j]
                at = j
    return order


def shape_of(input: Any, indices: Any, told: bool = False) -> Any:
    """The shape of what an index selects wherever its positions lie; None when it has none, or an error if `told`."""
    places: list[Any] = []
    for i in indices:
        masked = i is not None and i.dtype == np.bool_
        if masked and (not i.ndim or i.shape != input.shape[len(places) : len(places) + i.ndim]):
            return None
        places += i.nonzero() if masked else [i]
    try:
        found = indexed_shape(input.shape, places)
    except IndexError:
        if told:
            raise
        return None
    indexed = [n for n, i in zip(input.shape, places) if i is not None]
    none = 0 in indexed and 0 not in np.broadcast_shapes(*[i.shape for i in places if i is not None])
    if none and told:
        raise IndexError("index is out of bounds for dimension with size 0")
    return None if none or len(places) > input.ndim else found


def most_dims(input: Any, indices: Any) -> int:
    """How many dimensions a selection has."""
    given = [(1, i.ndim) if i.dtype == np.bool_ else (i.ndim, 1) for i in indices if i is not None]
    return max((made for made, _ in given), default=0) + int(input.ndim - sum(covered for _, covered in given))
