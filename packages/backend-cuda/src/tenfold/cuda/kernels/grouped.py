"""Convolution of groups of a few channels (depthwise ones have one) and its gradients, by kernels that need no matrix units."""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.kernels.handwritten import F64, Handwritten, contiguous, near, start, statistics_dtype
from tenfold.cuda.kernels.planes import allocated, channels_last, planes, power, shared, summed

MOST = 4  # channels of a group
TAPS_MOST = 64  # elements of a window, each of which is a few lines of machine code
BLOCK = 256
TILE = 2048  # terms of the windows' gradient that a program has at a time


def serves(inputs: int, outputs: int, groups: int, taps: int) -> bool:
    """Whether groups have so few channels that blocks of a matrix unit, 16 at least, would be empty for the most part."""
    return groups > 1 and max(inputs, outputs) <= MOST and taps <= TAPS_MOST


def correlated(x: Any, weight: Any, bias: Any, shape: tuple[int, ...], window: Any, groups: int, transposed: bool) -> Any:
    """The correlation of x with the windows of `weight`, or its transpose, of a shape (N, C, *S)."""
    x, weight = near(x), near(weight)
    index = runtime.current().index_of(x)
    out = allocated(shape, x, index, channels_last(x) or (x.ndim > 3 and channels_last(weight)))
    source, windows = planes(x), planes(weight)
    to, of = (1, 0) if transposed else (0, 1)
    constants = (
        ("BIAS", int(bias is not None)), ("TRANSPOSED", int(transposed)), ("DOUBLE", int(x.dtype == F64)),
        ("LAST", int(channels_last(out))), *window, ("BLOCK", BLOCK),
    )  # fmt: skip
    numbers = (
        out.size, shape[1], *source.sizes[2:], *planes(out).sizes[2:], *source.strides, x.shape[1] // groups, shape[1] // groups,
        windows.strides[to], windows.strides[of], *windows.strides[2:],
    )  # fmt: skip
    arrays = (out, x, weight, x if bias is None else contiguous(bias))
    start(Handwritten("correlate_groups", constants, 4, by_address=True), (-(-out.size // BLOCK),), (*arrays, *numbers), index)
    return out


def windows_gradient(g: Any, x: Any, shape: tuple[int, ...], window: Any, groups: int) -> Any:
    """The gradient of windows of a shape (C, channels of a group, *K): sums of g times what each element met of x."""
    now = runtime.current()
    index = now.index_of(x)
    pairs, taps, positions = prod(shape[:2]), prod(shape[2:]), g.size // g.shape[1]
    TAPS = power(taps, 1, 16)
    CHANNELS = power(pairs, 1, 32) if channels_last(x) or channels_last(g) else 1  # neighbours in memory side by side
    ROWS = power(positions, 1, max(1, TILE // (TAPS * CHANNELS)))
    blocks = -(-pairs // CHANNELS), -(-taps // TAPS)
    shares, share = shared(positions, prod(blocks), ROWS)
    parts = now.empty((shares, *shape), statistics_dtype(x.dtype) if shares > 1 else x.dtype, index)
    of, by = planes(x), planes(g)
    numbers = (
        positions, share, pairs, x.shape[1] // groups, g.shape[1] // groups, *of.sizes[2:], *by.sizes[2:], *by.strides,
        *of.strides,
    )  # fmt: skip
    constants = (("DOUBLE", int(x.dtype == F64)), *window, ("ROWS", ROWS), ("CHANNELS", CHANNELS), ("TAPS", TAPS))
    program = Handwritten("correlate_group_windows", constants, 4, by_address=True)
    start(program, (blocks[0], shares, blocks[1]), (parts, g, x, *numbers), index)
    return summed(parts, x.dtype)
