"""Batches between processes: arrays travel in one shared memory block per batch, the rest in a pickle.

The sender copies arrays into a new block and sends its name; the receiver maps the block, removes the name at once
and builds tensors on the mapping without a copy. The mapping goes when the last of these tensors does. The resource
tracker, which sender and receiver must share, removes blocks only when all of these processes were killed.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor

# Below this size a pickle through the pipe is cheaper than a block and its system calls.
_MIN_SHARED_BYTES = 4096
_ALIGNMENT = 64
_SHARED_FOLDER = "/dev/shm"


@dataclass(frozen=True)
class Packet:
    """A batch on its way: the pickle, and where in which block its large arrays lie."""

    body: bytes
    block: str | None
    spans: tuple[tuple[int, int], ...]  # (start, size in bytes) per array


def pack(batch: Any, block_name: str) -> Packet:
    """Put a batch's arrays into a new shared block of that name (unless it is small) and pickle the rest.

    Without room in the shared memory folder the arrays go into the pickle: slower, but no process dies of it.
    """
    arrays: list[np.ndarray[Any, Any]] = []
    body = _pickled(batch, arrays)
    starts, total = _layout(arrays)
    if not total:
        return Packet(body, None, ())
    if not _can_share(total):
        return pack_small(batch)
    _fill_block(block_name, total, arrays, starts)
    return Packet(body, block_name, tuple((start, array.nbytes) for start, array in zip(starts, arrays, strict=True)))


def pack_small(value: Any) -> Packet:
    """Pickle all of a value, without a shared block."""
    return Packet(_pickled(value, None), None, ())


def unpack(packet: Packet) -> Any:
    """The batch of a packet; its arrays lie on the packet's block, whose name is gone afterwards."""
    if packet.block is None:
        return pickle.loads(packet.body)  # noqa: S301 - from our own worker
    memory = _map_block(packet.block)
    buffers = [memory[start : start + size] for start, size in packet.spans]
    return pickle.loads(packet.body, buffers=buffers)  # noqa: S301 - from our own worker


def discard(block_name: str | None) -> None:
    """Remove a block that nobody will map; fine if it does not exist."""
    if block_name is None:
        return
    try:
        block = SharedMemory(block_name)
    except FileNotFoundError:
        return
    block.close()
    block.unlink()


def _layout(arrays: list[np.ndarray[Any, Any]]) -> tuple[list[int], int]:
    starts, total = [], 0
    for array in arrays:
        starts.append(total)
        total += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    return starts, total


def _fill_block(name: str, size: int, arrays: list[np.ndarray[Any, Any]], starts: list[int]) -> None:
    block = SharedMemory(name, create=True, size=size)
    try:
        for start, array in zip(starts, arrays, strict=True):
            np.ndarray(array.shape, array.dtype, block.buf, start)[...] = array
    except BaseException:
        block.unlink()
        raise
    finally:
        block.close()


def _can_share(size: int) -> bool:
    """Whether a block of that size can be handed over.

    Linux: writing beyond the folder's room would kill the process with SIGBUS. Windows: a block ends with its sender's handle.
    """
    if not sys.platform.startswith("linux"):
        return sys.platform != "win32"
    try:
        room = os.statvfs(_SHARED_FOLDER)
    except OSError:
        return False
    return room.f_bavail * room.f_frsize > size


class _BatchPickler(pickle.Pickler):
    """Pickles tensors as arrays, and puts large buffers on a list instead of writing them."""

    def __init__(self, file: io.BytesIO, arrays: list[np.ndarray[Any, Any]] | None) -> None:
        super().__init__(file, protocol=5, buffer_callback=None if arrays is None else self._stays_inside)
        self._arrays = arrays

    def _stays_inside(self, buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if self._arrays is None or raw.nbytes < _MIN_SHARED_BYTES:
            return True
        self._arrays.append(np.frombuffer(raw, np.uint8))
        return False

    def reducer_override(self, value: Any) -> Any:
        if type(value) is Tensor:
            return _tensor_from, (value.detach().numpy(), value.requires_grad)
        if type(value) is np.ndarray and not value.dtype.hasobject:
            # As bytes: dtypes from outside NumPy (bfloat16) do not export buffers.
            flat = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
            return _array_from, (pickle.PickleBuffer(flat.data), value.dtype, value.shape)
        return NotImplemented


def _pickled(batch: Any, arrays: list[np.ndarray[Any, Any]] | None) -> bytes:
    file = io.BytesIO()
    _BatchPickler(file, arrays).dump(batch)
    return file.getvalue()


def _array_from(content: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.ndarray(shape, dtype, content)


def _tensor_from(array: np.ndarray[Any, Any], requires_grad: bool) -> Tensor:
    tensor = tenfold.from_numpy(array)
    return tensor.requires_grad_() if requires_grad else tensor


class _Mapping:
    """A mapped block as an array owner: arrays made from it keep it alive, and its end closes the block.

    Arrays made from `SharedMemory.buf` would instead forbid closing, as their buffers are exports of the mapping.
    """

    live = 0

    def __init__(self, block: SharedMemory) -> None:
        address = _bytes_of(block).ctypes.data
        self.__array_interface__ = {"shape": (block.size,), "typestr": "|u1", "data": (address, False), "version": 3}
        self._close: Callable[[], None] = block.close
        _Mapping.live += 1

    def __del__(self) -> None:
        _Mapping.live -= 1
        self._close()


def _map_block(name: str) -> np.ndarray[Any, Any]:
    block = SharedMemory(name)
    block.unlink()
    if _Mapping.live < _max_mappings():
        return np.asarray(_Mapping(block))
    memory = _bytes_of(block).copy()
    block.close()
    return memory


def _bytes_of(block: SharedMemory) -> np.ndarray[Any, Any]:
    assert block.buf is not None, "the block is open"
    return np.frombuffer(block.buf, np.uint8)


def _max_mappings() -> int:
    """How many mappings may live at once, each holding two file descriptors; beyond it batches are copied."""
    try:
        import resource  # not on Windows
    except ImportError:
        return sys.maxsize
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft // 8
