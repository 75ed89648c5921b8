"""Memory of big arrays is kept for the next ones, instead of going back to the system when an array dies.

The door is the C library's `malloc`, through which NumPy's and everybody's arrays come: two of its settings make it a
caching allocator (docs/adr/0008-reused-memory.md has the alternatives and their figures). By default it maps a block of
some size anew for each array and gives it back with it, and the system clears every page of it again: an addition of
262,144 numbers takes eight times as long as one into memory that is there.

glibc only, which is Linux's usual one; elsewhere the C library does as it does.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import time
from functools import partial
from operator import setitem
from typing import Any

from tenfold.settings.environment import CPU_CACHE, number_of_bytes

# glibc's names for what `mallopt` sets.
_TRIM_THRESHOLD, _MAP_AT_MOST = -1, -4
_LARGEST = 2**31 - 1  # mallopt takes an int
_DEFAULT_MAPS = 65536
_CHECK_EVERY_S = 1.0
_PRESSURE = 16  # there is pressure where less than this fraction of the memory is available

# Noted without a line of Python: an interrupt that comes while Python runs inside a collection is lost.
COLLECTED: dict[str, Any] = {}
_note_collection = partial(setitem, COLLECTED)
_state: dict[str, Any] = {"limit": None, "on": False, "releases": 0, "checked": 0.0}


class _Counts(ctypes.Structure):
    """What `mallinfo2` tells, in bytes: `arena` held from the system, `fordblks` of it free, `hblkhd` mapped by themselves."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]  # fmt: skip


def _library() -> Any:
    """The C library, if it is a glibc that has what is needed and that nobody has set up otherwise."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    if not all(hasattr(library, name) for name in ("gnu_get_libc_version", "mallopt", "mallinfo2", "malloc_trim")):
        return None
    library.mallinfo2.restype = _Counts
    library.malloc_trim.argtypes = (ctypes.c_size_t,)
    return library


_libc = _library()


def install() -> None:
    """Begin as the environment says: the user's own settings of `malloc` stand."""
    text = CPU_CACHE.read()
    if _state["limit"] is not None:
        return  # the program was first
    if not text and (any(name.startswith("MALLOC_") for name in os.environ) or "malloc" in os.environ.get("GLIBC_TUNABLES", "")):
        return
    set_memory_limit(number_of_bytes(CPU_CACHE.name, text) if text else min(_total() // 8, _LARGEST))


def set_memory_limit(size: int) -> None:
    """Keep at most this many bytes of freed memory for new arrays; 0: as the C library does.

    Raises: ValueError for a negative number.

    >>> import tenfold.cpu
    >>> before = tenfold.cpu.memory_stats()["limit_bytes"]
    >>> tenfold.cpu.set_memory_limit(1 << 28)
    >>> tenfold.cpu.set_memory_limit(before)
    """
    if size < 0:
        raise ValueError(f"set_memory_limit: a number of bytes, 0 or more, got {size}")
    if _libc is None:
        return
    _state.update(limit=size, on=size > 0)
    # Without own maps all blocks come from the heap, whose free end is given back beyond the threshold.
    _libc.mallopt(_MAP_AT_MOST, 0 if size else _DEFAULT_MAPS)
    _libc.mallopt(_TRIM_THRESHOLD, min(size, _LARGEST) if size else 1 << 17)
    if size and _note_collection not in gc.callbacks:
        gc.callbacks.append(_note_collection)
    if not size:
        empty_cache()


def empty_cache() -> None:
    """Give freed memory back to the system now.

    >>> import tenfold.cpu
    >>> tenfold.cpu.empty_cache()
    """
    if _libc is not None:
        _libc.malloc_trim(0)
        _state["releases"] += 1


def memory_stats() -> dict[str, Any]:
    """What the process's allocator holds, in bytes; of the whole process, since all arrays and objects come from it.

    `allocated_bytes.all.current` is in use, `reserved_bytes.all.current` is held from the system, `cached_bytes.all.current`
    is held and free; `limit_bytes` bounds the last (0: nothing is kept), `num_releases` counts the times it was given back.

    >>> import tenfold.cpu
    >>> stats = tenfold.cpu.memory_stats()
    >>> stats["reserved_bytes.all.current"] >= stats["allocated_bytes.all.current"]
    True
    """
    counts = _Counts() if _libc is None else _libc.mallinfo2()
    return {
        "supported": _libc is not None,
        "enabled": _state["on"],
        "limit_bytes": _state["limit"] or 0,
        "num_releases": _state["releases"],
        "allocated_bytes.all.current": counts.uordblks + counts.hblkhd,
        "cached_bytes.all.current": counts.fordblks,
        "reserved_bytes.all.current": counts.arena + counts.hblkhd,
    }


def look() -> None:
    """Now and then: give back what lies free between blocks in use where it is too much, or where memory is scarce.

    Asked for after collections of garbage, where `COLLECTED` says that there were some.
    """
    COLLECTED.clear()
    if not _state["on"]:
        return
    now = time.monotonic()
    if now - _state["checked"] < _CHECK_EVERY_S:
        return
    _state["checked"] = now
    cached = _libc.mallinfo2().fordblks
    if cached > _state["limit"] or (cached > 1 << 26 and _available() * _PRESSURE < _total()):
        empty_cache()


def _total() -> int:
    """The machine's memory, or what this process's container may have of it, in bytes."""
    return min(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), _read("/sys/fs/cgroup/memory.max", sys.maxsize))


def _available() -> int:
    """Memory that can be had without paging, in bytes."""
    free = sys.maxsize
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            free = next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        pass
    allowed = _read("/sys/fs/cgroup/memory.max", sys.maxsize)
    return min(free, allowed - _read("/sys/fs/cgroup/memory.current", 0)) if allowed < sys.maxsize else free


def _read(path: str, default: int) -> int:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):  # no such limit, or "max"
        return default
