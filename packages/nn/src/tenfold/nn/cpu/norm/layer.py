"""Layer and root-mean-square normalization and their gradients.

Rows are worked on in blocks that stay in the cache; sums over rows and columns are matrix-vector products. Each gradient uses
the same identity: for y = (x - mean) / std and the gradient h of y, the gradient of x is (h - mean(h) - y mean(h y)) / std.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from tenfold.cpu.blocks import row_blocks
from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import HALF_BYTES, array_kernel
from tenfold.nn.cpu.norm.sums import PIECE, column_sums, exact_row_means, is_far, row_dots, row_sums, settled
from tenfold.nn.ops.norm import layer as ops
from tenfold.nn.window import Sizes

Array = np.ndarray[Any, Any]

SMALL_BYTES = 1 << 14
INTS = {int}


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
        short = (ROWS32 if input.dtype == F32 else ROWS64)[input.shape] if eps > 0 else None
        if short is None:
            return _small_layer_norm(input, weight, bias, eps)
        spreads: list[Array] = []
        out = _short_rows(input, short, weight, bias, eps, spreads)  # the same numbers whether a gradient is wanted or not
        return out, exact_row_means(input), np.divide(short.scale, spreads[0][..., :1])
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
    dtype, shape = input.dtype, input.shape
    short = ROWS32[shape] if dtype is F32 else ROWS64[shape] if dtype is F64 else None
    sizes = shape[-1:] if short is None else short[0]
    if (normalized_shape != sizes and normalized_shape != list(sizes)) or {*map(type, normalized_shape)} != INTS:
        return NotImplemented  # so for what only equals an int
    if weight is not None and (weight.dtype is not dtype or weight.shape != sizes):
        return NotImplemented
    if bias is not None and (bias.dtype is not dtype or bias.shape != sizes):
        return NotImplemented
    if short is not None and eps > 0:
        return _short_rows(input, short, weight, bias, eps)
    small = 0 < input.nbytes <= SMALL_BYTES and input.itemsize != HALF_BYTES
    return _small_layer_norm(input, weight, bias, eps)[0] if small else NotImplemented


class _Filled(dict[float, Array]):
    """Small arrays of one shape that hold a number, scaled, everywhere, which NumPy adds sooner than the number."""

    most = 2

    def __init__(self, shape: Sizes, dtype: Any, scale: float) -> None:
        super().__init__()
        self.shape, self.dtype, self.scale = shape, dtype, scale

    def __missing__(self, number: float) -> Array:
        if len(self) >= self.most:
            self.clear()
        filled = self[number] = np.full(self.shape, number * self.scale, self.dtype)
        return filled


class _Short(NamedTuple):
    """What normalizes short rows without broadcasting, which takes three times as long: matrices, and places of columns."""

    sizes: Sizes  # the last one
    dtype: Any
    scale: float  # D over the next power of two: deviations are computed times this, a multiple that needs no rounding
    center: Array  # takes the mean off each row; in float64, where sums of float32 are exact: equal elements become 0
    means: Array  # puts the mean in place of each element
    columns: Array  # of the rows' shape
    filled: _Filled  # times scale^2


class _ShortRows(dict[tuple[int, ...], Any]):
    """By the shape of a small array of short rows; None for others."""

    most, widest, largest = 256, 24, 512

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.dtype = dtype

    def __missing__(self, shape: tuple[int, ...]) -> _Short | None:
        short = None
        if shape and 0 < prod(shape) <= self.largest and (D := shape[-1]) <= self.widest:
            means = np.full((D, D), 1 / D)
            columns = np.broadcast_to(np.arange(D), shape).copy()
            power = 2.0 ** (D - 1).bit_length()
            scale, center = D / power, (D * np.eye(D) - 1) / power
            filled = _Filled(shape, self.dtype, scale * scale)
            short = _Short((D,), self.dtype, scale, center, means.astype(self.dtype), columns, filled)
        if len(self) >= self.most:
            self.clear()
        self[shape] = short
        return short


F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
ROWS32, ROWS64 = _ShortRows(F32), _ShortRows(F64)
add, divide, multiply, sqrt = np.add, np.divide, np.multiply, np.sqrt


def _short_rows(
    x: Array, short: _Short, weight: Array | None, bias: Array | None, eps: float, saved: list[Array] | None = None
) -> Array:
    """The normalized rows; `saved` gets the deviations, times `short.scale`, in place of each of their elements."""
    _, dtype, _, center, means, columns, filled = short
    out = x.dot(center).astype(dtype)
    spread = multiply(out, out).dot(means)
    add(spread, filled[eps], spread)
    divide(out, sqrt(spread, spread), out)
    if saved is not None:
        saved.append(spread)
    if weight is not None:
        multiply(out, weight[columns], out)
    if bias is not None:
        add(out, bias[columns], out)
    return out


def _small_layer_norm(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Array, Array, Array]:
    """The same in as few array operations as possible, which is what counts on small inputs."""
    D = x.shape[-1]
    mean = exact_row_means(x)
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
    mix = np.full(D, 1 / max(D, 1), grad.dtype) if weight is None else weight / D
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
    mix = np.full(D, 1 / max(D, 1), grad.dtype) if weight is None else weight.reshape(D) / max(D, 1)
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
