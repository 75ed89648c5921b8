"""What the kinds of normalization share: statistics, scales, gradients of normalized rows."""

from __future__ import annotations

from typing import Any

from tenfold.nn.arguments import widened
from tenfold.tensor.tensor import Tensor


def normalized(x: Tensor, dims: Any, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) rstd, mean and rstd = 1 / sqrt(var + eps), sizes kept."""
    mean = x.mean(dims, True)
    centered = x - mean
    rstd = ((centered * centered).mean(dims, True) + eps).rsqrt()
    return centered * rstd, mean, rstd


def affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, dtype: Any) -> Tensor:
    if weight is not None:
        x = x * widened(weight)
    if bias is not None:
        x = x + widened(bias)
    return x if x.dtype is dtype else x.to(dtype)


def rows_grad(h: Tensor, y: Tensor, rstd: Tensor, dims: Any) -> Tensor:
    """The gradient of x where y = (x - mean) rstd and h is the gradient of y."""
    return (h - h.mean(dims, True) - y * (h * y).mean(dims, True)) * rstd
