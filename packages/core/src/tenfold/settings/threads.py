"""How many threads the CPU kernels may use: NumPy's BLAS is the one that uses any."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

# OpenBLAS in NumPy's wheels, the same with a suffix for 64-bit integers, and as Linux distributions name it.
_NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
_requested: list[int] = []


def _loaded_blas() -> Iterator[str]:
    """Paths of the BLAS libraries that this process has loaded."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as file:
            yield from {line.split()[-1] for line in file if "openblas" in line.lower()}
    except OSError:
        return


@cache
def _functions() -> tuple[Any, Any] | None:
    """OpenBLAS's own (set, get) functions, or None when NumPy runs on another BLAS."""
    for path in _loaded_blas():
        library = ctypes.CDLL(path)
        for name in _NAMES:
            if hasattr(library, name.format("set")):
                return getattr(library, name.format("set")), getattr(library, name.format("get"))
    return None


def set_num_threads(int: int) -> None:
    """Let CPU kernels use this many threads, in this process.

    >>> import tenfold
    >>> tenfold.set_num_threads(1)
    >>> tenfold.get_num_threads()
    1
    """
    if not hasattr(int, "__index__") or int < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, got {int!r}")
    _requested[:] = [int]
    functions = _functions()
    if functions is not None:
        functions[0](int)


def get_num_threads() -> int:
    """The number of threads that CPU kernels use."""
    functions = _functions()
    if functions is not None:
        return functions[1]()  # type: ignore[no-any-return]
    return _requested[0] if _requested else os.cpu_count() or 1
