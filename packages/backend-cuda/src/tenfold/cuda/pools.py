"""Pools of memory beside the one that all tensors share: a graph's own, and those of `MemPool`."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

from tenfold.cuda import runtime, watching
from tenfold.cuda.allocators import CUDAPluggableAllocator
from tenfold.cuda.devices import index_of

_numbers = itertools.count(1)
_live: WeakValueDictionary[tuple[int, int], MemPool] = WeakValueDictionary()


class MemPool:
    """A pool whose memory tensors get inside `use_mem_pool`, or a graph while it is recorded; PyTorch's `torch.cuda.MemPool`.

    `allocator` is a `CUDAPluggableAllocator`, or None for CUDA's. Memory is neither split otherwise with `no_split`, nor lent to
    tensors outside with `use_on_oom`: both are taken and change nothing.

    Raises: TypeError for another allocator; RuntimeError where there is no GPU.
    """

    def __init__(self, allocator: Any = None, use_on_oom: bool = False, no_split: bool = False) -> None:
        if allocator is not None and not isinstance(allocator, CUDAPluggableAllocator):
            raise TypeError(f"MemPool: expected a CUDAPluggableAllocator or None, got {type(allocator).__name__}")
        cupy = runtime.current().module
        if runtime.is_replaced():
            raise RuntimeError("MemPool: this process interprets kernels in the host's memory; pools are a GPU's")
        self.allocator = allocator
        self._users = 0
        self.cupy_pool = cupy.cuda.MemoryPool() if allocator is None else cupy.cuda.MemoryPool(allocator.malloc)
        self._name(graph_pool_handle())

    def _name(self, handle: tuple[int, int]) -> MemPool:
        self.id = handle
        _live[handle] = self
        return self

    def use_count(self) -> int:
        """How many have it: this object, and whatever gets memory from it now."""
        return 1 + self._users

    def snapshot(self, include_traces: bool = True) -> list[dict[str, Any]]:
        """The pieces of memory in use that `cuda.memory._record_memory_history()` has seen taken: of all pools."""
        return watching.segments()

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
    return _live.get(handle) or MemPool()._name(handle)


@contextlib.contextmanager
def use_mem_pool(pool: MemPool, device: Any = None) -> Iterator[None]:
    """Give tensors that this thread makes in a block the memory of a pool, which the caller keeps alive."""
    index_of(device)
    pool._users += 1
    try:
        with runtime.current().module.cuda.using_allocator(pool.cupy_pool.malloc):
            yield
    finally:
        pool._users -= 1


def total(question: str) -> int:
    """What the live pools answer together for the current GPU, such as "used_bytes"."""
    return sum(int(getattr(pool.cupy_pool, question)()) for pool in list(_live.values()))
