"""The backend and its array: a ctypes buffer of one of two units."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.devices import Backend
from tenfold.dispatch.meta import contiguous_strides

ELEMENTS: dict[str, Any] = {"float64": ctypes.c_double, "bool": ctypes.c_bool, "uint8": ctypes.c_uint8}


class Buffer:
    """Elements in a ctypes buffer, with strides and an offset in bytes."""

    __slots__ = ("dtype", "memory", "offset", "shape", "strides", "unit")

    def __init__(self, memory: Any, dtype: np.dtype[Any], shape: Sequence[int], strides: Sequence[int], offset: int, unit: int):
        self.memory, self.dtype, self.unit = memory, dtype, unit
        self.shape, self.strides, self.offset = tuple(shape), tuple(strides), offset

    def pointers(self, shape: Sequence[int] | None = None) -> Iterator[Any]:
        """A ctypes object on each element, broadcast to a shape; read and write its `.value`."""
        shape = self.shape if shape is None else shape
        lead = len(shape) - len(self.shape)
        steps = [0] * lead + [0 if n == 1 else step for n, step in zip(self.shape, self.strides)]
        element = ELEMENTS[self.dtype.name]
        for index in product(*map(range, shape)):
            yield element.from_buffer(self.memory, self.offset + sum(i * step for i, step in zip(index, steps)))


def allocate(shape: Sequence[int], dtype: np.dtype[Any], unit: int) -> Buffer:
    """A new buffer on a unit."""
    memory = ctypes.create_string_buffer(max(prod(shape) * dtype.itemsize, 1))
    return Buffer(memory, dtype, shape, contiguous_strides(shape, dtype.itemsize), 0, unit)


class SecondBackend(Backend):
    """Two units, so that tensors say "second:0" or "second:1"."""

    name = "second"
    array_type = Buffer
    dtypes = tuple(ELEMENTS)

    def device_count(self) -> int:
        return 2

    def empty(self, shape: Sequence[int], dtype: Any, index: int | None) -> Buffer:
        self.require_dtype(dtype)
        return allocate(shape, dtype, index or 0)

    def from_numpy(self, array: Any, index: int | None) -> Buffer:
        self.require_dtype(array.dtype)
        buffer = allocate(array.shape, np.dtype(array.dtype.type), index or 0)
        ctypes.memmove(buffer.memory, array.tobytes(), array.nbytes)
        return buffer

    def to_numpy(self, array: Buffer) -> Any:
        return np.array([p.value for p in array.pointers()], array.dtype).reshape(array.shape)

    def as_strided(self, array: Buffer, shape: Sequence[int], strides: Sequence[int], offset: int) -> Buffer:
        size = array.dtype.itemsize
        return Buffer(array.memory, array.dtype, shape, [s * size for s in strides], offset * size, array.unit)

    def write(self, destination: Buffer, source: Buffer) -> None:
        values = [p.value for p in source.pointers(destination.shape)]
        for pointer, value in zip(destination.pointers(), values):
            pointer.value = value

    def memory(self, array: Buffer) -> tuple[Any, int, int]:
        return array.memory, len(array.memory), array.offset

    def reinterpret(self, array: Buffer, dtype: np.dtype[Any]) -> Buffer:
        return Buffer(array.memory, dtype, (len(array.memory) // dtype.itemsize,), (dtype.itemsize,), 0, array.unit)

    def data_ptr(self, array: Buffer) -> int:
        return ctypes.addressof(array.memory) + array.offset

    def index_of(self, array: Buffer) -> int:
        return array.unit
