"""Compiled kernels for the device "cpu": what they do by themselves needs nothing from here."""

from __future__ import annotations

from pathlib import Path

from tenfold.llvm import objects, session, winograd_calls
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
    "set_winograd_tile",
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


def set_winograd_tile(size: int) -> None:
    """The side of the tiles in which convolutions of 3x3 in float32, with stride and dilation 1, are computed: 0, 2 or 4.

    Minimal filtering makes of a tile's size² results with (size + 2)² multiplications for each pair of channels, in place of
    9 size²: 2.25 times fewer for 2, 4 times fewer for 4. Rounding differs: for normal random numbers, relative to the sum of the
    products' magnitudes, errors are about 2e-7 for 2, as without it, and 1e-6 for 4. They follow the largest of a window's inputs
    times the largest weight, for 4 of a tile's inputs, also where these do not meet. 2 is the default, 0 leaves minimal filtering
    out; windows of other sizes, few channels and few pixels are computed without it anyway. Images with results that are infinite
    or no numbers are computed again without it. Holds for the whole process.

    Raises:
        ValueError: any other size.
    Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.

    >>> import tenfold
    >>> tenfold.llvm.set_winograd_tile(4)
    >>> tenfold.llvm.set_winograd_tile(2)
    """
    winograd_calls.set_tile(size)


def cache_folder() -> Path:
    """Where machine code is kept between processes; it can be deleted at any time.

    >>> import tenfold
    >>> tenfold.llvm.cache_folder().name
    'llvm'
    """
    return objects.folder()
