"""Gradients of the matrix products."""

from __future__ import annotations

from tenfold import op
from tenfold.autograd.gradients import gradient

gradient(op.mm, input=lambda g, mat2: g.mm(mat2.transpose(0, 1)), mat2=lambda g, input: input.transpose(0, 1).mm(g))
gradient(op.bmm, input=lambda g, mat2: g.bmm(mat2.transpose(1, 2)), mat2=lambda g, input: input.transpose(1, 2).bmm(g))
