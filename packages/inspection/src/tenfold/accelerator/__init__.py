"""`tenfold.accelerator`: the device besides the CPU, if there is one, whatever its type.

What a function asks is asked of the module of that type, such as `tenfold.cuda`.
"""

from __future__ import annotations

from typing import Any, cast

from tenfold.accelerator.graphs import Graph
from tenfold.accelerator.memory import (
    empty_cache,
    empty_host_cache,
    get_memory_info,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
)
from tenfold.accelerator.modules import index_of, module
from tenfold.dispatch.devices import accelerator_backend, accelerator_type, device

__all__ = [
    "Graph", "current_accelerator", "current_device_idx", "current_device_index", "current_stream", "device_count",
    "device_index", "empty_cache", "empty_host_cache", "get_device_capability", "get_memory_info", "is_available",
    "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_device_idx", "set_device_index", "set_stream",
    "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is an accelerator.

    >>> is_available() == (device_count() > 0)
    True
    """
    return accelerator_backend() is not None


def device_count() -> int:
    """How many accelerators there are."""
    backend = accelerator_backend()
    return 0 if backend is None else int(backend.device_count())


def current_accelerator(check_available: bool = False) -> device | None:
    """The accelerator's device type; None where there is none."""
    return device(accelerator_type()) if is_available() else None


def current_device_index() -> int:
    """The index of the accelerator in use.

    Raises: RuntimeError where there is none.
    """
    return int(module().current_device())


def set_device_index(device: Any, /) -> None:
    """Use another accelerator from now on, given by its index, a string or a device.

    Raises: RuntimeError where there is none; ValueError for a device of another type.
    """
    found = module()
    found.set_device(index_of(device))


current_device_idx, set_device_idx = current_device_index, set_device_index  # their old names


class device_index:  # noqa: N801 - PyTorch's name
    """A block in which another accelerator is in use; None changes nothing."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx is not None:
            self.prev_idx = current_device_index()
            set_device_index(self.idx)

    def __exit__(self, *exc_info: object) -> None:
        if self.idx is not None:
            set_device_index(self.prev_idx)


def current_stream(device: Any = None, /) -> Any:
    """The stream that takes an accelerator's work now."""
    return module().current_stream(index_of(device))


def set_stream(stream: Any) -> None:
    """Send the work of a stream's accelerator to it from now on, and use that accelerator."""
    found = module()
    found.set_device(stream.device_index)
    found.set_stream(stream)


def synchronize(device: Any = None, /) -> None:
    """Wait until all work given to an accelerator is done; where there is none, nothing is to be done."""
    backend = accelerator_backend()
    if backend is not None:
        cast("Any", backend).synchronize(None if device is None else index_of(device))


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """The dtypes that tensors of an accelerator can have, under the name `supported_dtypes`.

    Raises: RuntimeError where there is none.
    """
    import tenfold  # which imports this package when it is asked for

    module()
    backend = accelerator_backend()
    return {"supported_dtypes": {getattr(tenfold, name) for name in cast("Any", backend).dtypes}}
