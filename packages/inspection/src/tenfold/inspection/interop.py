"""PyTorch's threads between operators, kept for programs that set them: operators run one after the other here."""

from __future__ import annotations

import os
from typing import Any

_requested: list[int] = []


def set_num_interop_threads(int: Any) -> None:
    """Say how many operators may run at once: accepted, once, as in PyTorch; Tenfold runs one after the other.

    >>> import tenfold
    >>> tenfold.get_num_interop_threads() > 0
    True
    """
    if not hasattr(int, "__index__") or int < 1:
        raise RuntimeError(f"set_num_interop_threads expects a positive integer, got {int!r}")
    if _requested:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or set_num_interop_threads called"
        )
    _requested[:] = [int]


def get_num_interop_threads() -> int:
    """What `set_num_interop_threads` was told, else the number of processors."""
    return _requested[0] if _requested else os.cpu_count() or 1
