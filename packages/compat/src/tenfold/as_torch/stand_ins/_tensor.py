"""`torch._tensor`."""

from __future__ import annotations

from tenfold import Tensor
from tenfold.checkpoint.rebuilding import rebuild_subclass as _rebuild_from_type_v2

__all__ = ["Tensor", "_rebuild_from_type_v2"]
