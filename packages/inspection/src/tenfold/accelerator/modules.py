"""The module of the accelerator's device type, and the numbers of its devices."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.dispatch.devices import accelerator_type, device, require_accelerator


def module() -> Any:
    """The accelerator's module, such as `tenfold.cuda`; RuntimeError where there is no accelerator."""
    require_accelerator()
    return importlib.import_module(f"tenfold.{accelerator_type()}")


def index_of(given: Any) -> int:
    """The number of an accelerator given as None (the one in use), a number, a string or a device.

    Raises: ValueError for a device of another type.
    """
    if given is None:
        return int(module().current_device())
    if isinstance(given, int):
        return given
    found = device(given)
    if found.type != accelerator_type():
        raise ValueError(f"{found.type} doesn't match the current accelerator {accelerator_type()}.")
    return int(module().current_device()) if found.index is None else found.index
