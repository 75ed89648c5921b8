"""Gradients of running extremes and of logarithms of running sums."""

from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.autograd.rules.conjugates import conj, is_complex
from tenfold.autograd.rules.reduction import chosen_in_place, reversed_scan
from tenfold.ops.pointwise.several import where

gradient(op.cummax_pair, input=chosen_in_place)
gradient(op.cummin_pair, input=chosen_in_place)


def _logcumsumexp(g: Any, input: Any, out: Any, dim: int) -> Any:
    if not g.dim() or not g.numel():
        return g
    if is_complex(g):
        return (reversed_scan(op.logcumsumexp, g.log() - conj(out), dim) + conj(input)).exp()
    least = -1e30 if g.dtype.itemsize > 2 else -1e4  # as good as -inf, and its differences are numbers
    positive = where(g > 0, where(g > 0, g, 1).log(), least)
    negative = where(g < 0, where(g < 0, -g, 1).log(), least)
    gained = (reversed_scan(op.logcumsumexp, positive - out, dim) + input).exp()
    return gained - (reversed_scan(op.logcumsumexp, negative - out, dim) + input).exp()


gradient(op.logcumsumexp, input=_logcumsumexp)
