"""Normalization over features, channels and groups."""

from __future__ import annotations

from math import prod
from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.ops.loss import refuse_gradients
from tenfold.nn.ops.padding import constant_pad
from tenfold.nn.ops.sizes import widened
from tenfold.tensor.tensor import Tensor
from tenfold.types.numeric_limits import finfo


def _normalized(x: Tensor, dims: Any, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) rstd, mean and rstd = 1 / sqrt(var + eps), sizes kept."""
    mean = x.mean(dims, True)
    centered = x - mean
    rstd = ((centered * centered).mean(dims, True) + eps).rsqrt()
    return centered * rstd, mean, rstd


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, dtype: Any) -> Tensor:
    if weight is not None:
        x = x * widened(weight)
    if bias is not None:
        x = x + widened(bias)
    return x if x.dtype is dtype else x.to(dtype)


def _rows_grad(h: Tensor, y: Tensor, rstd: Tensor, dims: Any) -> Tensor:
    """The gradient of x where y = (x - mean) rstd and h is the gradient of y."""
    return (h - h.mean(dims, True) - y * (h * y).mean(dims, True)) * rstd


@composite("norm", method=None)
def fused_layer_norm(
    input: Tensor, normalized_ndim: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Layer norm over the last dimensions, with the mean and 1 / sqrt(var + eps) that it used.

    >>> import tenfold
    >>> tenfold.op.fused_layer_norm(tenfold.tensor([1.0, 3.0]), 1, None, None, 0.0)[1]
    tensor([2.])
    """
    y, mean, rstd = _normalized(widened(input), _last(normalized_ndim), eps)
    return _affine(y, weight, bias, input.dtype), mean, rstd


def _last(n: int) -> list[int]:
    return list(range(-n, 0))


@composite("norm", method=None)
def fused_layer_norm_grad(
    grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, normalized_ndim: int, weight: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of `fused_layer_norm` for input, weight and bias.

    The body computes the statistics again, so that they take part when it is differentiated itself.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0, 3.0])
    >>> _, mean, rstd = tenfold.op.fused_layer_norm(x, 1, None, None, 0.0)
    >>> tenfold.op.fused_layer_norm_grad(tenfold.tensor([1.0, 0.0]), x, mean, rstd, 1, None, 0.0)[2]
    tensor([1., 0.])
    """
    dims = _last(normalized_ndim)
    y, _, rstd = _normalized(widened(input), dims, eps)
    g = widened(grad)
    lead = list(range(input.dim() - normalized_ndim))
    h = g if weight is None else g * widened(weight)
    g_input = _rows_grad(h, y, rstd, dims)
    g_weight, g_bias = (_sum(v, lead) for v in (g * y, g))
    return g_input.to(grad.dtype), g_weight.to(grad.dtype), g_bias.to(grad.dtype)


def _sum(x: Tensor, dims: list[int]) -> Tensor:
    return x.sum(dims) if dims else x


@composite("norm", method=None)
def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05
) -> Tensor:
    """Layer norm: (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions.

    Shape: (*, *normalized_shape) -> the same; weight and bias (*normalized_shape). Dtype: floating.
    Raises: RuntimeError when the last sizes are not `normalized_shape`.
    Source: Ba, Kiros and Hinton, "Layer Normalization", 2016, equation 4.

    >>> import tenfold
    >>> tenfold.layer_norm(tenfold.tensor([1.0, 3.0]), (2,), eps=0.0)
    tensor([-1.,  1.])
    """
    n = _check_normalized_shape("layer_norm", input, normalized_shape, weight, bias)
    return fused_layer_norm(input, n, weight, bias, eps)[0]


def _check_normalized_shape(name: str, input: Tensor, normalized_shape: Any, weight: Any, bias: Any) -> int:
    sizes = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    shape = input._array.shape
    if not sizes:
        raise RuntimeError(
            f"{name}: Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            f"element, but got normalized_shape = []"
        )
    for what, given in (("weight", weight), ("bias", bias)):
        if given is not None and given._array.shape != sizes:
            raise RuntimeError(
                f"{name}: Expected {what} to be of same shape as normalized_shape, but got {what} of shape "
                f"{list(given.shape)} and normalized_shape = {list(sizes)}"
            )
    if shape[-len(sizes) :] != sizes:
        raise RuntimeError(
            f"{name}: Given normalized_shape={list(sizes)}, expected input with shape [*, {', '.join(map(str, sizes))}], "
            f"but got input of size {list(shape)}"
        )
    return len(sizes)


@composite("norm", method=None)
def fused_rms_norm(input: Tensor, normalized_ndim: int, weight: Tensor | None, eps: float) -> tuple[Tensor, Tensor]:
    """Root-mean-square norm over the last dimensions, with the 1 / sqrt(mean(x^2) + eps) that it used.

    >>> import tenfold
    >>> tenfold.op.fused_rms_norm(tenfold.tensor([1.0, 7.0]), 1, None, 0.0)[1]
    tensor([0.2000])
    """
    x = widened(input)
    rstd = _inverse_rms(x, normalized_ndim, eps)
    return _affine(x * rstd, weight, None, input.dtype), rstd


def _inverse_rms(x: Tensor, normalized_ndim: int, eps: float) -> Tensor:
    return ((x * x).mean(_last(normalized_ndim), True) + eps).rsqrt()


@composite("norm", method=None)
def fused_rms_norm_grad(
    grad: Tensor, input: Tensor, rstd: Tensor, normalized_ndim: int, weight: Tensor | None, eps: float
) -> tuple[Tensor, Tensor]:
    """The gradients of `fused_rms_norm` for input and weight; the body computes `rstd` again.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0, 7.0])
    >>> _, rstd = tenfold.op.fused_rms_norm(x, 1, None, 0.0)
    >>> tenfold.op.fused_rms_norm_grad(tenfold.tensor([1.0, 1.0]), x, rstd, 1, None, 0.0)[1]
    tensor([0.2000, 1.4000])
    """
    x, g, dims = widened(input), widened(grad), _last(normalized_ndim)
    rstd = _inverse_rms(x, normalized_ndim, eps)
    y = x * rstd
    h = g if weight is None else g * widened(weight)
    g_input = (h - y * (h * y).mean(dims, True)) * rstd
    return g_input.to(grad.dtype), _sum(g * y, list(range(input.dim() - normalized_ndim))).to(grad.dtype)


@composite("norm", method=None)
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """Root-mean-square norm: x / sqrt(mean(x^2) + eps) * weight over the last dimensions; eps None: the dtype's.

    Shape: (*, *normalized_shape) -> the same; weight (*normalized_shape). Dtype: floating or complex.
    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019, equation 4.

    >>> import tenfold
    >>> tenfold.rms_norm(tenfold.tensor([3.0, 4.0]), (2,), eps=0.0)
    tensor([0.8485, 1.1314])
    """
    n = _check_normalized_shape("rms_norm", input, normalized_shape, weight, None)
    if eps is None:
        eps = finfo(input.dtype).eps
    if input.dtype.is_complex:
        y = input / ((input * input).mean(_last(n), True) + eps).sqrt()
        return y if weight is None else y * weight
    return fused_rms_norm(input, n, weight, eps)[0]


@composite("norm", method=None)
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
    y = (x - _along_channels(mean, x)) * _along_channels(rstd, x)
    weight, bias = (None if v is None else _along_channels(v, x) for v in (weight, bias))
    return _affine(y, weight, bias, input.dtype), mean, var, rstd


def _but_channels(x: Tensor) -> list[int]:
    return [0, *range(2, x.dim())]


def _channel_statistics(x: Tensor) -> tuple[Tensor, Tensor]:
    mean = x.mean(_but_channels(x))
    centered = x - _along_channels(mean, x)
    return mean, (centered * centered).mean(_but_channels(x))


def _along_channels(v: Tensor, x: Tensor) -> Tensor:
    return v.view(-1, *[1] * (x.dim() - 2))


@composite("norm", method=None)
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
    dims, scale = _but_channels(x), _along_channels(rstd, x)
    y = (x - _along_channels(mean, x)) * scale
    h = g if weight is None else g * _along_channels(widened(weight), x)
    g_input = _rows_grad(h, y, scale, dims) if training else h * scale
    return g_input.to(grad.dtype), (g * y).sum(dims).to(grad.dtype), g.sum(dims).to(grad.dtype)


@composite("norm", method=None)
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
    >>> tenfold.batch_norm(tenfold.tensor([[1.0], [3.0]]), None, None, training=True, eps=0.0)
    tensor([[-1.],
            [ 1.]])
    """
    shape = input._array.shape
    if len(shape) < 2 and not input.numel():
        return input.clone()
    _check_channels("batch_norm", shape, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if training:
        values_per_channel("batch_norm", shape)
    elif running_mean is None or running_var is None:
        raise RuntimeError("batch_norm: Expected running_mean and running_var to be defined when training=False")
    if running_mean is not None or running_var is not None:
        refuse_gradients("batch_norm", running_mean=running_mean, running_var=running_var)
    out, mean, var, _ = fused_batch_norm(input, weight, bias, running_mean, running_var, training, eps)
    if training and (running_mean is not None or running_var is not None):
        update_statistics(running_mean, running_var, mean, var, momentum, prod(shape) // max(1, shape[1]))
    return out


def values_per_channel(name: str, shape: tuple[int, ...]) -> None:
    """Training on a single value per channel makes no sense: ValueError."""
    if len(shape) > 1 and shape[0] * prod(shape[2:]) == 1:
        raise ValueError(f"{name}: Expected more than 1 value per channel when training, got input size {list(shape)}")


def _check_channels(name: str, shape: tuple[int, ...], **vectors: Any) -> None:
    if len(shape) < 2:
        raise RuntimeError(f"{name}: expected an input of at least 2 dimensions (N, C, *), got {list(shape)}")
    for what, v in vectors.items():
        if v is not None and v._array.shape != (shape[1],):
            raise RuntimeError(
                f"{name}: {what} should contain {shape[1]} elements not {v.numel()} (input of shape {list(shape)})"
            )


def update_statistics(running_mean: Any, running_var: Any, mean: Tensor, var: Tensor, momentum: float, count: int) -> None:
    """Move the running statistics towards the batch's, the variance made unbiased."""
    with tf.no_grad():
        if running_mean is not None:
            running_mean.mul_(1 - momentum).add_(mean.detach() * momentum)
        if running_var is not None:
            running_var.mul_(1 - momentum).add_(var.detach() * (momentum * count / max(1, count - 1)))


@composite("norm", method=None)
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
    >>> tenfold.instance_norm(tenfold.tensor([[[1.0, 3.0]]]), eps=0.0)
    tensor([[[-1.,  1.]]])
    """
    shape = tuple(input.shape)
    _check_channels("instance_norm", shape, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if use_input_stats and len(shape) > 2 and prod(shape[2:]) == 1:
        raise ValueError(f"instance_norm: Expected more than 1 spatial element when training, got input size {list(shape)}")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("instance_norm: Expected running_mean and running_var to be defined when use_input_stats is false")
    if running_mean is not None or running_var is not None:
        refuse_gradients("instance_norm", running_mean=running_mean, running_var=running_var)
    N, C = shape[:2]
    given = [None if v is None else v.expand(N, C).reshape(N * C) for v in (weight, bias, running_mean, running_var)]
    out, mean, var, _ = fused_batch_norm(input.reshape(1, N * C, *shape[2:]), *given, use_input_stats, eps)
    if use_input_stats and (running_mean is not None or running_var is not None):
        means, variances = mean.detach().view(N, C).mean(0), var.detach().view(N, C).mean(0)
        update_statistics(running_mean, running_var, means, variances, momentum, prod(shape[2:]))
    return out.reshape(shape)


@composite("norm", method=None)
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
    y, mean, rstd = _normalized(groups, [2], eps)
    y = y.reshape(x.shape)
    weight, bias = (None if v is None else _along_channels(v, x) for v in (weight, bias))
    return _affine(y, weight, bias, input.dtype), mean.squeeze(2), rstd.squeeze(2)


@composite("norm", method=None)
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
    y, _, rstd = _normalized(x.reshape(rows), [2], eps)
    h = g if weight is None else g * _along_channels(widened(weight), x)
    g_input = _rows_grad(h.reshape(rows), y, rstd, [2]).reshape(x.shape)
    dims = _but_channels(x)
    return g_input.to(grad.dtype), (g * y.reshape(x.shape)).sum(dims).to(grad.dtype), g.sum(dims).to(grad.dtype)


@composite("norm", method=None)
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05
) -> Tensor:
    """Group norm: each sample normalized over groups of channels and all positions.

    Shape: (N, C, *S) -> the same; weight and bias (C). Raises: RuntimeError when num_groups does not divide C.
    Source: Wu and He, "Group Normalization", 2018.

    >>> import tenfold
    >>> tenfold.group_norm(tenfold.tensor([[1.0, 3.0]]), 1, eps=0.0)
    tensor([[-1.,  1.]])
    """
    shape = input._array.shape
    _check_channels("group_norm", shape, weight=weight, bias=bias)
    if num_groups <= 0 or shape[1] % num_groups:
        raise RuntimeError(
            f"group_norm: Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={num_groups}"
        )
    return fused_group_norm(input, num_groups, weight, bias, eps)[0]


@composite("norm", method=None)
def local_response_norm(input: Tensor, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0) -> Tensor:
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
    C = input.shape[1]
    squares = constant_pad(input * input, (0, 0) * (input.dim() - 2) + (size // 2, (size - 1) // 2), 0)
    total = squares[:, :C]
    for i in range(1, size):
        total = total + squares[:, i : i + C]
    return input / (total * (alpha / size) + k) ** beta


@composite("norm", method=None, out=True)
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """x / max(norm(x), eps) along a dimension, with the p-norm.

    >>> import tenfold
    >>> tenfold.op.normalize(tenfold.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    return input / tf.norm(input, p, dim, keepdim=True).clamp_min(eps).expand(input.shape)
