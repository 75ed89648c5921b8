"""How many threads the CPU kernels may use: NumPy's BLAS is the one that uses any."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from tenfold.settings.environment import NUM_THREADS

# OpenBLAS in NumPy's wheels, the same with a suffix for 64-bit integers, and as Linux distributions name it.
_NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
_requested: list[int] = []
_listeners: list[Callable[[int], object]] = []


def _loaded_blas() -> Iterator[str]:
    """Paths of the BLAS libraries that this process has loaded."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as file:
            yield from {line.split()[-1] for line in file if "openblas" in line.lower()}
    except OSError:
        return


@cache
def blas_threads() -> tuple[Any, Any] | None:
    """OpenBLAS's own (set, get) functions, or None when NumPy runs on another BLAS.

    TENFOLD_NUM_THREADS goes before the variables that OpenBLAS reads by itself, OPENBLAS_NUM_THREADS and OMP_NUM_THREADS.
    """
    for path in _loaded_blas():
        library = ctypes.CDLL(path)
        for name in _NAMES:
            if hasattr(library, name.format("set")):
                found = _setter(library, name), getattr(library, name.format("get"))
                if NUM_THREADS.read():
                    found[0](_positive("TENFOLD_NUM_THREADS", NUM_THREADS.read()))
                return found
    return None


def _setter(library: Any, name: str) -> Callable[[int], object]:
    """OpenBLAS's function, but for one its variable: after a fork the function starts threads, which spin unused.

    OpenMP's kind (parallel is 2) asks OpenMP each time.
    """
    function: Any = getattr(library, name.format("set"))
    parallel = getattr(library, name.replace("{}_num_threads", "get_parallel"), int)()
    if parallel != 1 or not hasattr(library, "blas_cpu_number"):
        return function  # type: ignore[no-any-return]
    count = ctypes.c_int.in_dll(library, "blas_cpu_number")
    return lambda number: setattr(count, "value", 1) if number == 1 else function(number)


def _positive(name: str, value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise ValueError(f"{name} has to be a positive integer, got {value!r}")
    return int(value)


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
    functions = blas_threads()
    if functions is not None:
        functions[0](int)
    for listener in _listeners:
        listener(int)


def on_change(listener: Callable[[int], object]) -> None:
    """Call a function with every number that `set_num_threads` gets: another package's pool obeys it, too."""
    _listeners.append(listener)


def get_num_threads() -> int:
    """The number of threads that CPU kernels use."""
    functions = blas_threads()
    if functions is not None:
        return functions[1]()  # type: ignore[no-any-return]
    return _requested[0] if _requested else os.cpu_count() or 1
