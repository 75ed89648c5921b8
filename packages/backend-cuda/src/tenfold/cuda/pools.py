"""Pools of memory beside the one that all tensors share: a graph's own, and those of `MemPool`."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

from tenfold.cuda import runtime
from tenfold.cuda.devices import index_of

_numbers = itertools.count(1)
_live: WeakValueDictionary[tuple[int, int], MemPool] = WeakValueDictionary()


class MemPool:
    """A pool whose memory tensors get inside `use_mem_pool`, or a graph while it is recorded; PyTorch's `torch.cuda.MemPool`.

    Raises: ValueError for an allocator of one's own; RuntimeError where there is no GPU.
    """

    def __init__(self, allocator: Any = None, *, id: tuple[int, int] | None = None) -> None:
        if allocator is not None:
            raise ValueError("MemPool: an allocator of one's own is not supported; leave it out for CUDA's")
        cupy = runtime.current().module
        if runtime.is_replaced():
            raise RuntimeError("MemPool: this process interprets kernels in the host's memory; pools are a GPU's")
        self.id = id or graph_pool_handle()
        self.cupy_pool = cupy.cuda.MemoryPool()
        _live[self.id] = self

    @property
    def allocator(self) -> None:
        """None: CUDA's."""

    def __repr__(self) -> str:
        return f"<tenfold.cuda.MemPool id={self.id}>"


def graph_pool_handle() -> tuple[int, int]:
    """A name for a pool that several graphs are to share: `graph(g, pool=handle)`.

    >>> len(graph_pool_handle())
    2
    """
    return 0, next(_numbers)


def pool_of(handle: Any) -> MemPool:
    """The pool of a handle, a `MemPool` or nothing; a new one where there is none (any more)."""
    if isinstance(handle, MemPool):
        return handle
    if handle is None:
        return MemPool()
    if not (isinstance(handle, tuple) and len(handle) == 2):
        raise TypeError(f"pool: expected what graph_pool_handle() or CUDAGraph.pool() gave, or a MemPool, got {handle!r}")
    return _live.get(handle) or MemPool(id=handle)


@contextlib.contextmanager
def use_mem_pool(pool: MemPool, device: Any = None) -> Iterator[None]:
    """Give tensors that this thread makes in a block the memory of a pool, which the caller keeps alive."""
    index_of(device)
    with runtime.current().module.cuda.using_allocator(pool.cupy_pool.malloc):
        yield


def total(question: str) -> int:
    """What the live pools answer together for the current GPU, such as "used_bytes"."""
    return sum(int(getattr(pool.cupy_pool, question)()) for pool in list(_live.values()))
