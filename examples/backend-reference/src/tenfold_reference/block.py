"""The array of the device "ref": bytes, and how to read them as elements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# How a memoryview names the element types that this device has.
FORMATS = {
    "float32": "f", "float64": "d", "int64": "q", "int32": "i", "int16": "h", "int8": "b", "uint8": "B", "bool": "?",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """A strided view on a bytearray; views on the same bytearray share their elements.

    >>> import numpy
    >>> Block(bytearray(24), numpy.dtype("float32"), (2, 3), (3, 1)).positions()
    [0, 1, 2, 3, 4, 5]
    """

    memory: bytearray
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    steps: tuple[int, ...]  # from one element to the next along each dimension, in elements
    start: int = 0  # of the first element

    @property
    def strides(self) -> tuple[int, ...]:
        """The steps in bytes: what Tenfold asks of every array."""
        return tuple(step * self.dtype.itemsize for step in self.steps)

    @property
    def cells(self) -> memoryview[Any]:
        """The whole memory as elements of this block's type."""
        return memoryview(self.memory).cast(FORMATS[self.dtype.name])  # type: ignore[call-overload, no-any-return]

    def positions(self) -> list[int]:
        """Where in `cells` the elements are, in row-major order."""
        return walk(self.shape, self.steps, self.start)

    def values(self) -> list[Any]:
        """The elements as Python numbers, in row-major order."""
        cells = self.cells
        return [cells[p] for p in self.positions()]


def walk(shape: Sequence[int], steps: Sequence[int], start: int) -> list[int]:
    """Every position that an index of this shape reaches, the last dimension running fastest."""
    found = [start]
    for size, step in zip(shape, steps):
        found = [position + i * step for position in found for i in range(size)]
    return found


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The steps of a block whose elements lie one after the other."""
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))


def new_block(shape: Sequence[int], dtype: np.dtype[Any], values: Iterable[Any] | None = None) -> Block:
    """A block with memory of its own that holds the values, or zeros."""
    shape = tuple(shape)
    block = Block(bytearray(math.prod(shape) * dtype.itemsize), dtype, shape, row_major(shape))
    if values is not None:
        cells = block.cells
        for position, value in enumerate(converted(values, dtype)):
            cells[position] = value
    return block


def converted(values: Iterable[Any], dtype: np.dtype[Any]) -> Iterator[Any]:
    """The numbers as an element type takes them: integers wrap around, as they do in C."""
    if dtype.kind == "f":
        return map(float, values)
    if dtype.kind == "b":
        return map(bool, values)
    bits = 8 * dtype.itemsize
    low = -(1 << (bits - 1)) if dtype.kind == "i" else 0
    return ((low if value - value != 0 else (int(value) - low) % (1 << bits) + low) for value in values)


def expanded(block: Block, shape: Sequence[int]) -> Block:
    """The block broadcast to a shape: what repeats has the step 0."""
    lead = len(shape) - len(block.shape)
    steps = [0] * lead + [0 if n == 1 else step for n, step in zip(block.shape, block.steps)]
    return Block(block.memory, block.dtype, tuple(shape), tuple(steps), block.start)
