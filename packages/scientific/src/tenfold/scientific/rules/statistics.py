"""Gradients of medians and modes."""

from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.autograd.rules.reduction import chosen_elements
from tenfold.ops.pointwise.several import where

gradient(op.median_dim, input=chosen_elements)
gradient(op.mode_pair, input=chosen_elements)


def _median(g: Any, input: Any, out: Any) -> Any:
    chosen = (input == out) | (input.isnan() & out.isnan())
    return where(chosen, g / chosen.sum(), 0)


gradient(op.median_value, input=_median)
