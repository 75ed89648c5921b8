"""Warnings that come once in a process, unless `set_warn_always` asks for each."""

import warnings

_seen: set[str] = set()
_always = {"on": False}


def warn_once(key: str, message: str, stacklevel: int = 3) -> None:
    """Warn the first time that something named `key` happens."""
    if key not in _seen or _always["on"]:
        _seen.add(key)
        warnings.warn(message, UserWarning, stacklevel=stacklevel + 1)


def set_warn_always(b: bool, /) -> None:
    """Let warnings that come once come every time."""
    _always["on"] = bool(b)


def is_warn_always_enabled() -> bool:
    """Whether `set_warn_always` asked for every warning.

    >>> is_warn_always_enabled()
    False
    """
    return _always["on"]
