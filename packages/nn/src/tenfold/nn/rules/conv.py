"""Gradients of convolution. It and its two gradients are bilinear, so the rules of each are the two others."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradient
from tenfold.nn.arguments import conjugate
from tenfold.nn.ops.conv.convolution import convolution, convolution_input_grad, convolution_weight_grad


def _bias(g: Any, weight_shape: Any) -> Any:
    channels = g.dim() - len(weight_shape) + 1
    if 0 in weight_shape:  # of no input channels: PyTorch leaves the bias alone then
        return g.new_zeros(g.shape[channels])
    return g.sum([d for d in range(g.dim()) if d != channels])


gradient(
    convolution,
    input=lambda g, weight, input_shape, stride, padding, dilation, transposed, output_padding, groups: convolution_input_grad(
        g, conjugate(weight), input_shape, stride, padding, dilation, transposed, output_padding, groups
    ),
    weight=lambda g, input, weight_shape, stride, padding, dilation, transposed, output_padding, groups: convolution_weight_grad(
        g, conjugate(input), weight_shape, stride, padding, dilation, transposed, output_padding, groups
    ),
    bias=_bias,
)
gradient(
    convolution_input_grad,
    grad=lambda g, weight, stride, padding, dilation, transposed, output_padding, groups: convolution(
        g, conjugate(weight), None, stride, padding, dilation, transposed, output_padding, groups
    ),
    weight=lambda g, grad, weight_shape, stride, padding, dilation, transposed, output_padding, groups: convolution_weight_grad(
        conjugate(grad), g, weight_shape, stride, padding, dilation, transposed, output_padding, groups
    ),
)
gradient(
    convolution_weight_grad,
    grad=lambda g, input, stride, padding, dilation, transposed, output_padding, groups: convolution(
        conjugate(input), g, None, stride, padding, dilation, transposed, output_padding, groups
    ),
    input=lambda g, grad, input_shape, stride, padding, dilation, transposed, output_padding, groups: convolution_input_grad(
        conjugate(grad), g, input_shape, stride, padding, dilation, transposed, output_padding, groups
    ),
)
