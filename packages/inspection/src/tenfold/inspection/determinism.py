"""PyTorch's switch for deterministic algorithms, also as a level: 0 as it comes, 1 warnings, 2 errors."""

from __future__ import annotations

from tenfold.settings.determinism import STATE


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask that operators give the same numbers on every run; on the CPU they always do.

    >>> import tenfold
    >>> tenfold.use_deterministic_algorithms(True)
    >>> tenfold.are_deterministic_algorithms_enabled()
    True
    >>> tenfold.use_deterministic_algorithms(False)
    """
    for name, value in (("'mode' (position 1)", mode), ("'warn_only'", warn_only)):
        if not isinstance(value, bool):
            raise TypeError(
                f"_set_deterministic_algorithms(): argument {name} must be bool, not {type(value).__name__}, "
                f"in use_deterministic_algorithms"
            )
    STATE.update(on=mode, warn_only=warn_only)


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether it asked for warnings instead of errors."""
    return STATE["warn_only"]


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """The same switch as a level: 0 "default", 1 "warn", 2 "error".

    >>> import tenfold
    >>> tenfold.set_deterministic_debug_mode("warn")
    >>> tenfold.get_deterministic_debug_mode()
    1
    >>> tenfold.set_deterministic_debug_mode(0)
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    names = ("default", "warn", "error")
    if debug_mode not in (*names, 0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected one of 0, 1, 2 or {names}, got {debug_mode!r}")
    level = names.index(debug_mode) if isinstance(debug_mode, str) else int(debug_mode)
    STATE.update(on=level > 0, warn_only=level == 1)


def get_deterministic_debug_mode() -> int:
    """0: as it comes, 1: warnings, 2: errors where an operator has no deterministic form."""
    return 0 if not STATE["on"] else 1 if STATE["warn_only"] else 2
