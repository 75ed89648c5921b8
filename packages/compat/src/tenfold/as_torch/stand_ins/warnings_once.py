"""A warning that a process gives once."""

from __future__ import annotations

import warnings

_given: set[str] = set()


def warn_once(message: str) -> None:
    """Warn with a message, the first time that it comes up, where the program called."""
    if message not in _given:
        _given.add(message)
        warnings.warn(message, stacklevel=3)
