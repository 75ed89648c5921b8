"""Automatic mixed precision: `autocast` runs products in a half type and sensitive operators in float32."""

from __future__ import annotations

from tenfold.amp.autocast import autocast, is_autocast_available

__all__ = ["autocast", "is_autocast_available"]
