"""Gradients of products with powers of two, which keep the exponent and the result, and no first factor."""

from __future__ import annotations

from math import log

from tenfold import op
from tenfold.autograd.gradients import gradient

gradient(op.ldexp, input=lambda g, other: g * op.exp2(other).conj(), other=lambda g, out: g * (out * log(2)).conj())
