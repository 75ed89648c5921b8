"""Gradients of pooling; the gradients' own gradients are pooling again."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradient, gradients
from tenfold.nn.ops.pool import windows as ops


@gradients(ops.max_pool, "input", node="MaxPool2DWithIndicesBackward0")
def _max_pool(g: Any, input_shape: Any, out1: Any, kernel_size: Any) -> Any:
    return (ops.max_pool_grad(g[0], out1, input_shape, len(kernel_size)),)


def _at_maxima(g: Any, indices: Any, ndim: int) -> Any:
    planes, shape = ops.as_planes(g, ndim)[0], indices.shape
    P = planes.shape[0]
    size, count = (n // max(1, P) for n in (g.numel(), indices.numel()))
    return planes.reshape(P, size).gather(1, indices.reshape(P, count)).reshape(shape)


gradient(ops.max_pool_grad, grad=_at_maxima)


def _avg_pool(
    g: Any,
    input_shape: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    return ops.avg_pool_grad(g, input_shape, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _avg_pool_grad(
    g: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool, divisor_override: int | None
) -> Any:
    return ops.avg_pool(g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


gradient(ops.avg_pool, input=_avg_pool)
gradient(ops.avg_pool_grad, grad=_avg_pool_grad)
