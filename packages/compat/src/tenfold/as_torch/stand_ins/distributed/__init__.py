"""`torch.distributed` on one machine: it is not available, and says so."""

from __future__ import annotations

from typing import Any

__all__ = ["is_available", "is_initialized"]


def is_available() -> bool:
    """False: there are no process groups.

    >>> is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """False: there is no process group."""
    return False


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.distributed' has no attribute {name!r}")
    raise AttributeError(
        f"module 'torch.distributed' has no attribute {name!r}: process groups are in the package tenfold-distributed, "
        "which is not installed; torch.distributed.is_available() is False"
    )
