"""Normalization over the last dimensions: layer norm and root-mean-square norm."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import ints, require_floating, require_same_dtype, widened
from tenfold.nn.ops.norm.statistics import affine, normalized, rows_grad
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import float32
from tenfold.types.numeric_limits import finfo


@composite("norm", accepts={"input": "floating"}, method=None)
def fused_layer_norm(
    input: Tensor, normalized_ndim: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Layer norm over the last dimensions, with the mean and 1 / sqrt(var + eps) that it used.

    >>> import tenfold
    >>> tenfold.op.fused_layer_norm(tenfold.tensor([1.0, 3.0]), 1, None, None, 0.0)[1]
    tensor([2.])
    """
    y, mean, rstd = normalized(widened(input), _last(normalized_ndim), eps)
    return affine(y, weight, bias, input.dtype), mean, rstd


def _last(n: int) -> list[int]:
    return list(range(-n, 0))


@composite("norm", accepts={"input": "floating"}, method=None)
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
    y, _, rstd = normalized(widened(input), dims, eps)
    g = widened(grad)
    lead = list(range(input.dim() - normalized_ndim))
    h = g if weight is None else g * widened(weight)
    g_input = rows_grad(h, y, rstd, dims)
    g_weight, g_bias = (_sum(v, lead) for v in (g * y, g))
    return g_input.to(grad.dtype), g_weight, g_bias


def _sum(x: Tensor, dims: list[int]) -> Tensor:
    return x.sum(dims) if dims else x


@composite("norm", accepts={"input": "floating"}, method=None)
def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05
) -> Tensor:
    """Layer norm: (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions.

    Shape: (*, *normalized_shape) -> the same; weight and bias (*normalized_shape). Dtype: floating.
    Raises: RuntimeError when the last sizes are not `normalized_shape`.
    Source: Ba, Kiros and Hinton, "Layer Normalization", 2016, equation 4.

    >>> import tenfold
    >>> tenfold.op.layer_norm(tenfold.tensor([1.0, 3.0]), (2,), eps=0.0)
    tensor([-1.,  1.])
    """
    require_floating("layer_norm", input)
    n = _check_normalized_shape("layer_norm", input, normalized_shape, weight, bias)
    require_same_dtype("layer_norm", input, weight, bias)
    return fused_layer_norm(input, n, weight, bias, eps)[0]


def _check_normalized_shape(name: str, input: Tensor, normalized_shape: Any, weight: Any, bias: Any) -> int:
    sizes = ints(normalized_shape, f"{name}: normalized_shape")
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
    return affine(x * rstd, weight, None, input.dtype), rstd


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
    return g_input.to(grad.dtype), _sum(g * y, list(range(input.dim() - normalized_ndim)))


@composite("norm", accepts={"input": "floating complex"}, method=None)
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """Root-mean-square norm: x / sqrt(mean(x^2) + eps) * weight over the last dimensions; eps None: the dtype's,
    float32's for half precision.

    Shape: (*, *normalized_shape) -> the same; weight (*normalized_shape). Dtype: floating or complex.
    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019, equation 4.

    >>> import tenfold
    >>> tenfold.rms_norm(tenfold.tensor([3.0, 4.0]), (2,), eps=0.0)
    tensor([0.8485, 1.1314])
    """
    require_floating("rms_norm", input, also="c")
    n = _check_normalized_shape("rms_norm", input, normalized_shape, weight, None)
    if eps is None:
        eps = finfo(float32 if input.dtype.is_half else input.dtype).eps
    if input.dtype.is_complex:
        y = input / ((input * input).mean(_last(n), True) + eps).sqrt()
        return y if weight is None else y * weight
    return fused_rms_norm(input, n, weight, eps)[0]
