"""Units that gate: a number times a share of it that the number itself, or another half of the tensor, opens."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.nn.ops.units.curves import HALF_BYTES, hardtanh, softplus
from tenfold.ops.activation import inplace_on_demand
from tenfold.tensor.tensor import Tensor

_FUNCTION: dict[str, Any] = {"method": None, "inplace": True}


@composite("units", accepts="floating", out="same", **_FUNCTION)
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Gaussian error linear unit: input * Phi(input); with "tanh" an approximation of it.

    Source: Hendrycks and Gimpel, 2016, https://arxiv.org/abs/1606.08415.

    >>> import tenfold
    >>> from tenfold.nn.ops.units.gates import gelu
    >>> gelu(tenfold.tensor([-1.0, 1.0]))
    tensor([-0.1587,  0.8413])
    """
    if approximate == "none":
        return input * 0.5 * (1 + (input * sqrt(0.5)).erf())
    if approximate == "tanh":
        return input * 0.5 * (1 + _gelu_argument(input).tanh())
    raise RuntimeError(f"gelu: approximate argument must be either none or tanh, got {approximate!r}")


def _gelu_argument(x: Tensor) -> Tensor:
    return (x + 0.044715 * x * x * x) * sqrt(2 / pi)


@composite("units", accepts="floating", method=None)
def gelu_backward(grad_output: Tensor, input: Tensor, approximate: str = "none") -> Tensor:
    """The gradient of `gelu`: grad_output * (Phi(input) + input * phi(input)), or that of the approximation.

    >>> import tenfold
    >>> tenfold.gelu_backward(tenfold.tensor([1.0]), tenfold.tensor([0.0]))
    tensor([0.5000])
    """
    x = input
    if approximate == "none":
        density = (x * x * -0.5).exp() * (1 / sqrt(2 * pi))
        return grad_output * (0.5 * (1 + (x * sqrt(0.5)).erf()) + x * density)
    t = _gelu_argument(x).tanh()
    slope = (1 + 3 * 0.044715 * x * x) * sqrt(2 / pi)
    return grad_output * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope)


@inplace_on_demand
@composite("units", accepts="floating complex", **_FUNCTION)
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Sigmoid linear unit, or swish: input * sigmoid(input).

    Source: Elfwing, Uchibe and Doya, 2017, https://arxiv.org/abs/1702.03118.

    >>> import tenfold
    >>> from tenfold.nn.ops.units.gates import silu
    >>> silu(tenfold.tensor([-1.0, 1.0]))
    tensor([-0.2689,  0.7311])
    """
    return input * input.sigmoid()


@composite("units", method=None)
def silu_backward(grad_output: Tensor, input: Tensor) -> Tensor:
    """The gradient of `silu`: with s = sigmoid(input), grad_output * s * (1 + input * (1 - s)).

    >>> import tenfold
    >>> tenfold.silu_backward(tenfold.tensor([1.0]), tenfold.tensor([0.0]))
    tensor([0.5000])
    """
    s = input.sigmoid()
    return grad_output * (s * (1 + input * (1 - s)))


@inplace_on_demand
@composite("units", accepts="floating", **_FUNCTION)
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * tanh(softplus(input)).

    Source: Misra, 2019, https://arxiv.org/abs/1908.08681.

    >>> import tenfold
    >>> from tenfold.nn.ops.units.gates import mish
    >>> mish(tenfold.tensor([1.0]))
    tensor([0.8651])
    """
    if input._array.dtype.itemsize == HALF_BYTES:
        return mish(input.float()).to(input.dtype)
    return input * softplus(input).tanh()


@inplace_on_demand
@composite("units", accepts="floating", **_FUNCTION)
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * hardsigmoid(input).

    Source: Howard et al., "Searching for MobileNetV3", 2019, https://arxiv.org/abs/1905.02244.

    >>> import tenfold
    >>> from tenfold.nn.ops.units.gates import hardswish
    >>> hardswish(tenfold.tensor([-4.0, 1.0]))
    tensor([-0.0000,  0.6667])
    """
    return input * hardtanh(input + 3, 0, 6) / 6


@composite("units", accepts="floating", method=None)
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Gated linear unit: the first half along `dim` times the sigmoid of the second.

    Source: Dauphin et al., 2016, https://arxiv.org/abs/1612.08083.

    >>> import tenfold
    >>> from tenfold.nn.ops.units.gates import glu
    >>> glu(tenfold.tensor([2.0, 0.0]))
    tensor([1.])
    """
    dim, size = _halves(input.shape, dim)
    lead = (slice(None),) * dim
    return input[(*lead, slice(0, size // 2))] * input[(*lead, slice(size // 2, size))].sigmoid()


def _halves(shape: Any, dim: int) -> tuple[int, int]:
    """The dimension, counted from the front, and its size; RuntimeError where it has no halves."""
    if not shape:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = wrap_dim(dim, len(shape), "glu")
    if shape[dim] % 2:
        raise RuntimeError(f"glu: Halving dimension must be even, but dimension {dim} is size {shape[dim]}")
    return dim, shape[dim]


@glu.rule
def _(input: Any, dim: int) -> Meta:
    dim, size = _halves(input.shape, dim)
    return Meta((*input.shape[:dim], size // 2, *input.shape[dim + 1 :]), input.dtype)
