"""`tenfold.accelerator.memory`: an accelerator's memory, as its module counts it; 0 and nothing where there is no accelerator."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from tenfold.accelerator.modules import index_of, module
from tenfold.dispatch.devices import accelerator_backend

__all__ = [
    "empty_cache", "empty_host_cache", "get_memory_info", "max_memory_allocated", "max_memory_reserved", "memory_allocated",
    "memory_reserved", "memory_stats", "reset_accumulated_memory_stats", "reset_peak_memory_stats",
]  # fmt: skip


def empty_cache() -> None:
    """Give back memory that no tensor uses."""
    if accelerator_backend() is not None:
        module().empty_cache()


def empty_host_cache() -> None:
    """Give back pinned memory of the host that no tensor uses."""
    if accelerator_backend() is not None:
        getattr(module(), "empty_host_cache", _nothing)()


def _nothing() -> None:
    """There is no such cache."""


def memory_stats(device_index: Any = None, /) -> OrderedDict[str, Any]:
    """What the accelerator's module counts, by name."""
    if accelerator_backend() is None:
        return OrderedDict()
    return OrderedDict(module().memory_stats(index_of(device_index)))


def _counted(name: str, device_index: Any) -> int:
    return 0 if accelerator_backend() is None else int(getattr(module(), name)(index_of(device_index)))


def memory_allocated(device_index: Any = None, /) -> int:
    """Bytes that tensors hold now.

    >>> memory_allocated() >= 0
    True
    """
    return _counted("memory_allocated", device_index)


def max_memory_allocated(device_index: Any = None, /) -> int:
    """The most bytes that tensors have held."""
    return _counted("max_memory_allocated", device_index)


def memory_reserved(device_index: Any = None, /) -> int:
    """Bytes that are used or kept for later."""
    return _counted("memory_reserved", device_index)


def max_memory_reserved(device_index: Any = None, /) -> int:
    """The most of these."""
    return _counted("max_memory_reserved", device_index)


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """Let the sums of what was allocated and freed begin anew.

    Raises: RuntimeError where there is no accelerator.
    """
    module().reset_accumulated_memory_stats(index_of(device_index))


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Let the peaks begin anew.

    Raises: RuntimeError where there is no accelerator.
    """
    module().reset_peak_memory_stats(index_of(device_index))


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """(free, total) bytes of an accelerator.

    Raises: RuntimeError where there is none.
    """
    found: tuple[int, int] = module().mem_get_info(index_of(device_index))
    return found
