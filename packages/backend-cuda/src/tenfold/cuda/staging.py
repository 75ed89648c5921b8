"""Copies from the host that nothing waits for: through pinned memory, which is kept until the GPU has read it.

From ordinary memory the driver copies in its own time: it may wait for the work that was given to the stream before.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import numpy as np

LARGEST = 1 << 26  # bytes; so much memory is not pinned for later: beyond, the driver copies from where the array lies
_under_way: deque[tuple[Any, Any]] = deque()  # (a mark behind a copy, the host memory that it reads), the oldest first
_lock = threading.Lock()


def send(cupy: Any, result: Any, array: Any) -> None:
    """Copy a row-major NumPy array into an array on the current GPU, in the order of its current stream."""
    if array.nbytes > LARGEST:
        result.set(array)
        cupy.cuda.get_current_stream().synchronize()  # CUDA may read memory that is not pinned later, too
        return
    memory = cupy.cuda.alloc_pinned_memory(array.nbytes)
    np.frombuffer(memory, np.uint8, array.nbytes)[:] = array.reshape(-1).view(np.uint8)
    result.data.copy_from_host_async(memory.ptr, array.nbytes)
    keep(cupy, memory)


def keep(cupy: Any, memory: Any) -> None:
    """Let host memory live until the current stream has done what it has been given."""
    mark = cupy.cuda.Event(disable_timing=True)
    mark.record()
    with _lock:
        _under_way.append((mark, memory))
        while _under_way and _under_way[0][0].done:
            _under_way.popleft()
