"""Gradients of sliding blocks: each of the two operators is the other's transpose."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradient
from tenfold.nn.ops.fold import col2im, im2col

gradient(
    im2col,
    input=lambda g, input_shape, kernel_size, dilation, padding, stride: col2im(
        g, tuple(input_shape[2:]), kernel_size, dilation, padding, stride
    ),
)


def _col2im(g: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    return im2col(g, kernel_size, dilation, padding, stride)


gradient(col2im, input=_col2im)
