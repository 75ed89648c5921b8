"""Gradients through memory: what one reading of a storage passes to another reading of it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tenfold.dispatch.meta import Meta
from tenfold.ops.creation.factories import full
from tenfold.ops.indexing.strided import strided_sum
from tenfold.ops.pointwise.limits import clamp_min
from tenfold.ops.view.shapes import as_strided


@lru_cache(maxsize=1 << 10)
def _known(rule: Any, shape: Any, arguments: Any) -> Meta:
    return rule(Meta(shape, "u1"), *arguments)  # type: ignore[no-any-return]


def placed(g: Any, shape: Any, rule: Any, *arguments: Any) -> Any:
    """The gradient of a view of a tensor of this shape, from the view's gradient and its shape rule: zeros with it at its place.

    Each geometry is worked out once where its arguments can be remembered (slices from Python 3.12 on).
    """
    shape = tuple(shape)
    try:
        geometry = _known(rule, shape, arguments)
    except TypeError:
        geometry = rule(Meta(shape, "u1"), *arguments)
    return strided_sum(g, shape, geometry.shape, geometry.strides, geometry.offset)


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
    if _overlaps(shape, strides):
        block = block / _times_read(g, length, shape, strides, start - first)
    return as_strided(block, shape, strides, start - first)


def _overlaps(shape: Any, strides: Any) -> bool:
    """Whether a geometry may show an element more than once."""
    reached = 0
    for s, n in sorted((s, n) for s, n in zip(strides, shape) if n > 1):
        if s <= reached:
            return True
        reached += s * (n - 1)
    return False


def _times_read(g: Any, length: int, shape: Any, strides: Any, offset: int) -> Any:
    """How often a geometry shows each element of a block, between which they share the gradient; 1 for those that it does not."""
    once = full(tuple(shape), 1, dtype=g.dtype, device=g.device)
    return clamp_min(strided_sum(once, (length,), tuple(shape), tuple(strides), offset).real, 1)
