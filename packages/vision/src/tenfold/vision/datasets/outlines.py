"""Masks as COCO writes them: outlines, or the lengths of runs, column after column.

Source: T.-Y. Lin and others, Microsoft COCO, arXiv:1405.0312, and the format's description on its page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor

FINER = 5  # an outline is followed on a grid so many times as fine as the pixels'


def mask_of(segmentation: Any, size: tuple[int, int]) -> Tensor:
    """The mask (H, W), uint8, of a list of outlines [x, y, x, y, ...], or of {"counts": runs, "size": [H, W]}.

    >>> mask_of({"counts": [1, 2, 3], "size": [2, 3]}, (2, 3)).tolist()
    [[0, 1, 0], [1, 0, 0]]

    Raises:
        ValueError: it is neither.
    """
    if isinstance(segmentation, dict):
        counts = segmentation["counts"]
        height, width = segmentation["size"]
        runs = _runs(counts) if isinstance(counts, (str, bytes)) else list(counts)
        return tenfold.from_numpy(_filled(runs, height, width))
    if isinstance(segmentation, list):
        masks = [_polygon(np.asarray(outline, dtype=np.float64).reshape(-1, 2), *size) for outline in segmentation]
        return tenfold.from_numpy(np.maximum.reduce([np.zeros(size, dtype=np.uint8), *masks]))
    raise ValueError(f"mask_of: a COCO segmentation should be a dict or a list, got {type(segmentation)}")


def _filled(runs: Sequence[int], height: int, width: int) -> Any:
    """Runs of 0 and 1 in turns, down the columns."""
    values = np.repeat(np.arange(len(runs)) % 2, runs).astype(np.uint8)
    if len(values) != height * width:
        raise ValueError(f"mask_of: runs of {len(values)} pixels do not fill {height}x{width}")
    return np.ascontiguousarray(values.reshape(width, height).T)


def _runs(text: str | bytes) -> list[int]:
    """Lengths from their compressed form: digits of five bits, the lowest first, in characters from "0" on.

    A digit with 32 is followed by another of the same number; from the fourth run on a number is the difference to the last but
    one.
    """
    data = text.encode() if isinstance(text, str) else text
    runs: list[int] = []
    number = shift = 0
    for character in data:
        digit = character - ord("0")
        number |= (digit & 31) << shift
        shift += 5
        if digit & 32:
            continue
        if digit & 16:  # the sign
            number -= 1 << shift
        runs.append(number + (runs[-2] if len(runs) > 2 else 0))
        number = shift = 0
    return runs


def _polygon(points: Any, height: int, width: int) -> Any:
    """The pixels within an outline: of each column those between crossings of the outline with the column's middle."""
    corners = np.trunc(points * FINER + 0.5).astype(np.int64)
    path = [_line(first, second) for first, second in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    x, y = np.concatenate(path).T
    turns = np.nonzero(x[1:] != x[:-1])[0]  # steps of the path across
    column = (np.minimum(x[turns], x[turns + 1]) + 0.5) / FINER - 0.5
    row = (np.minimum(y[turns], y[turns + 1]) + 0.5) / FINER - 0.5
    crosses = (np.floor(column) == column) & (column >= 0) & (column <= width - 1)
    starts = column[crosses].astype(np.int64) * height + np.ceil(np.clip(row[crosses], 0, height)).astype(np.int64)
    edges = np.bincount(starts, minlength=height * width + 1)[: height * width]
    return np.ascontiguousarray((np.cumsum(edges) % 2).astype(np.uint8).reshape(width, height).T)


def _line(first: Any, second: Any) -> Any:
    """The points of the grid nearest to a line, one for each step along its longer side."""
    delta = second - first
    axis = int(abs(delta[1]) > abs(delta[0]))
    steps = abs(int(delta[axis]))
    if steps == 0:
        return first[None]
    low, high = (first, second) if delta[axis] > 0 else (second, first)
    along = np.arange(steps + 1)
    points = np.empty((steps + 1, 2), dtype=np.int64)
    points[:, axis] = low[axis] + along
    slope = (high[1 - axis] - low[1 - axis]) / steps
    points[:, 1 - axis] = np.trunc(low[1 - axis] + slope * along + 0.5).astype(np.int64)
    return points if delta[axis] > 0 else points[::-1]
