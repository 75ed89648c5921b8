"""Gradients of adaptive pooling."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradient, gradients
from tenfold.nn.ops.pool.adaptive import adaptive_avg_pool, adaptive_avg_pool_grad, adaptive_max_pool
from tenfold.nn.ops.pool.windows import max_pool_grad

gradient(
    adaptive_avg_pool,
    input=lambda g, input_shape, output_size: adaptive_avg_pool_grad(g, input_shape, len(output_size)),
)
gradient(
    adaptive_avg_pool_grad, grad=lambda g, grad_shape, ndim: adaptive_avg_pool(g, tuple(grad_shape[len(grad_shape) - ndim :]))
)


@gradients(adaptive_max_pool, "input")
def _adaptive_max_pool(g: Any, input_shape: Any, out1: Any, output_size: Any) -> Any:
    return (max_pool_grad(g[0], out1, input_shape, len(output_size)),)
