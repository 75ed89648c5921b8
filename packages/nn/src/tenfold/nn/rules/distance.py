"""The gradients of the operators that compare rows in one pass."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradients
from tenfold.nn.ops import all_pairs, distance as ops


@gradients(ops.fused_row_pairs, "x1", "x2", node="RowPairsBackward0", results=(0,))
def _row_pairs(g: Any, x1: Any, x2: Any, out0: Any, out1: Any, kind: str, eps: float, p: float) -> Any:
    return ops.fused_row_pairs_grad(g[0], x1, x2, out0, out1, kind, eps, p)


@gradients(all_pairs.fused_distances, "x1", "x2", node="CdistBackward0")
def _distances(g: Any, needs: Any, x1: Any, x2: Any, p: float, product: bool, out: Any) -> Any:
    of_first = all_pairs.fused_distances_grad(g, x1, x2, out, p, product) if needs[0] else None
    if not needs[1]:
        return of_first, None
    return of_first, all_pairs.fused_distances_grad(g.mT, x2, x1, out.mT, p, product)  # a distance is that of both ways
