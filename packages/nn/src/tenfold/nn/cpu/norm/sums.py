"""Sums of rows that keep their digits: float32 within short pieces, float64 over the pieces."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_F64 = np.dtype(np.float64)
PIECE = 1 << 14  # elements that are added in float32; a few hundred thousand lose the fourth digit


@lru_cache(maxsize=64)
def _ones(count: int, dtype: np.dtype[Any]) -> Array:
    return np.ones(count, dtype)


def row_sums(x: Array) -> Array:
    """Sums over the last dimension; of long rows in float64."""
    D = x.shape[-1]
    if D <= PIECE:
        return np.asarray(x @ _ones(D, x.dtype))
    return _of_pieces(D, lambda part: x[..., part] @ _ones(part.stop - part.start, x.dtype))


def exact_row_means(x: Array) -> Array:
    """Means over the last dimension, which stays, by way of float64: that of equal elements is that element. For small arrays."""
    sums: Array = x.astype(_F64).dot(_ones(x.shape[-1], _F64))
    sums /= x.shape[-1]
    return np.asarray(sums).astype(x.dtype)[..., None]


def row_dots(x: Array, y: Array) -> Array:
    """Sums of products over the last dimension; of long rows in float64."""
    D = x.shape[-1]
    if D <= PIECE:
        return np.asarray(np.vecdot(x, y))
    return _of_pieces(D, lambda part: np.vecdot(x[..., part], y[..., part]))


def _of_pieces(length: int, partial: Any) -> Array:
    total: Any = 0.0
    for start in range(0, length, PIECE):
        total = total + partial(slice(start, min(start + PIECE, length))).astype(np.float64)
    return np.asarray(total)


def column_sums(x: Array) -> Array:
    """Sums over the first dimension of (N, D); of many rows in float64."""
    if len(x) <= PIECE:
        return np.asarray(_ones(len(x), x.dtype) @ x)
    return _of_pieces(len(x), lambda part: _ones(part.stop - part.start, x.dtype) @ x[part])


def is_far(mean: Array, variance: Array) -> bool:
    """Whether some mean is so much larger than its spread that rounding it to its dtype moved the centered elements."""
    return bool((mean * mean > 100 * variance).any())


def settled(mean: Array, left: Array, variance: Array) -> tuple[Array, Array]:
    """A mean and a variance corrected by the mean of the centered elements, `left`, which the rounded mean left over."""
    return mean + left, np.maximum(variance - left * left, 0)
