"""Places (i, index[i, j], j) along one dimension, as positions in memory: NumPy finds one index faster than several."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


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
