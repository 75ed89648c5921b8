"""How the gradient of a leaf lies in memory: as the leaf does."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.meta import contiguous_strides
from tenfold.ops.creation.factories import empty_strided
from tenfold.types.memory_format import contiguous_format, is_dense


def laid_out(g: Any, leaf: Any) -> Any:
    """The gradient in the memory order of its leaf, or row by row where the leaf has gaps; None if it lies so already."""
    if g._key is not leaf._key.device or g.is_sparse or g.dtype is not leaf.dtype:
        return None
    strides = leaf.stride() if is_dense(leaf._array) else contiguous_strides(g.shape)
    if all(n == 1 or have == want for n, have, want in zip(g.shape, g.stride(), strides)):
        return None
    if strides == contiguous_strides(g.shape):
        made = g.clone(memory_format=contiguous_format)
        made.untyped_storage().version += 1  # as by copy_
        return made
    return empty_strided(tuple(g.shape), strides, dtype=g.dtype, device=g.device).copy_(g)
