"""The memory of large results: freed blocks are kept and used again, since fresh memory costs more than most loops."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from tenfold.llvm.native.functions import Native
from tenfold.settings.environment import CPU_CACHE, number_of_bytes

# Results of this many bytes and more come from the cache; the system's own allocator keeps smaller blocks itself.
CACHED_FROM = 1 << 18
_COUNTERS = {
    "in_use_bytes": "memory_used",
    "peak_bytes": "memory_peak",
    "cached_bytes": "memory_cached",
    "limit_bytes": "memory_limit",
    "reused": "memory_reused",
    "made": "memory_made",
}


class _Handler(ctypes.Structure):
    """NumPy's PyDataMem_Handler (NEP 49)."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    ]


class Memory:
    """The caching allocator. An array from it is an ordinary array, and frees itself as any other."""

    def __init__(self, native: Native) -> None:
        self.native = native
        functions = [native.code.address(f"memory_{name}") for name in ("malloc", "calloc", "realloc", "free")]
        handler = _Handler(b"tenfold.llvm", 1, None, *functions)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        name = ctypes.create_string_buffer(b"mem_handler")
        native.keep += [handler, name]
        native.point("g_handler", new(ctypes.addressof(handler), ctypes.cast(name, ctypes.c_char_p), None))
        self._trim = ctypes.PYFUNCTYPE(None, ctypes.c_int64)(native.code.address("memory_trim"))
        self._empty = native.builtin("caching", np.empty)
        self.nditer: Any = native.builtin("caching", np.nditer)
        self.limit(_default_limit())

    def empty(self, shape: Any, dtype: Any) -> Any:
        """A new array, whose memory is from the cache if it is large."""
        if isinstance(shape, int):
            size = shape
        else:
            size = 1
            for n in shape:
                size *= n
        return self.allocator(size * dtype.itemsize)(shape, dtype)

    def allocator(self, size_bytes: int) -> Any:
        """What makes new arrays of this size, as `np.empty` does."""
        return self._empty if size_bytes >= CACHED_FROM else np.empty

    def statistics(self) -> dict[str, int]:
        """Bytes in use, at most so far, and kept for reuse; how often a kept block served, and how often none did."""
        return {name: self.native.cell(variable).value for name, variable in _COUNTERS.items()}

    def limit(self, size_bytes: int) -> None:
        """Keep at most this many bytes for reuse."""
        if size_bytes < 0:
            raise ValueError(f"set_memory_limit: expected a number of bytes, got {size_bytes}")
        self.native.cell("memory_limit").value = size_bytes
        self.release(size_bytes)

    def release(self, size_bytes: int = 0) -> None:
        """Give kept blocks back to the system until at most this many bytes are left."""
        self._trim(size_bytes)


def _default_limit() -> int:
    """What TENFOLD_CPU_CACHE says; else an eighth of the machine's memory, at most a gigabyte."""
    text = CPU_CACHE.read()
    if text:
        return number_of_bytes(CPU_CACHE.name, text)
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 1 << 28
    return int(min(total // 8, 1 << 30))
