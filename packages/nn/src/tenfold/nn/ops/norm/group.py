"""Normalization over groups of channels of each sample."""

from __future__ import annotations

from math import prod

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import require_floating, require_same_dtype, widened
from tenfold.nn.ops.norm.batch import along_channels, but_channels, check_channels
from tenfold.nn.ops.norm.statistics import affine, normalized, rows_grad
from tenfold.tensor.tensor import Tensor


@composite("norm", accepts={"input": "floating"}, method=None)
def fused_group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Group norm of (N, C, *S), with the mean and 1 / sqrt(var + eps) of each group (N, G).

    >>> import tenfold
    >>> tenfold.op.fused_group_norm(tenfold.tensor([[1.0, 3.0]]), 1, None, None, 0.0)[1]
    tensor([[2.]])
    """
    x = widened(input)
    groups = x.reshape(*x.shape[:1], num_groups, -1) if x.numel() else x.reshape(x.shape[0], num_groups, 0)
    y, mean, rstd = normalized(groups, [2], eps)
    y = y.reshape(x.shape)
    weight, bias = (None if v is None else along_channels(v, x) for v in (weight, bias))
    return affine(y, weight, bias, input.dtype), mean.squeeze(2), rstd.squeeze(2)


@composite("norm", accepts={"input": "floating"}, method=None)
def fused_group_norm_grad(
    grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, num_groups: int, weight: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of `fused_group_norm` for input, weight and bias; the body computes the statistics again.

    >>> import tenfold
    >>> x = tenfold.tensor([[1.0, 3.0]])
    >>> _, mean, rstd = tenfold.op.fused_group_norm(x, 1, None, None, 0.0)
    >>> tenfold.op.fused_group_norm_grad(tenfold.ones(1, 2), x, mean, rstd, 1, None, 0.0)[2]
    tensor([1., 1.])
    """
    x, g = widened(input), widened(grad)
    rows = (x.shape[0], num_groups, prod(x.shape[1:]) // num_groups)
    y, _, rstd = normalized(x.reshape(rows), [2], eps)
    h = g if weight is None else g * along_channels(widened(weight), x)
    g_input = rows_grad(h.reshape(rows), y, rstd, [2]).reshape(x.shape)
    dims = but_channels(x)
    return g_input.to(grad.dtype), (g * y.reshape(x.shape)).sum(dims), g.sum(dims)


@composite("norm", accepts={"input": "floating"}, method=None)
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05
) -> Tensor:
    """Group norm: each sample normalized over groups of channels and all positions.

    Shape: (N, C, *S) -> the same; weight and bias (C). Raises: RuntimeError when num_groups does not divide C.
    Source: Wu and He, "Group Normalization", 2018.

    >>> import tenfold
    >>> tenfold.op.group_norm(tenfold.tensor([[1.0, 3.0]]), 1, eps=0.0)
    tensor([[-1.,  1.]])
    """
    shape = input._array.shape
    require_floating("group_norm", input)
    check_channels("group_norm", shape, weight=weight, bias=bias)
    require_same_dtype("group_norm", input, weight, bias)
    if num_groups <= 0 or shape[1] % num_groups:
        raise RuntimeError(
            f"group_norm: Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={num_groups}"
        )
    if input.numel() == shape[0] * num_groups == num_groups:
        raise ValueError(f"group_norm: Expected more than 1 value per channel when training, got input size {tf.Size(shape)}")
    return fused_group_norm(input, num_groups, weight, bias, eps)[0]
