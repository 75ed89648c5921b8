"""What is raised when a GPU's memory is used up: `tenfold.OutOfMemoryError`, wherever CuPy's pool has run out.

CuPy raises a class of its own, a MemoryError, from every place that allocates. The class that is put in its place is that one and
ours: programs that catch either go on, and the text is PyTorch's.
"""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.devices import OutOfMemoryError

COUNTS: dict[int, int] = {}  # of each GPU: how often its memory was used up


def size_text(size: int) -> str:
    """Bytes as people read them.

    >>> size_text(3 << 29), size_text(512)
    ('1.50 GiB', '512 bytes')
    """
    if size >= 1 << 60:
        return "more than 1EB memory"
    for unit, step in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= step:
            return f"{size / step:.2f} {unit}"
    return f"{size} bytes"


def _text(cupy: Any, size: int, limit: int) -> str:
    index = int(cupy.cuda.runtime.getDevice())
    COUNTS[index] = COUNTS.get(index, 0) + 1
    free, total = map(int, cupy.cuda.runtime.memGetInfo())
    pool = cupy.get_default_memory_pool()
    held, kept = int(pool.used_bytes()), int(pool.free_bytes())
    allowed = f" This process may have {size_text(limit)}." if limit else ""
    return (
        f"CUDA out of memory. Tried to allocate {size_text(size)}. GPU {index} has a total capacity of {size_text(total)} of "
        f"which {size_text(free)} is free.{allowed} Of the allocated memory {size_text(held)} is held by tensors, and "
        f"{size_text(kept)} is reserved by the pool but unallocated, which tenfold.cuda.empty_cache() gives back. Take smaller "
        "batches, or autocast"
    )


def install(cupy: Any) -> None:
    """Let CuPy raise the class that is both."""
    theirs = getattr(cupy.cuda.memory, "OutOfMemoryError", None)
    if theirs is None or issubclass(theirs, OutOfMemoryError):
        return

    fill: Any = theirs.__init__

    class Exhausted(OutOfMemoryError, theirs):  # type: ignore[misc, valid-type]
        """A GPU has no memory left for what was asked."""

        def __init__(self, size: int, total: int, limit: int = 0) -> None:
            fill(self, size, total, limit)
            self.text = _text(cupy, size, limit)
            self.args = (self.text,)

        def __str__(self) -> str:
            return self.text

    Exhausted.__name__ = Exhausted.__qualname__ = "OutOfMemoryError"
    Exhausted.__module__ = "tenfold"
    cupy.cuda.memory.OutOfMemoryError = Exhausted
