"""Gradients of convolutions as functions of sizes and tensors, without a graph: `torch.nn.grad`."""

from __future__ import annotations

from typing import Any

from tenfold.nn.arguments import per_dim
from tenfold.nn.ops.conv.convolution import convolution_input_grad, convolution_weight_grad
from tenfold.tensor.tensor import Tensor

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _steps(name: str, n: int, stride: Any, padding: Any, dilation: Any, groups: int) -> tuple[Any, ...]:
    given = {"stride": stride, "padding": padding, "dilation": dilation}
    return (*(per_dim(value, n, f"{name}: {what}") for what, value in given.items()), False, (0,) * n, groups)


def conv1d_input(
    input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of `conv1d` for an input of the size `input_size`.

    >>> import tenfold
    >>> from tenfold.nn.grad import conv1d_input
    >>> conv1d_input((1, 1, 3), tenfold.ones(1, 1, 2), tenfold.ones(1, 1, 2))
    tensor([[[1., 2., 1.]]])
    """
    steps = _steps("conv1d_input", 1, stride, padding, dilation, groups)
    return convolution_input_grad(grad_output, weight, tuple(input_size), *steps)


def conv1d_weight(
    input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of `conv1d` for a weight of the size `weight_size`."""
    steps = _steps("conv1d_weight", 1, stride, padding, dilation, groups)
    return convolution_weight_grad(grad_output, input, tuple(weight_size), *steps)


def conv2d_input(
    input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of `conv2d` for an input of the size `input_size`."""
    steps = _steps("conv2d_input", 2, stride, padding, dilation, groups)
    return convolution_input_grad(grad_output, weight, tuple(input_size), *steps)


def conv2d_weight(
    input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of `conv2d` for a weight of the size `weight_size`."""
    steps = _steps("conv2d_weight", 2, stride, padding, dilation, groups)
    return convolution_weight_grad(grad_output, input, tuple(weight_size), *steps)


def conv3d_input(
    input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of `conv3d` for an input of the size `input_size`."""
    steps = _steps("conv3d_input", 3, stride, padding, dilation, groups)
    return convolution_input_grad(grad_output, weight, tuple(input_size), *steps)


def conv3d_weight(
    input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of `conv3d` for a weight of the size `weight_size`."""
    steps = _steps("conv3d_weight", 3, stride, padding, dilation, groups)
    return convolution_weight_grad(grad_output, input, tuple(weight_size), *steps)
