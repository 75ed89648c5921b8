"""Gradients of the view operators."""

from __future__ import annotations

from tenfold import op
from tenfold.autograd.gradients import gradient

gradient(op.view, input=lambda g, input_shape: g.reshape(input_shape))
gradient(op.transpose, input=lambda g, dim0, dim1: g.transpose(dim0, dim1))
gradient(op.permute, input=lambda g, dims: g.permute(_inverse(dims)))
gradient(op.expand, input=lambda g: g)
gradient(op.unsqueeze, input=lambda g, dim: g.squeeze(dim))
gradient(op.squeeze, input=lambda g, input_shape: g.view(input_shape))


def _inverse(dims):
    n = len(dims)
    order = [d % n for d in dims]
    return tuple(order.index(i) for i in range(n))
