"""Times, sizes and counts as texts."""

from __future__ import annotations


def format_time(time_us: float, unit: str | None = None) -> str:
    """A time with the unit that fits it, or the one given.

    >>> format_time(1500.0)
    '1.500ms'
    """
    if unit is None:
        unit = "s" if time_us >= 1e6 else "ms" if time_us >= 1e3 else "us"
    if unit not in _UNITS:
        raise ValueError(f"time_unit must be s, ms or us, got {unit!r}")
    return f"{time_us / _UNITS[unit]:.3f}{unit}"


_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}


def format_memory(size_bytes: int) -> str:
    """A size with the unit that fits it.

    >>> format_memory(3 << 20), format_memory(-512)
    ('3.00 MB', '-512 B')
    """
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(size_bytes) >= size:
            return f"{size_bytes / size:.2f} {unit}"
    return f"{size_bytes} B"


def format_count(count: float) -> str:
    """A number of operations with a prefix.

    >>> format_count(2_500_000)
    '2.500M'
    """
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("K", 1e3)):
        if count >= size:
            return f"{count / size:.3f}{prefix}"
    return f"{count:.0f}"


__all__ = ["format_count", "format_memory", "format_time"]
