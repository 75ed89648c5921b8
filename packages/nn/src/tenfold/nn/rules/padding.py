"""Gradients of padding: what was put on is cropped."""

from __future__ import annotations

from tenfold.autograd.gradients import gradient
from tenfold.nn.ops.padding import border_pad, border_pad_grad, constant_pad

gradient(constant_pad, input=lambda g, pad: constant_pad(g, tuple(-n for n in pad), 0))
gradient(border_pad, input=lambda g, input_shape, widths, mode: border_pad_grad(g, tuple(input_shape), widths, mode))
gradient(border_pad_grad, grad=lambda g, widths, mode: border_pad(g, tuple(widths), mode))
