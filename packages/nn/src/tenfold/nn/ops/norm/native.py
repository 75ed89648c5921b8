"""Normalizations with the statistics that they used: PyTorch's names for programs that go below `nn.functional`."""

from __future__ import annotations

from collections.abc import Sequence

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.ops.norm.batch import batch_norm, fused_batch_norm
from tenfold.nn.ops.norm.group import fused_group_norm, group_norm
from tenfold.nn.ops.norm.layer import fused_layer_norm, layer_norm
from tenfold.tensor.tensor import Tensor


@composite("norm", accepts={"input": "floating"}, method=None)
def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`layer_norm`, with the mean and 1 / sqrt(var + eps) that it used; no gradient comes from these two.

    >>> import tenfold
    >>> tenfold.native_layer_norm(tenfold.tensor([[1.0, 3.0]]), (2,), None, None, 0.0)
    (tensor([[-1.,  1.]]), tensor([[2.]]), tensor([[1.]]))
    """
    out = layer_norm(input, normalized_shape, weight, bias, eps)  # refuses what does not fit
    _, mean, rstd = fused_layer_norm(input.detach(), len(tuple(normalized_shape)), None, None, eps)
    return out, *_as_parameters(input, weight, mean, rstd)


def _as_parameters(input: Tensor, weight: Tensor | None, mean: Tensor, rstd: Tensor) -> tuple[Tensor, Tensor]:
    """Statistics in the weight's dtype, in the input's without one, as PyTorch gives them."""
    dtype = input.dtype if weight is None else weight.dtype
    return mean.to(dtype), rstd.to(dtype)


@composite("norm", accepts={"input": "floating"}, method=None)
def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`group_norm` of (N, C, *S) with HxW places, with each group's mean and 1 / sqrt(var + eps): (N, group).

    >>> import tenfold
    >>> tenfold.native_group_norm(tenfold.tensor([[1.0, 3.0]]), None, None, 1, 2, 1, 1, 0.0)
    (tensor([[-1.,  1.]]), tensor([[2.]]), tensor([[1.]]))
    """
    if input.numel() != N * C * HxW:
        raise RuntimeError(f"native_group_norm: Expected N * C * HxW = {N * C * HxW} elements, got input of {list(input.shape)}")
    rows = input.reshape(N, C, HxW)
    out = group_norm(rows, group, weight, bias, eps)
    _, mean, rstd = fused_group_norm(rows.detach(), group, None, None, eps)
    return out.reshape(input.shape), *_as_parameters(input, weight, mean, rstd)


@composite("norm", accepts={"input": "floating"}, method=None)
def native_batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
    training: bool, momentum: float, eps: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """`batch_norm`, with the batch's mean and 1 / sqrt(var + eps); without `training` these two are empty.

    >>> import tenfold
    >>> tenfold.native_batch_norm(tenfold.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 0.0)[1:]
    (tensor([2.]), tensor([1.]))
    """
    out = batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return out, tf.empty(0, dtype=input.dtype, device=input.device), tf.empty(0, dtype=input.dtype, device=input.device)
    _, mean, _, rstd = fused_batch_norm(input.detach(), None, None, None, None, True, eps)
    return out, *_as_parameters(input, weight if running_mean is None else running_mean, mean, rstd)
