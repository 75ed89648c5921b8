"""Host memory that the GPU reads and writes by itself, as tensors of the CPU have it: `pin_memory()`, `non_blocking=True`.

Such a copy is done when the GPU has come to it: what it reads must stay as it is until then, and what it writes is there after a
wait for the device, as in PyTorch. The memory itself lives that long. A graph into which such copies are recorded makes them with
each replay, of what lies in the memory by then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.cpu.backend import address, owner_of
from tenfold.cuda import capturing, staging
from tenfold.cuda.runtime import order_in_memory, order_of_copy

WATCH: list[Callable[[Any, int], None]] = []  # what is told of memory taken, once someone has asked (host_memory.py)
REGISTERED: dict[int, int] = {}  # memory that a program has pinned where it lies: addresses and bytes (cudart.py)


def empty_cache(cupy: Any) -> None:
    """Give back pinned memory that no tensor uses."""
    cupy.get_default_pinned_memory_pool().free_all_blocks()


def empty(cupy: Any, like: Any) -> Any:
    """A NumPy array in pinned memory of the sizes and dtype of another array, and in its order if that has no gaps."""
    order = order_in_memory(like) or tuple(range(like.ndim))
    size = like.size * like.dtype.itemsize
    memory = cupy.cuda.alloc_pinned_memory(max(size, 1))
    flat = np.frombuffer(memory, np.uint8, size)
    for told in WATCH:
        told(flat, size)
    flat = flat.view(like.dtype)
    return flat.reshape([like.shape[d] for d in order]).transpose(np.argsort(order).tolist())


def is_pinned(array: Any) -> bool:
    """Whether a NumPy array lies in memory that `empty` gave, or that a program has pinned."""
    if REGISTERED:
        start = address(array)
        if any(first <= start and start + array.nbytes <= first + size for first, size in REGISTERED.items()):
            return True
    cupy = sys.modules.get("cupy")  # who has not loaded it has pinned nothing
    base = owner_of(array).base
    return cupy is not None and isinstance(getattr(base, "obj", base), cupy.cuda.PinnedMemoryPointer)


def from_host(now: Any, array: Any, index: int) -> Any:
    """A copy on a GPU of an array in pinned memory, read there; of one with gaps by way of `from_host` of the runtime."""
    order = order_in_memory(array) or tuple(range(array.ndim))
    if not array.transpose(order).flags.c_contiguous:
        return now.from_host(array, index)
    result = now.empty([array.shape[d] for d in order], array.dtype, index)
    with now.module.cuda.Device(index):
        _copy(now.module, result.data.ptr, address(array), array.nbytes, "HostToDevice")
        _keep(now.module, array)
    return result.transpose(np.argsort(order).tolist())


def to_host(now: Any, array: Any) -> Any:
    """A copy in pinned memory that the GPU writes when it comes to it."""
    order = order_of_copy(array) or tuple(range(array.ndim))
    with now.module.cuda.Device(now.index_of(array)):
        source = now.module.ascontiguousarray(array.transpose(order))
        found = empty(now.module, source)
        written(now, found, source)
    return found.transpose(np.argsort(order).tolist())


def written(now: Any, target: Any, source: Any) -> bool:
    """Have the GPU write an array of its own into one in pinned memory when it comes to it; False: of such memory with gaps.

    `source` has the sizes and the dtype of `target`.
    """
    order = order_in_memory(target) or tuple(range(target.ndim))
    if not target.transpose(order).flags.c_contiguous:
        return False
    with now.module.cuda.Device(now.index_of(source)):
        source = now.module.ascontiguousarray(source.transpose(order))
        if source.size:
            _copy(now.module, address(target), source.data.ptr, source.nbytes, "DeviceToHost")
            _keep(now.module, target)
    return True


def _copy(cupy: Any, to: int, start: int, size_bytes: int, kind: str) -> None:
    """Copy in the order of the current stream: as the driver does it, where CuPy's arrays refuse to while work is recorded."""
    cuda = cupy.cuda
    cuda.runtime.memcpyAsync(to, start, size_bytes, getattr(cuda.runtime, f"memcpy{kind}"), cuda.get_current_stream().ptr)


def _keep(cupy: Any, memory: Any) -> None:
    """Let host memory live until the GPU has come to the copy: where it is recorded, as long as the graph, which copies anew."""
    if capturing.CAPTURES and (capture := capturing.current()) is not None:
        capture.held.append(memory)
    else:
        staging.keep(cupy, memory)
