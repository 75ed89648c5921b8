"""`torch._higher_order_ops`: the operators over functions, which libraries also import by their files."""

from __future__ import annotations

from tenfold.as_torch.stand_ins._higher_order_ops.associative_scan import associative_scan
from tenfold.as_torch.stand_ins._higher_order_ops.cond import cond
from tenfold.as_torch.stand_ins._higher_order_ops.foreach_map import foreach_map
from tenfold.as_torch.stand_ins._higher_order_ops.map import map
from tenfold.as_torch.stand_ins._higher_order_ops.scan import scan
from tenfold.as_torch.stand_ins._higher_order_ops.while_loop import while_loop

__all__ = ["associative_scan", "cond", "foreach_map", "map", "scan", "while_loop"]
