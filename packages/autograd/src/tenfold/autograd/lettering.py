"""How large letters are in pictures, and what of a label a box has room for."""

from __future__ import annotations

FONT = 12  # pixels
LETTER = 0.6  # width of a letter of the monospaced font, in sizes of it


def width_of(text: str) -> float:
    """About how wide a text is."""
    return LETTER * FONT * len(text)


def fitting(label: str, width: float) -> str:
    """As much of a label as a box has room for, nothing where that is less than three letters."""
    room = int((width - 6) / (LETTER * FONT))
    return label if len(label) <= room else label[: room - 1] + "…" if room >= 3 else ""


__all__ = ["FONT", "fitting", "width_of"]
