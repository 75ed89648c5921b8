"""Making a module whose parameters somebody else fills."""

from __future__ import annotations

import inspect
from typing import Any

from tenfold.nn.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module with uninitialized parameters on `device` (a keyword, the CPU if missing).

    Raises RuntimeError for something else than a module class, and for one without a parameter `device`.
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"skip_init: expected a Module class, got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
