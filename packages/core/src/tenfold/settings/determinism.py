"""PyTorch's switch for deterministic algorithms; core's own kernels always are deterministic."""

from __future__ import annotations

_asked = {"on": False, "warn_only": False}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask that operators give the same numbers on every run; on the CPU they always do.

    >>> import tenfold
    >>> tenfold.use_deterministic_algorithms(True)
    >>> tenfold.are_deterministic_algorithms_enabled()
    True
    >>> tenfold.use_deterministic_algorithms(False)
    """
    _asked.update(on=bool(mode), warn_only=bool(warn_only))


def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms` asked for them."""
    return _asked["on"]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether it asked for warnings instead of errors."""
    return _asked["warn_only"]
