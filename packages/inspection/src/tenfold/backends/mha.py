"""`backends.mha`: whether transformer layers may use PyTorch's fused path; here there is one path, and the setting is kept."""

from __future__ import annotations

_fast = [True]


def get_fastpath_enabled() -> bool:
    """What was set last, True at first.

    >>> get_fastpath_enabled()
    True
    """
    return _fast[0]


def set_fastpath_enabled(value: bool) -> None:
    """Keep the setting, for those who ask."""
    _fast[0] = value
