"""Normalization of channels over the batch: batch norm, and instance norm as its case of one sample."""

from __future__ import annotations

from math import prod
from typing import Any

import tenfold as tf
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.runtime import STATE
from tenfold.nn.arguments import refuse_gradients, require_floating, require_same_dtype, widened
from tenfold.nn.ops.norm.statistics import affine, centered_rows, rows_grad
from tenfold.tensor.tensor import Tensor


@composite("norm", accepts={"input": "floating"}, method=None)
def fused_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Batch norm of (N, C, *S), with the mean, the biased variance and 1 / sqrt(var + eps) that it used.

    >>> import tenfold
    >>> tenfold.op.fused_batch_norm(tenfold.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.0)[1]
    tensor([2.])
    """
    x = widened(input)
    if training or running_mean is None or running_var is None:
        mean, var = _channel_statistics(x)
    else:
        mean, var = widened(running_mean), widened(running_var)
    rstd = (var + eps).rsqrt()
    y = (x - along_channels(mean, x)) * along_channels(rstd, x)
    weight, bias = (None if v is None else along_channels(v, x) for v in (weight, bias))
    return affine(y, weight, bias, input.dtype), mean, var, rstd


def but_channels(x: Tensor) -> list[int]:
    return [0, *range(2, x.dim())]


def _channel_statistics(x: Tensor) -> tuple[Tensor, Tensor]:
    if not x.numel():
        return x.sum(but_channels(x)), x.sum(but_channels(x))
    mean, centered = centered_rows(x, but_channels(x))
    return mean.reshape(-1), (centered * centered).mean(but_channels(x))


def along_channels(v: Tensor, x: Tensor) -> Tensor:
    return v.view(-1, *[1] * (x.dim() - 2))


@composite("norm", accepts={"input": "floating"}, method=None)
def fused_batch_norm_grad(
    grad: Tensor, input: Tensor, weight: Tensor | None, mean: Tensor, rstd: Tensor, training: bool, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of `fused_batch_norm` for input, weight and bias; in training the body computes mean and rstd again.

    >>> import tenfold
    >>> x = tenfold.tensor([[1.0], [3.0]])
    >>> _, mean, _, rstd = tenfold.op.fused_batch_norm(x, None, None, None, None, True, 0.0)
    >>> tenfold.op.fused_batch_norm_grad(tenfold.ones(2, 1), x, None, mean, rstd, True, 0.0)[2]
    tensor([2.])
    """
    x, g = widened(input), widened(grad)
    if training:
        mean, var = _channel_statistics(x)
        rstd = (var + eps).rsqrt()
    dims, scale = but_channels(x), along_channels(rstd, x)
    y = (x - along_channels(mean, x)) * scale
    h = g if weight is None else g * along_channels(widened(weight), x)
    g_input = rows_grad(h, y, scale, dims) if training else h * scale
    return g_input.to(grad.dtype), (g * y).sum(dims), g.sum(dims)


@composite("norm", accepts={"input": "floating"}, method=None)
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Batch norm: (x - mean) / sqrt(var + eps) * weight + bias for each channel.

    In training the statistics are the batch's, and the running ones are moved towards them by `momentum` (the variance
    unbiased); else they are the running ones. Shape: (N, C, *S) -> the same; the others (C). Dtype: floating.
    Raises: ValueError when training has one value per channel; RuntimeError when sizes do not fit.
    Source: Ioffe and Szegedy, "Batch Normalization", 2015, algorithm 1.

    >>> import tenfold
    >>> tenfold.op.batch_norm(tenfold.tensor([[1.0], [3.0]]), None, None, training=True, eps=0.0)
    tensor([[-1.],
            [ 1.]])
    """
    shape = input._array.shape
    if len(shape) < 2 and not input.numel():
        return input.clone()
    require_floating("batch_norm", input)
    check_channels("batch_norm", shape, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    require_same_dtype("batch_norm", input, running_mean, running_var, weight, bias)
    if training:
        _check_pair("batch_norm", running_mean, running_var)
        values_per_channel("batch_norm", shape)
    elif running_mean is None or running_var is None:
        raise RuntimeError("batch_norm: Expected running_mean and running_var to be defined when training=False")
    if running_mean is not None or running_var is not None:
        refuse_gradients("batch_norm", running_mean=running_mean, running_var=running_var)
        if STATE.transforms and not training:
            _refuse_tangents(input, running_mean, running_var)
    out, mean, var, _ = fused_batch_norm(input, weight, bias, running_mean, running_var, training, eps)
    if training and input.numel() and (running_mean is not None or running_var is not None):
        update_statistics(running_mean, running_var, mean, var, momentum, prod(shape) // max(1, shape[1]))
    return out


def _check_pair(name: str, running_mean: Tensor | None, running_var: Tensor | None) -> None:
    if (running_mean is None) is not (running_var is None):
        raise ValueError(f"{name}: running_mean and running_var must either both be None or neither be None")


def _refuse_tangents(input: Tensor, *statistics: Tensor | None) -> None:
    """Running statistics are constants in forward mode too: RuntimeError where they and the input have tangents."""
    from tenfold.autograd.forward_ad import has_tangent  # a level is entered, so autograd is there already

    if has_tangent(input) and any(x is not None and has_tangent(x) for x in statistics):
        raise RuntimeError(
            "batch_norm is not differentiable wrt running_mean and running_var, they cannot have forward grad defined; detach()"
        )


def values_per_channel(name: str, shape: tuple[int, ...]) -> None:
    """Training on a single value per channel makes no sense: ValueError."""
    if len(shape) > 1 and shape[0] * prod(shape[2:]) == 1:
        raise ValueError(f"{name}: Expected more than 1 value per channel when training, got input size {tf.Size(shape)}")


def check_channels(name: str, shape: tuple[int, ...], **vectors: Any) -> None:
    """Refuse inputs without channels, and vectors that do not have a value for each."""
    if len(shape) < 2:
        raise RuntimeError(f"{name}: expected an input of at least 2 dimensions (N, C, *), got {list(shape)}")
    for what, v in vectors.items():
        if v is not None and v._array.shape != (shape[1],):
            raise RuntimeError(
                f"{name}: {what} should contain {shape[1]} elements not {v.numel()} (input of shape {list(shape)})"
            )


def update_statistics(running_mean: Any, running_var: Any, mean: Tensor, var: Tensor, momentum: float, count: int) -> None:
    """Move the running statistics towards the batch's, the variance made unbiased."""
    many = getattr(mean.device.backend, "many", None)  # of a device that moves both at once
    if many is not None and many.follow((running_mean, running_var), (mean, var), momentum, count / max(1, count - 1)):
        return
    if STATE.transforms or mean.requires_grad or var.requires_grad:
        mean, var = mean.detach(), var.detach()
    with tf.no_grad():
        if running_mean is not None:
            _follow(running_mean, mean, momentum)
        if running_var is not None:
            _follow(running_var, var * (count / max(1, count - 1)), momentum)


def _follow(running: Tensor, batch: Tensor, momentum: float) -> None:
    half, wide = running.dtype, batch.dtype
    if half is wide:
        running.mul_(1 - momentum).add_(batch * momentum)
    elif half is tf.bfloat16:  # as on PyTorch's CPU every number is one, and every step is rounded
        kept, share = (float(half.numpy.type(number)) for number in (1 - momentum, momentum))
        running.mul_(kept).add_(batch.to(half) * share)
    else:
        running.copy_(running.to(wide) * (1 - momentum) + batch * momentum)


def batch_norm_update_stats(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> tuple[Tensor, Tensor]:
    """The mean and variance of each channel, towards which the running ones are moved by `momentum` (the variance unbiased).

    Shape: (N, C, *S) -> (C), (C). Raises: RuntimeError where there are no elements.

    >>> import tenfold
    >>> mean = tenfold.zeros(1)
    >>> tenfold.batch_norm_update_stats(tenfold.tensor([[1.0], [3.0]]), mean, tenfold.ones(1), 0.5)
    (tensor([2.]), tensor([1.]))
    >>> mean
    tensor([1.])
    """
    shape = input.shape
    check_channels("batch_norm_update_stats", shape, running_mean=running_mean, running_var=running_var)
    if not input.numel():
        raise RuntimeError(
            f"batch_norm_update_stats: input tensor must have at least one element, but got input_sizes = {list(shape)}"
        )
    with tf.no_grad():
        x, dims = widened(input), (0, *range(2, len(shape)))
        var, mean = tf.var(x, dims, correction=0), tf.mean(x, dims)
        update_statistics(running_mean, running_var, mean, var, momentum, prod(shape) // shape[1])
    return mean, var


@composite("norm", accepts={"input": "floating"}, method=None)
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Instance norm: batch norm of each sample by itself.

    Shape: (N, C, *S) -> the same; the others (C). Source: Ulyanov, Vedaldi and Lempitsky, "Instance Normalization", 2016.

    >>> import tenfold
    >>> tenfold.op.instance_norm(tenfold.tensor([[[1.0, 3.0]]]), eps=0.0)
    tensor([[[-1.,  1.]]])
    """
    shape = tuple(input.shape)
    require_floating("instance_norm", input)
    if use_input_stats:
        _check_pair("instance_norm", running_mean, running_var)
    check_channels("instance_norm", shape, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    require_same_dtype("instance_norm", input, running_mean, running_var, weight, bias)
    if use_input_stats and len(shape) > 1 and prod(shape[2:]) == 1:
        raise ValueError(f"instance_norm: Expected more than 1 spatial element when training, got input size {tf.Size(shape)}")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("instance_norm: Expected running_mean and running_var to be defined when use_input_stats is false")
    if running_mean is not None or running_var is not None:
        refuse_gradients("instance_norm", running_mean=running_mean, running_var=running_var)
    N, C = shape[:2]
    key = input._key
    plain = running_mean is running_var is None and not (key is CPU or key.level is not None or key.override)
    if plain and input.numel() and key.kernels.fused_group_norm is not None:  # groups of one channel each, of one pass
        return op.fused_group_norm(input, C, weight, bias, eps)[0]
    given = [None if v is None else v.expand(N, C).reshape(N * C) for v in (weight, bias, running_mean, running_var)]
    out, mean, var, _ = fused_batch_norm(input.contiguous().reshape(1, N * C, *shape[2:]), *given, use_input_stats, eps)
    if use_input_stats and (running_mean is not None or running_var is not None):
        means, variances = mean.detach().view(N, C).mean(0), var.detach().view(N, C).mean(0)
        update_statistics(running_mean, running_var, means, variances, momentum, prod(shape[2:]))
    return out.reshape(shape)
