"""Layer, batch, group and root-mean-square normalization and their gradients.

Rows are worked on in blocks that stay in the cache; sums over rows and columns are matrix-vector products.
Each gradient uses the same identity: for y = (x - mean) / std and the gradient h of y,
the gradient of x is (h - mean(h) - y mean(h y)) / std.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.blocks import row_blocks
from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.ops import norm as ops
from tenfold.nn.window import Sizes

Array = np.ndarray[Any, Any]

SMALL_BYTES = 1 << 14


def _split(shape: Sizes, normalized_ndim: int) -> tuple[Sizes, int]:
    """The leading sizes and the number of elements that are normalized together."""
    at = len(shape) - normalized_ndim
    return shape[:at], prod(shape[at:])


@array_kernel()
def fused_layer_norm(
    input: Array, normalized_ndim: int, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions; also mean and 1 / sqrt(var + eps)."""
    if input.nbytes <= SMALL_BYTES and normalized_ndim == 1 and input.shape[-1]:
        return _small_layer_norm(input, weight, bias, eps)
    lead, D = _split(input.shape, normalized_ndim)
    x = input.reshape(prod(lead), D)
    out = np.empty(x.shape, x.dtype)
    mean, rstd = np.empty((2, len(x)), x.dtype)
    factors = None if weight is None else weight.reshape(D)
    terms = None if bias is None else bias.reshape(D)
    for part in row_blocks(len(x), D * x.itemsize):
        y = out[part]
        mean[part], rstd[part] = _center(x[part], y, eps)
        y *= rstd[part, None]
        if factors is not None:
            y *= factors
        if terms is not None:
            y += terms
    shape = (*lead, *[1] * normalized_ndim)
    return out.reshape(input.shape), mean.reshape(shape), rstd.reshape(shape)


def _small_layer_norm(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Array, Array, Array]:
    """The same in as few array operations as possible, which is what counts on small inputs."""
    D = x.shape[-1]
    mean = np.add.reduce(x, -1, keepdims=True)
    mean /= D
    out = x - mean
    rstd = np.vecdot(out, out)[..., None]
    rstd /= D
    rstd += eps
    np.sqrt(rstd, out=rstd)
    np.reciprocal(rstd, out=rstd)
    out *= rstd
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return out, mean, rstd


def _center(x: Array, out: Array, eps: float) -> tuple[Array, Array]:
    """Write x - mean of each row to `out`; return the means and 1 / sqrt(variance + eps)."""
    D = x.shape[1]
    mean = _row_means(x)
    np.subtract(x, mean[:, None], out=out)
    variance = np.vecdot(out, out)
    variance /= D
    return mean, 1 / np.sqrt(variance + eps)


def _row_means(x: Array) -> Array:
    means = x @ np.ones(x.shape[1], x.dtype)
    means /= x.shape[1]
    return means


@array_kernel(rounded=3)
def fused_layer_norm_grad(
    grad: Array, input: Array, mean: Array, rstd: Array, normalized_ndim: int, weight: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """The gradients of `fused_layer_norm` for input, weight and bias (the last two of the normalized shape)."""
    lead, D = _split(input.shape, normalized_ndim)
    rows = prod(lead)
    g2, x2 = grad.reshape(rows, D), input.reshape(rows, D)
    centers, scales = mean.reshape(rows, 1), rstd.reshape(rows, 1)
    factors = None if weight is None else weight.reshape(D)
    out = np.empty((rows, D), grad.dtype)
    g_weight, g_bias = np.zeros(D, grad.dtype), np.zeros(D, grad.dtype)
    for part in row_blocks(rows, D * grad.itemsize):
        y = x2[part] - centers[part]
        y *= scales[part]
        ones = np.ones(len(y), grad.dtype)
        g_bias += ones @ g2[part]
        products = np.multiply(g2[part], y, out=out[part])
        g_weight += ones @ products
        _row_gradient(g2[part], y, products, factors, scales[part], out[part])
    shape = input.shape[len(lead) :]
    return out.reshape(input.shape), g_weight.reshape(shape), g_bias.reshape(shape)


def _row_gradient(grad: Array, y: Array, products: Array, weight: Array | None, rstd: Array, out: Array) -> None:
    """Write the gradient of rows y = (x - mean) rstd, then scaled by `weight`, to `out`; `y` is used up.

    `products` is grad y, and may be `out`.
    """
    D = grad.shape[1]
    mix = np.full(D, 1 / D, grad.dtype) if weight is None else weight / D
    along = (products @ mix)[:, None]
    mean = (grad @ mix)[:, None]
    y *= along
    y += mean
    np.subtract(grad if weight is None else np.multiply(grad, weight, out=out), y, out=out)
    out *= rstd


@array_kernel()
def fused_rms_norm(input: Array, normalized_ndim: int, weight: Array | None, eps: float) -> tuple[Array, Array]:
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions; also 1 / sqrt(mean(x^2) + eps)."""
    lead, D = _split(input.shape, normalized_ndim)
    x = input.reshape(prod(lead), D)
    out = np.empty(x.shape, x.dtype)
    rstd = np.empty(len(x), x.dtype)
    for part in row_blocks(len(x), D * x.itemsize):
        squares = np.vecdot(x[part], x[part])
        rstd[part] = 1 / np.sqrt(squares / D + eps)
        np.multiply(x[part], rstd[part, None], out=out[part])
        if weight is not None:
            out[part] *= weight.reshape(D)
    return out.reshape(input.shape), rstd.reshape(*lead, *[1] * normalized_ndim)


@array_kernel(rounded=2)
def fused_rms_norm_grad(
    grad: Array, input: Array, rstd: Array, normalized_ndim: int, weight: Array | None, eps: float
) -> tuple[Array, Array]:
    """The gradients of `fused_rms_norm` for input and weight (of the normalized shape)."""
    lead, D = _split(input.shape, normalized_ndim)
    rows = prod(lead)
    g2, x2, scales = grad.reshape(rows, D), input.reshape(rows, D), rstd.reshape(rows, 1)
    out = np.empty((rows, D), grad.dtype)
    g_weight = np.zeros(D, grad.dtype)
    mix = np.full(D, 1 / D, grad.dtype) if weight is None else weight.reshape(D) / D
    for part in row_blocks(rows, D * grad.itemsize):
        y = x2[part] * scales[part]
        products = np.multiply(g2[part], y, out=out[part])
        g_weight += np.ones(len(y), grad.dtype) @ products
        y *= (products @ mix)[:, None]
        np.subtract(g2[part] if weight is None else g2[part] * weight.reshape(D), y, out=out[part])
        out[part] *= scales[part]
    return out.reshape(input.shape), g_weight.reshape(input.shape[len(lead) :])


def _channels(x: Array) -> Array:
    """View (N, C, *S) as (N, C, L)."""
    return x.reshape(*x.shape[:2], prod(x.shape[2:]))


def _channel_sums(x: Array) -> Array:
    """Sum (N, C, L) over N and L."""
    if x.shape[2] == 1:
        return np.asarray(np.ones(len(x), x.dtype) @ x[:, :, 0])
    return np.asarray((x @ np.ones(x.shape[2], x.dtype)).sum(0))


def _channel_dots(x: Array, y: Array) -> Array:
    """Sum the products of two (N, C, L) over N and L."""
    if x.shape[2] == 1:
        return np.asarray(np.einsum("nc,nc->c", x[:, :, 0], y[:, :, 0]))
    return np.asarray(np.vecdot(x, y).sum(0))


def _affine(x: Array, scale: Array, shift: Array, out: Array) -> None:
    """Write x * scale + shift, block by block, for (N, C, L) and per-channel or per-sample-and-channel factors (N, C)."""
    scale, shift = (np.broadcast_to(v, x.shape[:2])[..., None] for v in (scale, shift))
    for part in row_blocks(len(x), prod(x.shape[1:]) * x.itemsize):
        np.multiply(x[part], scale[part], out=out[part])
        out[part] += shift[part]


@array_kernel()
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
    x = _channels(input)
    dtype = x.dtype
    if training and 0 < x.nbytes <= SMALL_BYTES:
        return _small_batch_norm(x, weight, bias, eps, input.shape)
    if training:
        mean, variance = _batch_statistics(x)
    elif running_mean is None or running_var is None:
        raise ValueError("fused_batch_norm: outside training it needs running_mean and running_var; got None")
    else:
        mean, variance = running_mean.astype(dtype), running_var.astype(dtype)
    rstd = 1 / np.sqrt(variance + dtype.type(eps))
    scale = rstd if weight is None else rstd * weight.astype(dtype, copy=False)
    shift = -mean * scale if bias is None else bias.astype(dtype, copy=False) - mean * scale
    out = np.empty(x.shape, dtype)
    _affine(x, scale, shift, out)
    return out.reshape(input.shape), mean, variance, rstd


def _small_batch_norm(
    x: Array, weight: Array | None, bias: Array | None, eps: float, shape: Sizes
) -> tuple[Array, Array, Array, Array]:
    """Training in as few array operations as possible."""
    count = x.shape[0] * x.shape[2]
    mean = np.add.reduce(x, (0, 2))
    mean /= count
    out = x - mean[:, None]
    variance = np.add.reduce(np.vecdot(out, out), 0)
    variance /= count
    rstd = 1 / np.sqrt(variance + x.dtype.type(eps))
    out *= (rstd if weight is None else rstd * weight)[:, None]
    if bias is not None:
        out += bias[:, None]
    return out.reshape(shape), mean, variance, rstd


def _batch_statistics(x: Array) -> tuple[Array, Array]:
    count = x.shape[0] * x.shape[2]
    mean = _channel_sums(x) / x.dtype.type(count)
    squares = np.zeros(x.shape[1], x.dtype)
    for part in row_blocks(len(x), prod(x.shape[1:]) * x.itemsize):
        centered = x[part] - mean[:, None]
        squares += _channel_dots(centered, centered)
    return mean, squares / x.dtype.type(count)


@array_kernel(rounded=3)
def fused_batch_norm_grad(
    grad: Array, input: Array, weight: Array | None, mean: Array, rstd: Array, training: bool, eps: float
) -> tuple[Array, Array, Array]:
    """The gradients of `fused_batch_norm` for input, weight and bias, from the statistics it returned."""
    g3, x = _channels(grad), _channels(input)
    g_bias = _channel_sums(g3)
    g_weight = np.zeros(x.shape[1], grad.dtype)
    for part in row_blocks(len(x), prod(x.shape[1:]) * x.itemsize):
        g_weight += _channel_dots(g3[part], x[part] - mean[:, None])
    g_weight *= rstd
    scale = rstd if weight is None else rstd * weight.astype(grad.dtype, copy=False)
    out = np.empty(x.shape, grad.dtype)
    if not training:
        np.multiply(g3, scale[:, None], out=out)
    else:
        count = max(1, x.shape[0] * x.shape[2])
        slope = -scale * g_weight * rstd / grad.dtype.type(count)
        level = -scale * g_bias / grad.dtype.type(count) - slope * mean
        _combine(g3, x, scale, slope, level, out)
    return out.reshape(input.shape), g_weight, g_bias


def _combine(grad: Array, x: Array, scale: Array, slope: Array, level: Array, out: Array) -> None:
    """Write grad * scale + x * slope + level for (N, C, L) arrays and factors (C,) or (N, C)."""
    factors = [np.broadcast_to(v, x.shape[:2])[..., None] for v in (scale, slope, level)]
    for part in row_blocks(len(x), prod(x.shape[1:]) * x.itemsize):
        scales, slopes, levels = (f[part] for f in factors)
        term = x[part] * slopes
        term += levels
        np.multiply(grad[part], scales, out=out[part])
        out[part] += term


@array_kernel()
def fused_group_norm(
    input: Array, num_groups: int, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """Normalize each sample of (N, C, *S) over groups of channels and S; also mean and 1 / sqrt(var + eps), (N, G)."""
    x = _channels(input)
    (N, C), G = x.shape[:2], num_groups
    rows = x.reshape(N * G, C // G * x.shape[2])
    mean, rstd = np.empty((2, N * G), x.dtype)
    for part in row_blocks(len(rows), rows.shape[1] * x.itemsize):
        mean[part], rstd[part] = _center(rows[part], np.empty(rows[part].shape, x.dtype), eps)
    scale = rstd.reshape(N, G).repeat(C // G, 1)
    if weight is not None:
        scale *= weight
    shift = -mean.reshape(N, G).repeat(C // G, 1) * scale
    if bias is not None:
        shift += bias
    out = np.empty(x.shape, x.dtype)
    _affine(x, scale, shift, out)
    return out.reshape(input.shape), mean.reshape(N, G), rstd.reshape(N, G)


@array_kernel(rounded=3)
def fused_group_norm_grad(
    grad: Array, input: Array, mean: Array, rstd: Array, num_groups: int, weight: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """The gradients of `fused_group_norm` for input, weight and bias, from the statistics it returned."""
    g3, x = _channels(grad), _channels(input)
    (N, C, L), G = x.shape, num_groups
    centers, scales = (v.reshape(N, G).repeat(C // G, 1) for v in (mean, rstd))
    sums = g3 @ np.ones(L, grad.dtype)  # (N, C)
    dots = np.empty((N, C), grad.dtype)
    for part in row_blocks(N, C * L * grad.itemsize):
        dots[part] = np.vecdot(g3[part], x[part] - centers[part, :, None])
    dots *= scales
    g_weight, g_bias = dots.sum(0), sums.sum(0)
    if weight is not None:
        sums, dots = sums * weight, dots * weight
    count = max(1, C // G * L)
    along, level = (v.reshape(N, G, C // G).sum(2).repeat(C // G, 1) / grad.dtype.type(count) for v in (dots, sums))
    slope = -along * scales * scales
    out = np.empty(x.shape, grad.dtype)
    _combine(g3, x, scales if weight is None else scales * weight, slope, -level * scales - slope * centers, out)
    return out.reshape(input.shape), g_weight, g_bias


for _function in (
    fused_layer_norm, fused_layer_norm_grad, fused_rms_norm, fused_rms_norm_grad,
    fused_batch_norm, fused_batch_norm_grad, fused_group_norm, fused_group_norm_grad,
):  # fmt: skip
    kernel(getattr(ops, _function.__name__), device="cpu")(_function)
