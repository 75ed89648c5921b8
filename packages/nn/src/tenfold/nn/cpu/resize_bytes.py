"""Resampling of bytes as products of matrices: whole numbers below 2^24 and their sums are exact in float32, in any order.

An output reads few neighbouring inputs, so the matrix of all weights is a band. It is cut into blocks of neighbouring outputs,
each of which is a small full matrix over the inputs that they read.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tenfold.nn.ops.resize import tables

Array = np.ndarray[Any, Any]

EXACT = 1 << 24  # the first whole number beyond which float32 leaves some out
READ = 18  # about how many inputs a block advances: few make many calls, many make products with zeros
INTERLEAVED = 4  # so many numbers of a pixel side by side, at most, are multiplied as a row with zeros between


class Block(NamedTuple):
    """Outputs `start` to `stop` from inputs `low` to `high`."""

    start: int
    stop: int
    low: int
    high: int
    matrix: Array


class Band(NamedTuple):
    """The blocks, the dtype in which their sums are exact, and whether sums may leave the range of bytes."""

    dtype: Any
    clipped: bool
    blocks: list[Block]


@lru_cache(maxsize=64)
def band(pixel: int, size: int, out: int, scale: float | None, align_corners: bool, mode: str, antialias: bool) -> Band:
    """The weights of one dimension: (inputs, outputs) with `pixel` numbers side by side, (outputs, inputs) where that is 0."""
    places, weights, bits = tables.whole_numbers(size, out, scale, align_corners, mode, antialias)
    half = 1 << bits >> 1
    dtype = np.float32 if 255 * int(np.abs(weights).sum(0).max()) + half < EXACT else np.float64
    clipped = bool(weights.min() < 0) or 255 * int(weights.sum(0).max()) + half >= 256 << bits
    width = max(8, min(128, round(READ * out / size)))
    blocks = []
    for start in range(0, out, width):
        at, share = places[:, start : start + width], weights[:, start : start + width]
        low, high = int(at.min()), int(at.max()) + 1
        matrix = np.zeros((high - low, at.shape[1]), dtype)
        np.add.at(matrix, (at - low, np.arange(at.shape[1])), share / (1 << bits))
        matrix = np.kron(matrix, np.eye(pixel, dtype=dtype)) if pixel else np.ascontiguousarray(matrix.T)
        blocks.append(Block(start, start + at.shape[1], low, high, matrix))
    return Band(dtype, clipped, blocks)


def resample_bytes(x: Array, first: int, steps: list[tuple[Any, ...]], settings: tuple[bool, str, bool]) -> Array:
    """Bytes resampled along the dimensions from `first` on, from the last to the first, rounded after each."""
    for i in reversed(range(len(steps))):
        if not tables.is_identity(*steps[i]):
            x = _along(x, first + i, steps[i], settings)
    return x.astype(np.uint8)


def _along(x: Array, axis: int, steps: tuple[Any, ...], settings: tuple[bool, str, bool]) -> Array:
    """Whole numbers of 0 to 255 as floating point numbers."""
    sums: Array
    size, out, inner = x.shape[axis], steps[1], prod(x.shape[axis + 1 :])
    side_by_side = inner <= INTERLEAVED
    dtype, clipped, blocks = band(inner if side_by_side else 0, *steps, *settings)
    result = np.empty((*x.shape[:axis], out, *x.shape[axis + 1 :]), dtype)
    x = x.astype(dtype, "C", copy=False)
    if side_by_side:
        rows, sums = x.reshape(-1, size * inner), result.reshape(-1, out * inner)
        for start, stop, low, high, matrix in blocks:
            np.matmul(rows[:, low * inner : high * inner], matrix, out=sums[:, start * inner : stop * inner])
    else:
        planes, sums = x.reshape(-1, size, inner), result.reshape(-1, out, inner)
        for start, stop, low, high, matrix in blocks:
            np.matmul(matrix, planes[:, low:high], out=sums[:, start:stop])
    result += 0.5
    if clipped:
        np.clip(result, 0, 255, out=result)
    return np.floor(result, out=result)
