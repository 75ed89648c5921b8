"""Gradients of views: one launch that writes every element once, however often the view shows it."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import folds
from tenfold.cuda.kernels.geometry import merged
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, near, start
from tenfold.cuda.kernels.sums import pairs
from tenfold.dispatch.devices import device
from tenfold.dispatch.operators import op
from tenfold.generic.indexing import strided_sum as by_writes

BLOCK, DIMS = 512, 5
Sizes = tuple[int, ...]


@lru_cache(maxsize=4096)
def _walk(size: Sizes, strides: Sizes, own: Sizes) -> tuple[int, int, Sizes] | None:
    """(dimensions, turns, numbers) of a region and of what is added there; None for what the kernel does not serve.

    >>> _walk((3, 4), (2, 1), (4, 1))[:2]  # windows of 4, 2 apart, of which two overlap
    (2, 2)
    """
    lengths, (steps, reads) = merged(size, ((size, strides, 1), (size, own, 1)))
    if len(lengths) > DIMS or 0 in steps:
        return None
    behind = [sum(s * (n - 1) for n, s in zip(lengths[d:], steps[d:])) for d in range(1, len(lengths) + 1)]
    turns = [min(n, reach // s + 1) for n, s, reach in zip(lengths, steps, behind)]
    pad = (1,) * (DIMS - len(lengths))
    return max(len(lengths), 1), prod(turns), (*lengths, *pad, *steps, *pad, *reads, *pad, *turns, *pad)


@kernel(op.strided_sum, device="cuda", plays=True)
def strided_sum(input: Any, shape: Any, size: Any, stride: Any, storage_offset: int) -> Any:
    if input.dtype.kind == "c":
        parts = pairs(input, input.shape, input.strides)
        stride = (*(2 * s for s in stride), 1)
        return folds.of_pairs(strided_sum(parts, (*shape, 2), (*size, 2), stride, 2 * storage_offset), input.dtype)
    count, now = prod(shape), runtime.current()
    x = near(input)
    steps = tuple([s // x.dtype.itemsize for s in x.strides])
    walk = _walk(tuple(size), tuple(stride), steps) if x.dtype in FLOATS and count and x.size else None
    if walk is None:
        return by_writes(device("cuda").backend, input, shape, size, stride, storage_offset)
    dims, turns, numbers = walk
    index = now.index_of(x)
    out = now.empty(tuple(shape), x.dtype, index)
    fixed = (("DIMS", dims), ("WIDE", int(count + BLOCK >= 2**31)), ("DOUBLE", int(x.dtype == F64)), ("BLOCK", BLOCK))
    program = Handwritten("sums_of_regions", fixed, 4, by_address=True)
    start(program, (-(-count // BLOCK),), (out, x, count, storage_offset, turns, *numbers), index)
    return out
