"""Batches between processes: arrays travel in one block per batch, of shared memory unless it is small, the rest in a pickle.

What collation has put into shared memory already (`stacking`) travels in that.

A shared block travels as tensors do in `tenfold.multiprocessing`: by a handle, with which the receiver maps the sender's
memory and builds tensors on it without a copy. It has no name that could be left behind, and goes with the last of these tensors.
"""

from __future__ import annotations

import io
import pickle
import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.data.stacking import elements, place_of
from tenfold.multiprocessing import transit
from tenfold.multiprocessing.shared import AVAILABLE, Segment, on_span, starts_of
from tenfold.types.dtypes import FROM_NUMPY

# Below this size all of a batch's arrays fit into a pipe (64 KiB) beside its pickle: cheaper than a block and its system calls.
_MIN_SHARED_BYTES = 48 * 1024
# Below this size an array stays in the pickle.
_MIN_APART_BYTES = 4096


@dataclass(frozen=True)
class Packet:
    """A batch on its way: the pickle, and on which of its blocks its large arrays lie; a small block travels itself."""

    body: bytes
    blocks: tuple[transit.Handle | Segment | bytearray, ...]
    spans: tuple[tuple[int, int, int], ...]  # (block, start, size in bytes) per array


def pack(batch: Any) -> Packet:
    """Put a batch's arrays into a new shared block (unless it is small or they lie on one) and pickle the rest.

    Without room for shared memory the arrays go into the pickle: slower, but no process dies of it.
    """
    arrays: list[np.ndarray[Any, Any]] = []
    body = _pickled(batch, arrays)
    places = [place_of(array) for array in arrays]
    lying = dict.fromkeys(place[0] for place in places if place is not None)
    others = [array for array, place in zip(arrays, places, strict=True) if place is None]
    starts, total = starts_of(array.nbytes for array in others)
    try:
        new = () if not others else (_block(others, starts, total),)
    except (OSError, RuntimeError):  # no room, or no descriptors
        return pack_small(batch)
    blocks = (*lying, *new)
    numbers, rest = {segment: number for number, segment in enumerate(lying)}, iter(starts)
    spans = tuple(
        (len(lying), next(rest), array.nbytes) if place is None else (numbers[place[0]], place[1], array.nbytes)
        for array, place in zip(arrays, places, strict=True)
    )
    return Packet(body, tuple(transit.send(block) if isinstance(block, Segment) else block for block in blocks), spans)


def pack_small(value: Any) -> Packet:
    """Pickle all of a value, without a shared block."""
    return Packet(_pickled(value, None), (), ())


def arrived(packet: Packet) -> Packet:
    """The packet with its blocks mapped here, so that it needs its sender no more. Raises: SenderGone."""
    blocks = (transit.receive(block) if isinstance(block, transit.Handle) else block for block in packet.blocks)
    return replace(packet, blocks=tuple(blocks))


def unpack(packet: Packet) -> Any:
    """The batch of a packet, its arrays on the packet's blocks."""
    blocks = arrived(packet).blocks
    copied = Segment.live > _max_mappings()
    buffers = [_part(blocks[block], start, size, copied) for block, start, size in packet.spans]
    return pickle.loads(packet.body, buffers=buffers)  # noqa: S301 - from our own worker


def _part(block: transit.Handle | Segment | bytearray, start: int, size: int, copied: bool) -> Any:
    if isinstance(block, bytearray):
        return memoryview(block)[start : start + size]
    assert isinstance(block, Segment), "it has arrived"
    buffer = on_span(block, start, size)
    return buffer.copy() if copied else buffer


def _block(arrays: list[np.ndarray[Any, Any]], starts: list[int], total: int) -> Segment | bytearray:
    if total < _MIN_SHARED_BYTES:
        joined = bytearray(total)
        for array, start in zip(arrays, starts, strict=True):
            joined[start : start + array.nbytes] = array.data
        return joined
    if not AVAILABLE:
        raise OSError("tensors share memory between processes on Linux only")
    return Segment.holding(arrays, total)


class _BatchPickler(pickle.Pickler):
    """Pickles tensors as arrays, and puts large buffers on a list instead of writing them."""

    def __init__(self, file: io.BytesIO, arrays: list[np.ndarray[Any, Any]] | None) -> None:
        # No method of its own: the two would keep each other, and the whole batch, until a collection of garbage.
        super().__init__(file, protocol=5, buffer_callback=None if arrays is None else partial(_stays_inside, arrays))

    def reducer_override(self, value: Any) -> Any:
        if type(value) is Tensor:
            return _tensor_from, (elements(value), value.requires_grad)
        if type(value) is np.ndarray and not value.dtype.hasobject:
            # As bytes: dtypes from outside NumPy (bfloat16) do not export buffers.
            flat = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
            return _array_from, (pickle.PickleBuffer(flat.data), value.dtype, value.shape)
        return NotImplemented


def _stays_inside(arrays: list[np.ndarray[Any, Any]], buffer: pickle.PickleBuffer) -> bool:
    raw = buffer.raw()
    if raw.nbytes < _MIN_APART_BYTES:
        return True
    arrays.append(np.frombuffer(raw, np.uint8))
    return False


def _pickled(batch: Any, arrays: list[np.ndarray[Any, Any]] | None) -> bytes:
    file = io.BytesIO()
    _BatchPickler(file, arrays).dump(batch)
    return file.getvalue()


def _array_from(content: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    kind = FROM_NUMPY.get(dtype)  # an unpickled dtype is equal to the one that kernels know, and another
    return np.ndarray(shape, dtype if kind is None else kind.numpy, content)


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
