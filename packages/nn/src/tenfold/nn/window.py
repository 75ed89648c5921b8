"""The geometry of a window that slides over one, two or three dimensions, shared by convolution, pooling and unfolding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

Sizes = tuple[int, ...]


def output_length(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool = False) -> int:
    """How many positions a window has along one dimension; with `ceil_mode` a last, cut-off window counts unless it would
    start in the padding on the right."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return room // stride + 1
    length = -(-room // stride) + 1
    return length - 1 if (length - 1) * stride >= size + padding else length


@dataclass(frozen=True, slots=True)
class Window:
    """A window's size and steps, with the spatial sizes it reads from (`inputs`) and writes to (`outputs`)."""

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    inputs: Sizes
    outputs: Sizes

    @property
    def taps(self) -> int:
        """The number of elements in the window."""
        return prod(self.kernel)

    @property
    def positions(self) -> int:
        """The number of places where the window stands."""
        return prod(self.outputs)

    def offsets(self) -> Iterator[Sizes]:
        """Each tap's distance from the window's first element, the last dimension fastest."""
        return product(*[range(0, k * d, d) for k, d in zip(self.kernel, self.dilation, strict=True)])

    def overlap(self, axis: int, offset: int) -> tuple[slice, slice] | None:
        """Along one dimension: the outputs for which a tap lies inside the input, and the inputs it meets there."""
        step = self.stride[axis]
        shift = offset - self.padding[axis]
        first = max(0, -(shift // step))
        last = min(self.outputs[axis] - 1, (self.inputs[axis] - 1 - shift) // step)
        if last < first:
            return None
        return slice(first, last + 1), slice(first * step + shift, last * step + shift + 1, step)


@lru_cache(maxsize=256)
def overlaps(window: Window) -> tuple[tuple[int, tuple[Any, ...], tuple[Any, ...]], ...]:
    """For each tap that meets the input: its number, the outputs where it lies inside, and the inputs it meets there."""
    found = []
    for tap, offset in enumerate(window.offsets()):
        pairs = [window.overlap(axis, o) for axis, o in enumerate(offset)]
        if all(pair is not None for pair in pairs):
            found.append((tap, tuple(p[0] for p in pairs if p), tuple(p[1] for p in pairs if p)))
    return tuple(found)


@lru_cache(maxsize=256)
def window_over(inputs: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool = False) -> Window:
    """The window that slides over planes of the sizes `inputs`."""
    steps = zip(inputs, kernel, stride, padding, dilation, strict=True)
    outputs = tuple(output_length(i, k, s, p, d, ceil_mode) for i, k, s, p, d in steps)
    return Window(kernel, stride, padding, dilation, inputs, outputs)


@lru_cache(maxsize=64)
def mean_factors(window: Window, count_pad: bool, divisor: int | None) -> np.ndarray[Any, Any]:
    """One over the number of elements that each window counts; (*P)."""
    if divisor is not None:
        return np.full(window.outputs, 1 / divisor)
    counts: np.ndarray[Any, Any] = np.ones((), np.int64)
    for axis, size in enumerate(window.outputs):
        pad = window.padding[axis]
        first = np.arange(size) * window.stride[axis] - pad
        last = np.minimum(first + window.kernel[axis], window.inputs[axis] + pad)
        if not count_pad:
            first, last = np.maximum(first, 0), np.minimum(last, window.inputs[axis])
        counts = counts[..., None] * (last - first)
    return 1 / counts
