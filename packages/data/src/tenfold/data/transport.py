"""Batches between processes: arrays travel in one block per batch, of shared memory unless it is small, the rest in a pickle.

A shared block travels as tensors do in `tenfold.multiprocessing`: by a handle, with which the receiver maps the sender's
memory and builds tensors on it without a copy. It has no name that could be left behind, and goes with the last of these tensors.
"""

from __future__ import annotations

import io
import pickle
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.multiprocessing import transit
from tenfold.multiprocessing.shared import AVAILABLE, Segment, on_span, starts_of

# Below this size all of a batch's arrays fit into a pipe (64 KiB) beside its pickle: cheaper than a block and its system calls.
_MIN_SHARED_BYTES = 48 * 1024
# Below this size an array stays in the pickle.
_MIN_APART_BYTES = 4096


@dataclass(frozen=True)
class Packet:
    """A batch on its way: the pickle, and where in which block its large arrays lie; a small block travels itself."""

    body: bytes
    block: transit.Handle | Segment | bytearray | None
    spans: tuple[tuple[int, int], ...]  # (start, size in bytes) per array


def pack(batch: Any) -> Packet:
    """Put a batch's arrays into a new shared block (unless it is small) and pickle the rest.

    Without room for shared memory the arrays go into the pickle: slower, but no process dies of it.
    """
    arrays: list[np.ndarray[Any, Any]] = []
    body = _pickled(batch, arrays)
    if not arrays:
        return Packet(body, None, ())
    starts, total = starts_of(array.nbytes for array in arrays)
    spans = tuple((start, array.nbytes) for start, array in zip(starts, arrays, strict=True))
    if total < _MIN_SHARED_BYTES:
        return Packet(body, _joined(arrays, spans, total), spans)
    try:
        block = _block(arrays, total)
    except (OSError, RuntimeError):  # no room, or no descriptors
        return pack_small(batch)
    return Packet(body, transit.send(block), spans)


def pack_small(value: Any) -> Packet:
    """Pickle all of a value, without a shared block."""
    return Packet(_pickled(value, None), None, ())


def arrived(packet: Packet) -> Packet:
    """The packet with its block mapped here, so that it needs its sender no more. Raises: SenderGone."""
    return replace(packet, block=transit.receive(packet.block)) if isinstance(packet.block, transit.Handle) else packet


def unpack(packet: Packet) -> Any:
    """The batch of a packet, its arrays on the packet's block."""
    block = arrived(packet).block
    if block is None:
        return pickle.loads(packet.body)  # noqa: S301 - from our own worker
    if isinstance(block, bytearray):
        return pickle.loads(packet.body, buffers=[memoryview(block)[i : i + n] for i, n in packet.spans])  # noqa: S301
    assert isinstance(block, Segment), "it has arrived"
    buffers = [on_span(block, start, size) for start, size in packet.spans]
    if Segment.live > _max_mappings():
        buffers = [buffer.copy() for buffer in buffers]
    return pickle.loads(packet.body, buffers=buffers)  # noqa: S301 - from our own worker


def _block(arrays: list[np.ndarray[Any, Any]], total: int) -> Segment:
    if not AVAILABLE:
        raise OSError("tensors share memory between processes on Linux only")
    return Segment.holding(arrays, total)


def _joined(arrays: list[np.ndarray[Any, Any]], spans: tuple[tuple[int, int], ...], total: int) -> bytearray:
    joined = bytearray(total)
    for array, (start, size) in zip(arrays, spans, strict=True):
        joined[start : start + size] = array.data
    return joined


class _BatchPickler(pickle.Pickler):
    """Pickles tensors as arrays, and puts large buffers on a list instead of writing them."""

    def __init__(self, file: io.BytesIO, arrays: list[np.ndarray[Any, Any]] | None) -> None:
        super().__init__(file, protocol=5, buffer_callback=None if arrays is None else self._stays_inside)
        self._arrays = arrays

    def _stays_inside(self, buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if self._arrays is None or raw.nbytes < _MIN_APART_BYTES:
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


def _max_mappings() -> int:
    """How many blocks may live at once, each holding a file descriptor; beyond it batches are copied."""
    try:
        import resource  # not on Windows
    except ImportError:
        return sys.maxsize
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft // 4
