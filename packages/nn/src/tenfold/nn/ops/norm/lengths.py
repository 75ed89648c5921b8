"""Division by a norm of neighbours: local response norm, vectors of length one."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import has_kernel, widened
from tenfold.nn.ops.norm.scaling import fused_scaled_rows, in_one_pass
from tenfold.nn.ops.padding import constant_pad
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes


@composite("norm", method=None)
def local_response_norm(
    input: Tensor, size: int, alpha: float | Tensor = 0.0001, beta: float | Tensor = 0.75, k: float | Tensor = 1.0
) -> Tensor:
    """Local response norm: x / (k + alpha * mean of x^2 over `size` neighbouring channels) ** beta.

    Shape: (N, C, *S) -> the same. Source: Krizhevsky, Sutskever and Hinton, 2012, section 3.3.

    >>> import tenfold
    >>> tenfold.local_response_norm(tenfold.ones(1, 1, 1), 1, alpha=3.0, beta=1.0)
    tensor([[[0.2500]]])
    """
    if input.dim() < 3:
        raise ValueError(f"local_response_norm: Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    if size < 1:
        raise RuntimeError(f"local_response_norm: size should be greater than zero, but got {size}")
    if not (input.is_floating_point() or input.dtype is dtypes.int64):
        raise NotImplementedError(
            f"\"local_response_norm\" not implemented for '{dtypes.type_name(input.dtype)}': got {input.dtype.name}, "
            f"accepted are int64 and floating dtypes; convert the input, as by .float()"
        )
    plain = all(type(x) in (int, float) for x in (alpha, beta, k)) and input.is_floating_point()
    if plain and has_kernel("fused_response_norm", input):
        return fused_response_norm(input, size, float(alpha), float(beta), float(k))[0]
    return input / _scales(input, size, alpha, k) ** beta


def _window_sums(x: Tensor, before: int, after: int) -> Tensor:
    """Sums over channels from so many before each one to so many after it."""
    padded = constant_pad(x, (0, 0) * (x.dim() - 2) + (before, after), 0)
    C = x.shape[1]
    total = padded[:, :C]
    for i in range(1, before + after + 1):
        total = total + padded[:, i : i + C]
    return total


def _scales(x: Tensor, size: int, alpha: Any, k: Any) -> Tensor:
    """k + alpha * mean of x^2."""
    return _window_sums(x * x, size // 2, (size - 1) // 2) * (alpha / size) + k


@composite("norm", method=None)
def fused_response_norm(input: Tensor, size: int, alpha: float, beta: float, k: float) -> tuple[Tensor, Tensor]:
    """`local_response_norm` as one operator, for devices that have a kernel for it; and what the input is divided by a power of.

    >>> import tenfold
    >>> tenfold.op.fused_response_norm(tenfold.ones(1, 1, 1), 1, 3.0, 1.0, 1.0)
    (tensor([[[0.2500]]]), tensor([[[4.]]]))
    """
    x = widened(input)
    scales = _scales(x, size, alpha, k)
    return (x / scales**beta).to(input.dtype), scales.detach()


@composite("norm", method=None)
def fused_response_norm_grad(
    grad: Tensor, input: Tensor, scales: Tensor, size: int, alpha: float, beta: float, k: float
) -> Tensor:
    """The gradient of `fused_response_norm` for its input; the body computes the scales again.

    >>> import tenfold
    >>> x = tenfold.ones(1, 1, 1)
    >>> _, scales = tenfold.op.fused_response_norm(x, 1, 3.0, 1.0, 1.0)
    >>> tenfold.op.fused_response_norm_grad(x, x, scales, 1, 3.0, 1.0, 1.0)
    tensor([[[-0.1250]]])
    """
    x, g = widened(input), widened(grad)
    d = _scales(x, size, alpha, k)
    around = _window_sums(g * x * d ** (-beta - 1), (size - 1) // 2, size // 2)
    return (g * d**-beta - 2 * alpha * beta / size * x * around).to(input.dtype)


@composite("norm", method=None, out=True)
def normalize(input: Tensor, p: Any = 2.0, dim: Any = 1, eps: float | Tensor = 1e-12) -> Tensor:
    """x / max(norm(x), eps) along a dimension, with the p-norm.

    >>> import tenfold
    >>> tenfold.op.normalize(tenfold.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    if type(dim) is int and -input.dim() <= dim < input.dim() and in_one_pass(input, p, eps):
        return fused_scaled_rows(input.movedim(dim, -1), float(p), "unit", float(eps))[0].movedim(-1, dim)
    return input / tf.norm(input, p, dim, keepdim=True).clamp_min(eps).expand(input.shape)
