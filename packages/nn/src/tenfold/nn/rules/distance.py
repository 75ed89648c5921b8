"""The gradient of the operator that compares rows in one pass."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradients
from tenfold.nn.ops import distance as ops


@gradients(ops.fused_row_pairs, "x1", "x2", node="RowPairsBackward0", results=(0,))
def _row_pairs(g: Any, x1: Any, x2: Any, out0: Any, out1: Any, kind: str, eps: float) -> Any:
    return ops.fused_row_pairs_grad(g[0], x1, x2, out0, out1, kind, eps)
