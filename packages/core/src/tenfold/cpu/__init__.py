"""The CPU backend: NumPy kernels, one family of operators a file; `tenfold.cpu.memory_stats()` and what one asks of a device."""

import importlib

from tenfold.cpu.allocator import (
    empty_cache as empty_cache,
    memory_stats as memory_stats,
    set_memory_limit as set_memory_limit,
)


def __getattr__(name: str) -> object:
    if name == "amp":  # of the package tenfold-autograd
        return importlib.import_module("tenfold.amp.cpu")
    if name in "Stream Event StreamContext current_stream stream set_device get_capabilities is_initialized".split():
        return getattr(importlib.import_module("tenfold.inspection.cpu"), name)
    raise AttributeError(f"module 'tenfold.cpu' has no attribute {name!r}")


def is_available() -> bool:
    """There always is a CPU."""
    return True


def device_count() -> int:
    """One, however many processors it has."""
    return 1


def current_device() -> str:
    """Its name."""
    return "cpu"


def synchronize(device: object = None) -> None:
    """Nothing to wait for: operators are done when they return."""
