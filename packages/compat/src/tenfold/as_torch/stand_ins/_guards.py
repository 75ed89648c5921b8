"""`torch._guards`: what libraries ask about programs that are being traced without numbers; none is."""

from __future__ import annotations

from typing import Any


def active_fake_mode() -> None:
    """None: no program is being traced without numbers."""


def detect_fake_mode(inputs: Any = None) -> None:
    """None: no tensor here is without numbers but those of the device "meta"."""
