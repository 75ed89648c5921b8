"""Finding waits: with a mode set, what reads a tensor's values on the host warns or fails (`torch.cuda.set_sync_debug_mode`)."""

from __future__ import annotations

import warnings

MODES = ("default", "warn", "error")
_mode = 0


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """What happens when a tensor's values are waited for: 0 or "default" nothing, 1 or "warn" a warning, 2 or "error" an error.

    Raises: RuntimeError for any other mode.
    """
    global _mode
    if debug_mode not in MODES and debug_mode not in (0, 1, 2):
        raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
    _mode = MODES.index(debug_mode) if isinstance(debug_mode, str) else int(debug_mode)


def get_sync_debug_mode() -> int:
    """The mode as a number."""
    return _mode


def told() -> None:
    """Say that the host waits for the device."""
    if _mode == 2:
        raise RuntimeError("called a synchronizing CUDA operation")
    if _mode == 1:
        warnings.warn("called a synchronizing CUDA operation", UserWarning, stacklevel=2)
