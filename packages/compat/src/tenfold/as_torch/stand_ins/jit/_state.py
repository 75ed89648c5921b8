"""`torch.jit._state`: whether functions are compiled, which libraries look up; none are here."""

from __future__ import annotations

from typing import Any


class EnabledProxy:
    """Whether functions are compiled: switched off for good, as they run as Python.

    >>> _enabled.enabled, bool(_enabled)
    (False, True)
    """

    enabled = False

    def enable(self) -> None:
        """Changes nothing: there is no compiler."""

    def disable(self) -> None:
        """Changes nothing, as it is off."""


_enabled = EnabledProxy()
_script_classes: dict[Any, Any] = {}  # which have been compiled
_name_to_pyclass: dict[str, Any] = {}
