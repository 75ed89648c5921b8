"""Page-locked copies of batches, from which a device can read while the processor does other work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tenfold
from tenfold.data.collation import rebuilt_mapping, rebuilt_sequence


def can_pin() -> bool:
    """Whether a device is present that page-locked memory helps."""
    try:
        return bool(tenfold.cuda.is_available())
    except (AttributeError, ImportError):
        return False


def pin(batch: Any) -> Any:
    """Pin every tensor, and every object with a method `pin_memory`, in any nesting of containers."""
    if hasattr(batch, "pin_memory"):
        return batch.pin_memory()
    if isinstance(batch, Mapping):
        return rebuilt_mapping(batch, {key: pin(batch[key]) for key in batch})
    if isinstance(batch, tuple):
        parts = [pin(part) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else parts
    if isinstance(batch, Sequence) and not isinstance(batch, (str, bytes)):
        return rebuilt_sequence(batch, [pin(part) for part in batch])
    return batch
