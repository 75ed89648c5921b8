"""`torch._tensor`."""

from __future__ import annotations

from tenfold import Tensor

__all__ = ["Tensor"]
