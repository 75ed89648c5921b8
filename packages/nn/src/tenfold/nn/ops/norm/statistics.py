"""What the kinds of normalization share: statistics, scales, gradients of normalized rows."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.nn.arguments import widened
from tenfold.tensor.tensor import Tensor


def normalized(x: Tensor, dims: Any, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) rstd, mean and rstd = 1 / sqrt(var + eps), sizes kept."""
    mean, centered = centered_rows(x, dims)
    rstd = ((centered * centered).mean(dims, True) + eps).rsqrt()
    return centered * rstd, mean, rstd


def centered_rows(x: Tensor, dims: Any) -> tuple[Tensor, Tensor]:
    """The mean, and x without it. What rounding the mean leaves over goes too: of a constant row nothing must be left."""
    mean = x.mean(dims, True)
    centered = x - mean
    left = centered.mean(dims, True)
    return tf.where(left.isnan(), mean, mean + left), centered - left  # an infinite mean leaves no number over


def affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, dtype: Any) -> Tensor:
    if weight is not None:
        x = x * widened(weight)
    if bias is not None:
        x = x + widened(bias)
    return x if x.dtype is dtype else x.to(dtype)


def rows_grad(h: Tensor, y: Tensor, rstd: Tensor, dims: Any) -> Tensor:
    """The gradient of x where y = (x - mean) rstd and h is the gradient of y."""
    return (h - h.mean(dims, True) - y * (h * y).mean(dims, True)) * rstd
