"""Writes into a tensor's memory that Python makes, beside those of native/writing.ll."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.devices import CPU
from tenfold.tensor.storage import Storage


def note_write(tensor: Any) -> None:
    """Count a write."""
    storage = tensor._storage
    if storage is None:
        storage = tensor._storage = Storage(tensor._array, CPU)
    storage.version += 1
