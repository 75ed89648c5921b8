"""`functorch.experimental.control_flow`: operators over functions by their earlier address."""

from __future__ import annotations

from tenfold.as_torch.stand_ins._higher_order_ops import cond, map

__all__ = ["cond", "map"]
