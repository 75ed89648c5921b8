"""Operations along one dimension of an array, in blocks of rows that stay in the cache."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.blocks import BLOCK_BYTES, row_blocks
from tenfold.cpu.reduction.sums import total

Array = np.ndarray[Any, Any]


def by_rows(body: Any, dim: int, *arrays: Array) -> Array:
    """A new array filled by `body(out, *rows)` on blocks (A, D, B) of arrays, D being the dimension `dim`."""
    shape = arrays[0].shape
    if not -max(len(shape), 1) <= dim < max(len(shape), 1):
        raise IndexError(f"dimension {dim}")
    out = np.empty(shape, arrays[0].dtype)
    if out.size == 0:
        return out
    dim = dim % len(shape) if shape else 0
    inner = prod(shape[dim + 1 :])
    rows = (-1, shape[dim] if shape else 1) if inner == 1 else (-1, shape[dim], inner)
    results, views = out.reshape(rows), [a.reshape(rows) for a in arrays]
    if out.nbytes <= BLOCK_BYTES:
        body(results, *views)
        return out
    for part in row_blocks(len(results), results[0].nbytes):
        body(results[part], *[v[part] for v in views])
    return out


def row_sums(x: Array) -> Array:
    """Sum (A, D) or (A, D, B) over D, keeping the dimension; a product with ones is the fastest for large blocks."""
    if x.ndim == 2 and x.size > 1024:
        return (x @ np.ones(x.shape[1], x.dtype))[:, None]
    return total(x, 1, True)


def row_dots(x: Array, y: Array) -> Array:
    """Sum x y over D, keeping the dimension."""
    if x.ndim == 2:
        return (x[:, None, :] @ y[:, :, None])[:, :, 0]
    return total(x * y, 1, True)


def subtract_maximum(out: Array, x: Array) -> Array:
    """Write x - max(x) along dimension 1 to `out` and return the maxima; rows of -inf only become NaN."""
    top = np.maximum.reduce(x, 1, keepdims=True)
    np.subtract(x, top, out=out)
    return top
