"""Gradients of the rectifier and of softmax."""

# ruff: noqa: PLW0108  a rule is read by the names of its parameters, so it needs a lambda of its own
from __future__ import annotations

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.ops.activation import log_softmax_backward, softmax_backward, threshold_backward
from tenfold.ops.creation.like import zeros_like

gradient(op.relu, input=lambda g, out: threshold_backward(g, out, 0))
gradient(
    op.threshold_backward,
    grad_output=lambda g, input, threshold: threshold_backward(g, input, threshold),
    input=lambda g, input: zeros_like(input),
)
gradient(op.softmax, input=lambda g, out, dim: softmax_backward(g, out, dim))
gradient(op.log_softmax, input=lambda g, out, dim: log_softmax_backward(g, out, dim))
