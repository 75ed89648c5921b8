"""Gradients of adaptive and fractional pooling."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradient, gradients
from tenfold.nn.ops.pool.adaptive import adaptive_avg_pool, adaptive_avg_pool_grad, adaptive_max_pool
from tenfold.nn.ops.pool.fractional import fused_fractional_max_pool
from tenfold.nn.ops.pool.windows import max_pool_grad


def _some(g: Any, n: int) -> Any:
    """The incoming gradient; RuntimeError where pooling to a size of 0 left nothing, as PyTorch's backward passes say."""
    if 0 in g.shape[g.dim() - n :]:
        raise RuntimeError(
            f"adaptive pooling: Expected grad_output to have non-zero size for non-batch dimensions, but it has sizes "
            f"{list(g.shape)}: give an output_size of at least 1"
        )
    return g


gradient(
    adaptive_avg_pool,
    input=lambda g, input_shape, output_size: adaptive_avg_pool_grad(_some(g, len(output_size)), input_shape, len(output_size)),
)
gradient(
    adaptive_avg_pool_grad, grad=lambda g, grad_shape, ndim: adaptive_avg_pool(g, tuple(grad_shape[len(grad_shape) - ndim :]))
)


@gradients(adaptive_max_pool, "input")
def _adaptive_max_pool(g: Any, input_shape: Any, out1: Any, output_size: Any) -> Any:
    return (max_pool_grad(_some(g[0], len(output_size)), out1, input_shape, len(output_size)),)


@gradients(fused_fractional_max_pool, "input", node="FractionalMaxPoolBackward0", results=(0,))
def _fractional_max_pool(g: Any, input_shape: Any, out1: Any, kernel_size: Any) -> Any:
    return (max_pool_grad(g[0], out1, input_shape, len(kernel_size)),)
