"""Gradients of sliding blocks: each of the two operators is the other's transpose."""

from __future__ import annotations

from tenfold.autograd.gradients import gradient
from tenfold.nn.ops.fold import col2im, im2col

gradient(
    im2col,
    input=lambda g, input_shape, kernel_size, dilation, padding, stride: col2im(
        g, tuple(input_shape[2:]), kernel_size, dilation, padding, stride
    ),
)
gradient(
    col2im,
    input=lambda g, kernel_size, dilation, padding, stride: im2col(g, kernel_size, dilation, padding, stride),
)
