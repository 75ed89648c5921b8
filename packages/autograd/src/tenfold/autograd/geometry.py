"""Gradients through memory: what one reading of a storage passes to another reading of it."""

from __future__ import annotations

from typing import Any

from tenfold.ops.indexing.strided import strided_sum
from tenfold.ops.view.shapes import as_strided


def extent(shape: Any, strides: Any) -> int:
    """Elements from the first to the last that a geometry reaches."""
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if all(shape) else 0


def through_memory(g: Any, source: Any, size: Any, stride: Any, storage_offset: int | None) -> Any:
    """The gradient of a tensor of geometry `source` from that of another reading of its memory."""
    shape, strides, start = source
    offset = start if storage_offset is None else storage_offset
    first = min(start, offset)
    length = max(start + extent(shape, strides), offset + extent(size, stride)) - first
    block = strided_sum(g, (length,), tuple(size), tuple(stride), offset - first)
    count = _times_read(shape, strides)
    found = as_strided(block, shape, strides, start - first)
    return found if count == 1 else found / count


def _times_read(shape: Any, strides: Any) -> int:
    """How often an expanded geometry shows each of its elements, between which it shares the gradient."""
    times = 1
    for n, s in zip(shape, strides):
        times *= n if s == 0 and n > 1 else 1
    return times
