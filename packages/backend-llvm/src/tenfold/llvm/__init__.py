"""Compiled kernels for the device "cpu": what they do by themselves needs nothing from here."""

from __future__ import annotations

from pathlib import Path

from tenfold.llvm import objects, session
from tenfold.llvm.explaining import Explanation, explain
from tenfold.llvm.session import failures

__all__ = [
    "Explanation",
    "cache_folder",
    "empty_cache",
    "explain",
    "failures",
    "is_available",
    "memory_stats",
    "set_memory_limit",
]


def is_available() -> bool:
    """Whether compiled kernels can be had on this machine; `failures()` says why not.

    >>> import tenfold
    >>> tenfold.llvm.is_available() or tenfold.llvm.failures() != []
    True
    """
    return session.session() is not None


def memory_stats() -> dict[str, int]:
    """The memory of large results: bytes in use, at most so far, and kept; how often a kept block served, and how often none.

    >>> import tenfold
    >>> "cached_bytes" in tenfold.llvm.memory_stats() or not tenfold.llvm.is_available()
    True
    """
    here = session.session()
    return here.memory.statistics() if here else {}


def set_memory_limit(size_bytes: int) -> None:
    """Keep at most this many bytes of freed results for reuse; by default an eighth of the machine's memory, at most 1 GiB.

    Raises:
        ValueError: a negative number.

    >>> import tenfold
    >>> tenfold.llvm.set_memory_limit(1 << 28)
    """
    here = session.session()
    if here:
        here.memory.limit(size_bytes)


def empty_cache() -> None:
    """Give the memory that is kept for reuse back to the system.

    >>> import tenfold
    >>> tenfold.llvm.empty_cache()
    """
    here = session.session()
    if here:
        here.memory.release()


def cache_folder() -> Path:
    """Where machine code is kept between processes; it can be deleted at any time.

    >>> import tenfold
    >>> tenfold.llvm.cache_folder().name
    'llvm'
    """
    return objects.folder()
