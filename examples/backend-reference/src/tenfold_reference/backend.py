"""What Tenfold asks of a device beside kernels: memory, views, transfer."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from tenfold.dispatch.devices import Backend
from tenfold_reference.block import FORMATS, Block, converted, expanded, new_block


class ReferenceBackend(Backend):
    """The device "ref"; there is one of it, so tensors say "ref" and not "ref:0"."""

    name = "ref"
    array_type = Block
    indexed = False
    dtypes = tuple(FORMATS)

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], index: int | None) -> Block:
        self.require_dtype(dtype)
        return new_block(shape, dtype)

    def from_numpy(self, array: np.ndarray[Any, Any], index: int | None) -> Block:
        self.require_dtype(array.dtype)
        block = new_block(array.shape, np.dtype(array.dtype.type))
        block.memory[:] = array.tobytes()
        return block

    def to_numpy(self, array: Block) -> np.ndarray[Any, Any]:
        return np.array(array.values(), array.dtype).reshape(array.shape)

    def as_strided(self, array: Block, shape: Sequence[int], strides: Sequence[int], offset: int) -> Block:
        last = offset + sum((n - 1) * step for n, step in zip(shape, strides))
        if 0 not in shape and not 0 <= last < len(array.memory) // array.dtype.itemsize:
            raise RuntimeError(
                f"as_strided: sizes {list(shape)}, strides {list(strides)} and offset {offset} reach outside the storage "
                f"of {len(array.memory)} bytes"
            )
        return Block(array.memory, array.dtype, tuple(shape), tuple(strides), offset)

    def write(self, destination: Block, source: Block) -> None:
        values = expanded(source, destination.shape).values()  # read all first: both may be views of one memory
        cells = destination.cells
        for position, value in zip(destination.positions(), converted(values, destination.dtype)):
            cells[position] = value

    def memory(self, array: Block) -> tuple[Any, int, int]:
        return array.memory, len(array.memory), array.start * array.dtype.itemsize

    def reinterpret(self, array: Block, dtype: np.dtype[Any]) -> Block:
        return Block(array.memory, dtype, (len(array.memory) // dtype.itemsize,), (1,))

    def data_ptr(self, array: Block) -> int:
        if not array.memory:
            return 0
        return ctypes.addressof(ctypes.c_char.from_buffer(array.memory)) + array.start * array.dtype.itemsize
