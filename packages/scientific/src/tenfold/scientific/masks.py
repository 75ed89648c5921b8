"""Questions to a mask that an operator's refusals depend on."""

from __future__ import annotations

from typing import Any


def anywhere(mask: Any) -> bool:
    """Whether a mask holds for some element, inside vmap of some example."""
    while mask._key.level is not None:
        mask = mask._array.value
    return bool(mask.any())
