"""How the gradient of a leaf lies in memory: as the leaf does."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.meta import contiguous_strides
from tenfold.ops.creation.factories import empty_strided
from tenfold.tensor.tensor import Tensor, wrap
from tenfold.types.memory_format import contiguous_format, is_dense


def laid_out(g: Any, leaf: Any) -> Any:
    """The gradient in the memory order of its leaf, or row by row where the leaf has gaps; None if it lies so already."""
    if type(g) is Tensor and g._key is CPU is leaf._key and leaf._array.flags.c_contiguous:  # the usual case, in few steps
        return _by_rows(g, leaf)
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


def _by_rows(g: Any, leaf: Any) -> Any:
    """The same for a leaf that lies row by row."""
    array, like = g._array, leaf._array
    if array.dtype is not like.dtype or array.flags.c_contiguous:
        return None
    made = wrap(np.array(array, order="C"), CPU)
    made.untyped_storage().version += 1
    return made
