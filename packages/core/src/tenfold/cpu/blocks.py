"""Cutting large arrays into blocks that stay in the cache while a kernel makes its several passes over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Two or three temporaries of this size stay in a core's second-level cache; half of it costs 5 % more in calls.
BLOCK_BYTES = 1 << 18


def row_blocks(rows: int, row_bytes: int, block_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Slices that cover range(rows), each about `block_bytes` of rows and at least one row."""
    step = max(1, block_bytes // max(1, row_bytes))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def blockwise(body: Callable[..., None], *arrays: Array) -> Array:
    """A new array filled by `body(out, *inputs)`, called block by block on flat pieces when the inputs are large.

    The inputs have one shape and one dtype; `body` computes elementwise and writes only its first argument. The result lies
    in memory as the first input does.
    """
    first = arrays[0]
    out = np.empty_like(first)
    if first.ndim == 0:  # arithmetic on 0-d arrays yields scalars, which `body` could not write to
        body(out.reshape(1), *[a.reshape(1) for a in arrays])
        return out
    if first.nbytes <= BLOCK_BYTES:
        body(out, *arrays)
        return out
    if out.flags.c_contiguous:
        flat_out, *flat = (a.reshape(-1) for a in (out, *arrays))
    else:
        order = sorted(range(out.ndim), key=lambda axis: -out.strides[axis])
        flat_out, *flat = (a.transpose(order).reshape(-1) for a in (out, *arrays))
    for part in row_blocks(flat_out.size, first.itemsize):
        body(flat_out[part], *[a[part] for a in flat])
    return out
