"""The CPU device: NumPy arrays in host memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tenfold.cpu import allocator
from tenfold.cpu.allocator import COLLECTED, look
from tenfold.dispatch.devices import Backend
from tenfold.types.narrow import castable

allocator.install()


def owner_of(array: Any) -> Any:
    """The array at the end of the chain of views: the one that holds the memory."""
    while type(array.base) is np.ndarray:
        array = array.base
    return array


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def extent(array: Any) -> int:
    """Bytes from the first element to the end of the last."""
    if array.size == 0:
        return 0
    return int(sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides)) + array.itemsize)


def bytes_of(array: Any) -> Any:
    """The owner's memory as a flat uint8 array."""
    owner = owner_of(array)
    if owner.flags.c_contiguous:
        return owner.reshape(-1).view(np.uint8)
    if owner.flags.f_contiguous:
        return owner.T.reshape(-1).view(np.uint8)
    ordered = owner.transpose(sorted(range(owner.ndim), key=lambda d: -owner.strides[d]))
    if ordered.flags.c_contiguous:  # dense, in another order of dimensions
        return ordered.reshape(-1).view(np.uint8)
    first = as_strided(owner, (1,), (owner.itemsize,)).view(np.uint8)  # scattered memory cannot be viewed as bytes at once
    return as_strided(first, (extent(owner),), (1,))


def strided(array: Any, shape: Sequence[int], byte_strides: Sequence[int], byte_offset: int) -> Any:
    """A view on the owner's memory, checked against its bounds."""
    memory = bytes_of(array)
    if not memory.size and 0 not in shape:  # of which NumPy asks nothing
        raise ValueError
    return np.ndarray(tuple(shape), array.dtype, memory, byte_offset, tuple(byte_strides))


class CpuBackend(Backend):
    """Tensors as `numpy.ndarray`s."""

    name = "cpu"
    array_type = np.ndarray
    indexed = False

    def empty(self, shape: Sequence[int], dtype: Any, index: int | None) -> Any:
        return np.empty(shape, dtype)

    def from_numpy(self, array: Any, index: int | None) -> Any:
        if COLLECTED:
            look()
        return array

    def to_numpy(self, array: Any) -> Any:
        return array

    def as_strided(self, array: Any, shape: Sequence[int], strides: Sequence[int], offset: int) -> Any:
        itemsize = array.dtype.itemsize
        try:
            return strided(array, shape, [s * itemsize for s in strides], offset * itemsize)
        except (TypeError, ValueError):
            if 0 in shape and offset >= 0:  # there is nothing to lie anywhere
                return strided(array, shape, [s * itemsize for s in strides], 0)
            raise RuntimeError(
                f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset {offset}, and itemsize {itemsize} "
                f"requiring a storage size of {_needed(shape, strides, offset) * itemsize} are out of bounds for storage "
                f"of size {owner_of(array).nbytes}"
            ) from None

    def write(self, destination: Any, source: Any) -> None:
        np.copyto(destination, castable(source, destination.dtype), casting="unsafe")

    def memory(self, array: Any) -> tuple[Any, int, int]:
        owner = owner_of(array)
        return owner, max(owner.nbytes, extent(owner)), 0 if owner is array else address(array) - address(owner)

    def reinterpret(self, array: Any, dtype: Any) -> Any:
        memory = bytes_of(array)
        return memory[: memory.size // dtype.itemsize * dtype.itemsize].view(dtype)

    def memory_bytes(self, array: Any) -> Any:
        return bytes_of(array)

    def data_ptr(self, array: Any) -> int:
        return address(array) if array.size else 0

    def coerce(self, result: Any) -> Any:
        # NumPy gives scalars where it would give 0-d arrays.
        if isinstance(result, (np.generic, bool, int, float, complex)):
            return np.asarray(result)
        return super().coerce(result)


def _needed(shape: Sequence[int], strides: Sequence[int], offset: int) -> int:
    return offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if all(shape) else 0
