"""Which tile of two dimensions a program has: a grid's first dimension counts both, as CUDA ends the others at 65,535."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import triton
from triton import language as tl


@triton.jit
def tile_count(count, EACH: tl.constexpr):
    """How many tiles there are of `count` rows, which are one at least; near 2**31 of them nothing overflows."""
    return (count - 1) // EACH + 1


@triton.jit
def tile_of(first):
    """(place in the first dimension, place in the second), the first of which has `first` tiles, one after the other."""
    place = tl.program_id(0)
    return place % first, place // first
