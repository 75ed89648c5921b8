"""Layer and root-mean-square normalization and their gradients.

Rows are worked on in blocks that stay in the cache; sums over rows and columns are matrix-vector products. Each gradient uses
the same identity: for y = (x - mean) / std and the gradient h of y, the gradient of x is (h - mean(h) - y mean(h y)) / std.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.blocks import row_blocks
from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import HALF_BYTES, array_kernel
from tenfold.nn.cpu.norm.sums import PIECE, column_sums, exact_row_sums, is_far, row_dots, row_sums, settled
from tenfold.nn.ops.norm import layer as ops
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
        if input.shape[-1] > SHORT:
            return _small_layer_norm(input, weight, bias, eps)
        out, mean, spread = _short_rows(input, weight, bias, eps)  # the same numbers whether a gradient is wanted or not
        return out, mean[..., :1].astype(input.dtype), np.reciprocal(spread[..., :1])
    lead, D = _split(input.shape, normalized_ndim)
    x = input.reshape(prod(lead), D)
    out = np.empty(x.shape, x.dtype)
    mean, rstd = np.empty((2, len(x)), x.dtype)
    factors = None if weight is None else weight.reshape(D)
    terms = None if bias is None else bias.reshape(D)
    for part in row_blocks(len(x), D * x.itemsize):
        y = out[part]
        mean[part], rstd[part] = center(x[part], y, eps)
        y *= rstd[part, None]
        if factors is not None:
            y *= factors
        if terms is not None:
            y += terms
    shape = (*lead, *[1] * normalized_ndim)
    return out.reshape(input.shape), mean.reshape(shape), rstd.reshape(shape)


@kernel(ops.layer_norm, device="cpu")
@quiet
def layer_norm(input: Array, normalized_shape: Any, weight: Array | None, bias: Array | None, eps: float) -> Any:
    """Rows of a small array, where no gradient is wanted; all else is the body's business."""
    shape = input.shape[-1:]
    if normalized_shape not in (shape, list(shape)) or not 0 < input.nbytes <= SMALL_BYTES or input.itemsize == HALF_BYTES:
        return NotImplemented
    for given in (weight, bias):
        if given is not None and (given.shape != shape or given.dtype != input.dtype):
            return NotImplemented
    return _small_layer_norm(input, weight, bias, eps)[0] if shape[0] > SHORT else _short_rows(input, weight, bias, eps)[0]


def _short_rows(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Array, Array, Array]:
    """The normalized rows, and the means and deviations in place of each of their elements."""
    exact, ones, count = _sums_of_short_rows(x.shape[-1], x.dtype)
    mean = x.astype(np.float64).dot(exact)
    mean /= count
    out = np.subtract(x, mean.astype(x.dtype))
    spread = np.multiply(out, out).dot(ones)
    spread /= count
    spread += eps
    out /= np.sqrt(spread, spread)
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return out, mean, spread


SHORT = 24


@lru_cache(maxsize=64)
def _sums_of_short_rows(D: int, dtype: np.dtype[Any]) -> tuple[Array, Array, Array]:
    """Matrices that put a row's sum in place of each element, where broadcasting would take three times as long; and D."""
    return np.ones((D, D)), np.ones((D, D), dtype), np.array(D, dtype)


def _small_layer_norm(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Array, Array, Array]:
    """The same in as few array operations as possible, which is what counts on small inputs."""
    D = x.shape[-1]
    mean = (exact_row_sums(x) / D).astype(x.dtype)[..., None]
    out = np.subtract(x, mean, order="C")
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


def center(x: Array, out: Array, eps: float) -> tuple[Array, Array]:
    """Write x - mean of each row to `out`; return the means and 1 / sqrt(variance + eps)."""
    D = x.shape[1]
    mean = (row_sums(x) / D).astype(x.dtype, copy=False)
    np.subtract(x, mean[:, None], out=out)
    variance = row_dots(out, out) / D
    if is_far(mean, variance):
        left = row_sums(out) / D
        mean, variance = settled(mean, left, variance)
        out -= left[:, None]
    return mean, 1 / np.sqrt(variance + eps)


@array_kernel()
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
    g_weight, g_bias = np.zeros((2, D))
    for part in row_blocks(rows, D * grad.itemsize):
        y = x2[part] - centers[part]
        y *= scales[part]
        g_bias += column_sums(g2[part])
        products = np.multiply(g2[part], y, out=out[part])
        g_weight += column_sums(products)
        _row_gradient(g2[part], y, products, factors, scales[part], out[part])
    shape = input.shape[len(lead) :]
    g_weight, g_bias = (g.astype(grad.dtype).reshape(shape) for g in (g_weight, g_bias))
    return out.reshape(input.shape), g_weight, g_bias


def _row_gradient(grad: Array, y: Array, products: Array, weight: Array | None, rstd: Array, out: Array) -> None:
    """Write the gradient of rows y = (x - mean) rstd, then scaled by `weight`, to `out`; `y` is used up.

    `products` is grad y, and may be `out`.
    """
    D = grad.shape[1]
    mix = np.full(D, 1 / D, grad.dtype) if weight is None else weight / D
    along, mean = ((row_sums(x * mix) if D > PIECE else x @ mix)[:, None] for x in (products, grad))
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
        squares = row_dots(x[part], x[part])
        rstd[part] = 1 / np.sqrt(squares / D + eps)
        np.multiply(x[part], rstd[part, None], out=out[part])
        if weight is not None:
            out[part] *= weight.reshape(D)
    return out.reshape(input.shape), rstd.reshape(*lead, *[1] * normalized_ndim)


@array_kernel()
def fused_rms_norm_grad(
    grad: Array, input: Array, rstd: Array, normalized_ndim: int, weight: Array | None, eps: float
) -> tuple[Array, Array]:
    """The gradients of `fused_rms_norm` for input and weight (of the normalized shape)."""
    lead, D = _split(input.shape, normalized_ndim)
    rows = prod(lead)
    g2, x2, scales = grad.reshape(rows, D), input.reshape(rows, D), rstd.reshape(rows, 1)
    out = np.empty((rows, D), grad.dtype)
    g_weight = np.zeros(D)
    mix = np.full(D, 1 / D, grad.dtype) if weight is None else weight.reshape(D) / D
    for part in row_blocks(rows, D * grad.itemsize):
        y = x2[part] * scales[part]
        products = np.multiply(g2[part], y, out=out[part])
        g_weight += column_sums(products)
        y *= (row_sums(products * mix) if D > PIECE else products @ mix)[:, None]
        np.subtract(g2[part] if weight is None else g2[part] * weight.reshape(D), y, out=out[part])
        out[part] *= scales[part]
    return out.reshape(input.shape), g_weight.astype(grad.dtype).reshape(input.shape[len(lead) :])


for _function in (fused_layer_norm, fused_layer_norm_grad, fused_rms_norm, fused_rms_norm_grad):
    kernel(getattr(ops, _function.__name__), device="cpu")(_function)
