"""`tenfold.accelerator`: the device besides the CPU, if there is one."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.devices import accelerator_backend, accelerator_type, device


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
    """The index of the accelerator in use."""
    backend = accelerator_backend()
    if backend is None:
        raise RuntimeError("accelerator: there is none here")
    return int(backend.current_index())


def synchronize(device: Any = None, /) -> None:
    """Wait until all work given to the accelerator is done."""
    backend = accelerator_backend()
    if backend is not None:
        backend.synchronize(None)
