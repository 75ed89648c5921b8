"""Gradients of the elementwise operators."""

from __future__ import annotations

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.ops.pointwise import log, where

gradient(op.add, input=lambda g: g, other=lambda g: g)
gradient(op.sub, input=lambda g: g, other=lambda g: -g)
gradient(op.mul, input=lambda g, other: g * _conj(other), other=lambda g, input: g * _conj(input))
gradient(
    op.div,
    input=lambda g, other: g / _conj(other),
    other=lambda g, input, other: -g * _conj(input / other / other),
)
gradient(op.neg, input=lambda g: -g)
gradient(op.exp, input=lambda g, out: g * _conj(out))
gradient(op.log, input=lambda g, input: g / _conj(input))
gradient(op.sqrt, input=lambda g, out: g / _conj(2 * out))
gradient(op.where, input=lambda g, condition: where(condition, g, 0), other=lambda g, condition: where(condition, 0, g))


def _conj(x):
    return x.conj() if hasattr(x, "_array") and x._array.dtype.kind == "c" else x


