"""Where a convolution's numbers lie: padded planes, and the tables of distances to their pixels, rows and taps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any, Generic, TypeVar

import numpy as np

from tenfold.llvm.products import GROUP, Run

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]
T = TypeVar("T")
LONGEST_RUN = 11  # taps that are written out one after the other in a program
LARGE, FEW_KEPT, MANY_KEPT = 1 << 14, 16, 256  # pixels of a plane; results of sizes that are kept for large and for other planes


@dataclass(frozen=True)
class Window:
    """A convolution's window: its size and steps, over planes of the sizes `inputs`, giving `outputs`."""

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    inputs: Sizes
    outputs: Sizes


@dataclass(frozen=True)
class Reading:
    """What a product reads: the taps at `offsets` of each dimension from `position * stride`, in planes padded to `lengths`."""

    inputs: Sizes
    outputs: Sizes
    stride: Sizes
    before: Sizes
    lengths: Sizes
    offsets: tuple[Sizes, ...]


class Kept(Generic[T]):
    """A function of a window or reading, and more, whose results are kept: few of large planes, whose tables take megabytes."""

    def __init__(self, make: Callable[..., T]) -> None:
        self.few, self.many = lru_cache(maxsize=FEW_KEPT)(make), lru_cache(maxsize=MANY_KEPT)(make)

    def __call__(self, sizes: Window | Reading, *others: Any) -> T:
        return (self.few if is_large(sizes) else self.many)(sizes, *others)

    def cache_clear(self) -> None:
        """Keep none of them."""
        self.few.cache_clear()
        self.many.cache_clear()


def is_large(sizes: Window | Reading) -> bool:
    """Whether the tables of these planes are long."""
    return max(prod(sizes.inputs), prod(sizes.outputs)) > LARGE


def forward(window: Window) -> Reading:
    """What a convolution reads of its input."""
    offsets = tuple(tuple(range(0, k * d, d)) for k, d in zip(window.kernel, window.dilation, strict=True))
    lengths = tuple(i + 2 * p for i, p in zip(window.inputs, window.padding, strict=True))
    return Reading(window.inputs, window.outputs, window.stride, window.padding, lengths, offsets)


def backward(window: Window, phase: Sizes) -> tuple[tuple[slice, ...], Reading | None]:
    """What the gradient of the inputs at phase + stride * q reads of the result's gradient, and by which taps; None: nothing.

    Input i meets output o at tap k where i = o stride + k dilation - padding.
    """
    taps, offsets, before, lengths, outputs = [], [], [], [], []
    axes = zip(phase, window.kernel, window.stride, window.padding, window.dilation, window.inputs, window.outputs, strict=True)
    for f, k, s, p, d, i, o in axes:
        met = [t for t in range(k) if (f + p - t * d) % s == 0]
        if not met:
            return (), None
        taps.append(slice(met[0], met[-1] + 1, met[1] - met[0] if len(met) > 1 else 1))
        places = [(f + p - t * d) // s for t in met]
        front = max(0, -min(places))
        count = -(-(i - f) // s)
        before.append(front)
        outputs.append(count)
        offsets.append(tuple(front + place for place in places))
        lengths.append(max(front + o, count + max(offsets[-1])))
    ones = (1,) * len(phase)
    return tuple(taps), Reading(window.outputs, tuple(outputs), ones, tuple(before), tuple(lengths), tuple(offsets))


def _combined(distances: Iterable[Array]) -> Array:
    """The sums of one distance along each dimension, of the last fastest: large planes have a million pixels."""
    found = np.zeros(1, np.int64)
    for along in distances:
        found = np.add.outer(found, along).reshape(-1)
    return found


def _table(found: Array, size: int, filled: int = 0) -> Array:
    """Distances in elements as bytes, the last one repeated up to `filled`."""
    if filled > len(found):
        found = np.concatenate([found, np.full(filled - len(found), found[-1])])
    return found * size


def _rows_of_taps(reading: Reading) -> tuple[int, bool]:
    """How many rows of taps lie right below each other, and whether the first is the lowest; 0 where they lie otherwise."""
    if len(reading.stride) != 2 or reading.stride[0] > 1:
        return 0, False
    down = reading.offsets[0]
    steps = {b - a for a, b in pairwise(down)}
    return (len(down), steps == {-1}) if steps in ({1}, {-1}) else (0, False)


def _run_of_taps(offsets: Sizes) -> Run:
    """Taps of a row that lie at equal distances: all of them, or a part that they are made of."""
    gaps = {b - a for a, b in pairwise(offsets)}
    count = max(n for n in range(1, LONGEST_RUN + 1) if len(offsets) % n == 0)
    return Run(count, gaps.pop()) if len(gaps) == 1 and count > 1 else Run()


class Plane:
    """How planes are laid out for a reading: whole, or one plane for each phase of the stride, where a row's pixels are
    neighbours. All tables are in bytes but `phases`."""

    def __init__(self, reading: Reading, channels: int, size: int, parted: bool) -> None:
        self.reading = reading
        self.stride = reading.stride if parted else (1,) * len(reading.stride)
        self.lengths = tuple(-(-n // s) for n, s in zip(reading.lengths, self.stride, strict=True))
        self.steps = [prod(self.lengths[axis + 1 :]) for axis in range(len(self.lengths))]
        self.size = prod(self.lengths) * prod(self.stride)
        self.as_it_is = not parted and self.lengths == reading.inputs  # whole vectors of parted rows reach beyond the last
        self.beyond = 2 * 64
        self.positions, self.length = prod(reading.outputs), reading.outputs[-1]
        jumps = self.lengths and [1 if parted else s for s in reading.stride]
        along = [np.arange(o) * (j * step) for o, j, step in zip(reading.outputs, jumps, self.steps, strict=True)]
        self.pixels = _table(_combined(along), size, -(-self.positions // GROUP) * GROUP)
        self.rows = _table(_combined(along[:-1]), size)
        taps = _combined(self._phased(axis, np.array(places)) for axis, places in enumerate(reading.offsets))
        every = (np.arange(channels, dtype=np.int64)[:, None] * self.size + taps).reshape(-1)
        self.taps = every * size
        self.filled_taps = _table(every, size, -(-len(every) // GROUP) * GROUP)
        inside = [np.arange(b, b + i) for b, i in zip(reading.before, reading.inputs, strict=True)]
        self.sources = _table(_combined(self._phased(axis, places) for axis, places in enumerate(inside[:-1])), size)
        self.phases = self._phases(reading)
        self.line = self.lengths[-1] * size
        self.height, self.falling = _rows_of_taps(reading)
        self.run = Run() if self.stride[-1] > 1 else _run_of_taps(reading.offsets[-1])

    def _phased(self, axis: int, places: Array) -> Array:
        """How far elements at these places of a dimension lie from the first: phases are whole planes, one behind the other."""
        stride = self.stride[axis]
        plane = prod(self.lengths) * prod(self.stride[axis + 1 :])
        apart: Array = places % stride * plane + places // stride * self.steps[axis]
        return apart

    def _phases(self, reading: Reading) -> Array:
        """Of each phase of a row: its first element in the input, where that goes, and how many there are."""
        s, before, length = self.stride[-1], reading.before[-1], reading.inputs[-1]
        found = []
        for phase in range(s):
            start = (phase - before) % s
            goal = phase * prod(self.lengths) + (start + before) // s
            found.append((start, goal, max(0, -(-(length - start) // s))))
        return np.array(found, np.int64).reshape(-1)


@Kept
def plane_of(reading: Reading, channels: int, size: int, parted: bool) -> Plane:
    """The layout and its tables, made once."""
    return Plane(reading, channels, size, parted)
