"""Slopes of units as one operator: where a device has a kernel for it, a unit's backward pass is one pass.

Everywhere else they are the formulas themselves, which are also what second derivatives are made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.dispatch.operators import composite
from tenfold.dispatch.runtime import STATE
from tenfold.nn.ops.units.curves import SELU_ALPHA, SELU_SCALE, near_zero, softplus, wide
from tenfold.ops.creation.like import ones_like
from tenfold.ops.indexing.joining import cat
from tenfold.ops.pointwise.several import where
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import bool_

Slope = Callable[[Tensor, Tensor, float, float], Tensor]


def _piece(g: Tensor, input: Tensor) -> Tensor:
    """The gradient of straight pieces: where a graph is made it depends on the input, with derivative 0."""
    return where(ones_like(input, dtype=bool_), g, input) if STATE.grad_enabled else g


def _between(g: Tensor, x: Tensor, low: float, high: float) -> Tensor:
    wider = wide(x)
    return _piece(g.masked_fill((wider <= low) | (wider >= high), 0), x)


def _hardswish(g: Tensor, input: Tensor, a: float, b: float) -> Tensor:
    """g times x / 3 + 1 / 2 between -3 and 3, 0 below whatever g is; of half precision in float32, as the sum cancels there."""
    x = wide(input)
    near = x.masked_fill(~(x.abs() < 3), 0) if STATE.grad_enabled else x  # an infinite g meets no second derivative outside
    return where(x <= -3, 0.0, where(x < 3, g * (near / 3 + 0.5), g)).to(g.dtype)


def _mish(g: Tensor, input: Tensor, a: float, b: float) -> Tensor:
    """With t = tanh(softplus(x)): g (t + x sigmoid(x) (1 - t^2)), as one factor, so that an infinite g stays infinite."""
    x = wide(input)
    t = softplus(x).tanh()
    return (g * (t + x * x.sigmoid() * (1 - t * t))).to(g.dtype)


def _exponential(g: Tensor, input: Tensor, alpha: float, steepness: float) -> Tensor:
    """Of alpha (exp(steepness x) - 1) below 0, and of x above; its own slope at 0 is 0."""
    x = wide(input)
    slope = where(x < 0, x * steepness, 0).exp() * (alpha * steepness)
    return where(x <= 0, g * slope, g).to(g.dtype)


def _softplus(g: Tensor, input: Tensor, beta: float, threshold: float) -> Tensor:
    """g sigmoid(beta x), and g itself where beta x > threshold."""
    scaled = wide(input) * beta
    linear = scaled > threshold
    return where(linear, g, g * scaled.masked_fill(linear, 0).sigmoid()).to(g.dtype)


def _softsign(g: Tensor, input: Tensor, a: float, b: float) -> Tensor:
    """Of x / (1 + |x|) by its parts: infinite inputs have none, as in PyTorch."""
    x, wider = wide(input), wide(g)
    whole = x.abs() + 1
    return (wider / whole - wider * (x / whole / whole) * x.sign()).to(g.dtype)


# Of each unit its gradient from that of the result and the input; a and b are the unit's numbers.
SLOPES: dict[str, Slope] = {
    "threshold": lambda g, x, a, b: _piece(g.masked_fill(wide(x) <= a, 0), x),
    "hardtanh": _between,  # at the limits 0, unlike clamp
    "leaky_relu": lambda g, x, a, b: _piece(where(x > 0, g, g * a), x),
    "shrink": lambda g, x, a, b: _piece(g.masked_fill(near_zero(x, a), 0), x),
    "hardsigmoid": lambda g, x, a, b: _piece(where((x > -3) & (x < 3), g / 6, 0.0), x),
    "hardswish": _hardswish,
    "logsigmoid": lambda g, x, a, b: g * (-x).sigmoid(),
    "mish": _mish,
    "elu": _exponential,
    "selu": lambda g, x, a, b: _exponential(g * SELU_SCALE, x, SELU_ALPHA, 1.0),
    "softplus": _softplus,
    "softsign": _softsign,
}


def slope(kind: str, grad: Tensor, input: Tensor, a: Any = 0.0, b: Any = 0.0) -> Tensor:
    """The gradient of a unit for its input, in one pass where the device has a kernel for it."""
    key = input._key
    one_pass = key.level is None and not key.override and key.kernels.fused_unit_grad is not None
    if one_pass and grad._key is key and all(isinstance(n, (int, float)) for n in (a, b)):
        return fused_unit_grad(grad, input, kind, float(a), float(b))
    return SLOPES[kind](grad, input, a, b)


@composite("units", method=None, rounded_once=False)
def fused_unit_grad(grad: Tensor, input: Tensor, kind: str, a: float, b: float) -> Tensor:
    """The gradient of a unit (`SLOPES`) for its input, from that of its result.

    >>> import tenfold
    >>> tenfold.op.fused_unit_grad(tenfold.ones(2), tenfold.tensor([-1.0, 1.0]), "leaky_relu", 0.5, 0.0)
    tensor([0.5000, 1.0000])
    """
    return SLOPES[kind](grad, input, a, b)


@composite("units", method=None, rounded_once=False)
def fused_prelu_grad(grad: Tensor, input: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of `prelu` for its input and its weight.

    >>> import tenfold
    >>> tenfold.op.fused_prelu_grad(tenfold.ones(2), tenfold.tensor([-1.0, 2.0]), tenfold.tensor([0.5]))
    (tensor([0.5000, 1.0000]), tensor([-1.]))
    """
    x, g, w, positive = wide(input), wide(grad), wide(weight), input > 0
    slopes = w.reshape((-1,) + (1,) * (x.dim() - 2)) if x.dim() > 1 else w.reshape(())
    to_weight = where(positive, 0, g * where(positive, 0, x))
    dims = [d for d in range(x.dim()) if d != 1 or weight.numel() == 1]
    to_weight = to_weight.sum(dims) if dims else to_weight
    return where(positive, g, g * slopes).to(input.dtype), to_weight.reshape(weight.shape).to(input.dtype)


@composite("units", method=None)
def fused_glu_grad(grad: Tensor, input: Tensor, dim: int) -> Tensor:
    """The gradient of `glu` for its input: g s and g a s (1 - s), of the halves a and b, with s = sigmoid(b).

    >>> import tenfold
    >>> tenfold.op.fused_glu_grad(tenfold.ones(1), tenfold.tensor([2.0, 0.0]), 0)
    tensor([0.5000, 0.5000])
    """
    half = input.shape[dim] // 2
    x = wide(input)
    opened = x.narrow(dim, half, half).sigmoid()
    first = wide(grad) * opened
    return cat([first, first * (x.narrow(dim, 0, half) * (1 - opened))], dim).to(grad.dtype)
