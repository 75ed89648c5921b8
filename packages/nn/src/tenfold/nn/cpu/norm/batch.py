"""Batch normalization and its gradient; channels are worked on in blocks that stay in the cache."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.blocks import row_blocks
from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.cpu.norm.sums import column_sums, is_far, row_dots, row_sums, settled
from tenfold.nn.ops.norm import batch as ops
from tenfold.nn.window import Sizes

Array = np.ndarray[Any, Any]

SMALL_BYTES = 1 << 14


def channels(x: Array) -> Array:
    """View (N, C, *S) as (N, C, L)."""
    return x.reshape(*x.shape[:2], prod(x.shape[2:]))


def _channel_sums(x: Array) -> Array:
    """Sum (N, C, L) over N and L."""
    if x.shape[2] == 1:
        return column_sums(x[:, :, 0])
    return np.asarray(row_sums(x).sum(0, dtype=np.float64))


def _channel_dots(x: Array, y: Array) -> Array:
    """Sum the products of two (N, C, L) over N and L."""
    if x.shape[2] == 1:
        return column_sums(x[:, :, 0] * y[:, :, 0])
    return np.asarray(row_dots(x, y).sum(0, dtype=np.float64))


# A mean of more than this many standard deviations is taken off first: x scale + shift would round x scale.
FAR = 100


def affine(x: Array, mean: Array, rstd: Array, scale: Array, bias: Array | None, out: Array) -> None:
    """Write (x - mean) scale + bias, block by block, for (N, C, L) and factors (C,) or, by sample and channel, (N, C)."""
    far = bool((np.abs(mean) * rstd > FAR).any())
    shift = bias if far else -mean * scale if bias is None else bias - mean * scale
    means, scales = (np.broadcast_to(v, x.shape[:2])[..., None] for v in (mean, scale))
    shifts = None if shift is None else np.broadcast_to(shift, x.shape[:2])[..., None]
    for part in row_blocks(len(x), prod(x.shape[1:]) * x.itemsize):
        block = np.subtract(x[part], means[part], out=out[part]) if far else x[part]
        np.multiply(block, scales[part], out=out[part])
        if shifts is not None:
            out[part] += shifts[part]


@array_kernel(laid_out=1, held=True)
def fused_batch_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    eps: float,
) -> tuple[Array, Array, Array, Array]:
    """Normalize each channel of (N, C, *S) over N and S in training, else by the running statistics.

    Also returns the mean, the biased variance and 1 / sqrt(var + eps) that were used; the running statistics are the
    caller's to update.
    """
    x = channels(input)
    dtype = x.dtype
    if training and not x.size:
        mean, variance = np.zeros((2, x.shape[1]), dtype)
    elif training and x.nbytes <= SMALL_BYTES:
        return _small_batch_norm(x, weight, bias, eps, input.shape)
    elif training:
        mean, variance = _batch_statistics(x)
    elif running_mean is None or running_var is None:
        raise ValueError("fused_batch_norm: outside training it needs running_mean and running_var; got None")
    else:
        mean, variance = running_mean.astype(dtype), running_var.astype(dtype)
    rstd = 1 / np.sqrt(variance + dtype.type(eps))
    scale = rstd if weight is None else rstd * weight.astype(dtype, copy=False)
    out = np.empty(x.shape, dtype)
    affine(x, mean, rstd, scale, None if bias is None else bias.astype(dtype, copy=False), out)
    return out.reshape(input.shape), mean, variance, rstd


def _small_batch_norm(
    x: Array, weight: Array | None, bias: Array | None, eps: float, shape: Sizes
) -> tuple[Array, Array, Array, Array]:
    """Training in as few array operations as possible."""
    count = x.shape[0] * x.shape[2]
    mean = (np.add.reduce(x, (0, 2), np.float64) / count).astype(x.dtype)
    out = np.subtract(x, mean[:, None], order="C")
    variance = np.add.reduce(np.vecdot(out, out), 0)
    variance /= count
    rstd = 1 / np.sqrt(variance + x.dtype.type(eps))
    out *= (rstd if weight is None else rstd * weight)[:, None]
    if bias is not None:
        out += bias[:, None]
    return out.reshape(shape), mean, variance, rstd


def _batch_statistics(x: Array) -> tuple[Array, Array]:
    count = x.shape[0] * x.shape[2]
    mean = (_channel_sums(x) / count).astype(x.dtype)
    squares, left = np.zeros((2, x.shape[1]))
    blocks = list(row_blocks(len(x), prod(x.shape[1:]) * x.itemsize))
    for part in blocks:
        centered = x[part] - mean[:, None]
        squares += _channel_dots(centered, centered)
    variance = squares / count
    if is_far(mean, variance):
        for part in blocks:
            left += _channel_sums(x[part] - mean[:, None])
        mean, variance = settled(mean, left / count, variance)
    return mean.astype(x.dtype, copy=False), variance.astype(x.dtype)


@array_kernel(laid_out=1)
def fused_batch_norm_grad(
    grad: Array, input: Array, weight: Array | None, mean: Array, rstd: Array, training: bool, eps: float
) -> tuple[Array, Array, Array]:
    """The gradients of `fused_batch_norm` for input, weight and bias, from the statistics it returned."""
    g3, x = channels(grad), channels(input)
    g_bias = _channel_sums(g3)
    g_weight = np.zeros(x.shape[1])
    for part in row_blocks(len(x), prod(x.shape[1:]) * x.itemsize):
        g_weight += _channel_dots(g3[part], x[part] - mean[:, None])
    g_weight, g_bias = (g_weight * rstd).astype(grad.dtype), g_bias.astype(grad.dtype)
    scale = rstd if weight is None else rstd * weight.astype(grad.dtype, copy=False)
    out = np.empty(x.shape, grad.dtype)
    if not training:
        np.multiply(g3, scale[:, None], out=out)
    else:
        count = max(1, x.shape[0] * x.shape[2])
        slope = -scale * g_weight * rstd / grad.dtype.type(count)
        level = -scale * g_bias / grad.dtype.type(count) - slope * mean
        combine(g3, x, scale, slope, level, out)
    return out.reshape(input.shape), g_weight, g_bias


def combine(grad: Array, x: Array, scale: Array, slope: Array, level: Array, out: Array) -> None:
    """Write grad * scale + x * slope + level for (N, C, L) arrays and factors (C,) or (N, C)."""
    factors = [np.broadcast_to(v, x.shape[:2])[..., None] for v in (scale, slope, level)]
    for part in row_blocks(len(x), prod(x.shape[1:]) * x.itemsize):
        scales, slopes, levels = (f[part] for f in factors)
        term = x[part] * slopes
        term += levels
        np.multiply(grad[part], scales, out=out[part])
        out[part] += term


for _function in (fused_batch_norm, fused_batch_norm_grad):
    kernel(getattr(ops, _function.__name__), device="cpu")(_function)
