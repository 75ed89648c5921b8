"""Gradients of layers' units in closed form; the other units are composites of elementwise operators."""

# ruff: noqa: PLW0108  a rule is read by the names of its parameters, so it needs a lambda of its own
from __future__ import annotations

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.dispatch.runtime import STATE
from tenfold.nn.ops.units.curves import near_zero, softplus, wide
from tenfold.nn.ops.units.gates import gelu_backward, silu_backward
from tenfold.ops.creation.like import ones_like
from tenfold.ops.pointwise.several import where
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import bool_


def _hardswish_gradient(g: Tensor, input: Tensor) -> Tensor:
    """g times x / 3 + 1 / 2 between -3 and 3, 0 below whatever g is; of half precision in float32, as the sum cancels there."""
    x = wide(input)
    near = x.masked_fill(~(x.abs() < 3), 0) if STATE.grad_enabled else x  # an infinite g meets no second derivative outside
    return where(x <= -3, 0.0, where(x < 3, g * (near / 3 + 0.5), g)).to(g.dtype)


def _piece(g: Tensor, input: Tensor) -> Tensor:
    """The gradient of straight pieces: where a graph is made it depends on the input, with derivative 0."""
    return where(ones_like(input, dtype=bool_), g, input) if STATE.grad_enabled else g


gradient(op.threshold, input=lambda g, input, threshold: _piece(g.masked_fill(wide(input) <= threshold, 0), input))


def _between(g: Tensor, x: Tensor, low: float, high: float) -> Tensor:
    return g.masked_fill((x <= low) | (x >= high), 0)


gradient(
    op.hardtanh,  # at the limits 0, unlike clamp
    node="HardtanhBackward0",
    input=lambda g, input, min_val, max_val: _piece(_between(g, wide(input), min_val, max_val), input),
)


gradient(op.leaky_relu, input=lambda g, input, negative_slope: _piece(where(input > 0, g, g * negative_slope), input))


gradient(op.hardshrink, input=lambda g, input, lambd: _piece(g.masked_fill(near_zero(input, lambd), 0), input))


gradient(op.softshrink, input=lambda g, input, lambd: _piece(g.masked_fill(near_zero(input, lambd), 0), input))


gradient(op.hardsigmoid, input=lambda g, input: _piece(where((input > -3) & (input < 3), g / 6, 0.0), input))


gradient(op.gelu, input=lambda g, input, approximate: gelu_backward(g, input, approximate))


gradient(op.silu, input=lambda g, input: silu_backward(g, input))


gradient(op.logsigmoid, node="LogSigmoidBackward0", input=lambda g, input: g * (-input).sigmoid())


gradient(op.hardswish, input=_hardswish_gradient)


def _mish_gradient(g: Tensor, input: Tensor) -> Tensor:
    """With t = tanh(softplus(x)): g (t + x sigmoid(x) (1 - t^2)), as one factor, so that an infinite g stays infinite."""
    x = wide(input)
    t = softplus(x).tanh()
    return (g * (t + x * x.sigmoid() * (1 - t * t))).to(g.dtype)


gradient(op.mish, input=_mish_gradient)


def _exponential(g: Tensor, input: Tensor, alpha: float, steepness: float) -> Tensor:
    """Of alpha (exp(steepness x) - 1) below 0, and of x above; its own slope at 0 is 0."""
    x = wide(input)
    slope = where(x < 0, x * steepness, 0).exp() * (alpha * steepness)
    return where(x <= 0, g * slope, g).to(g.dtype)


gradient(op.elu, input=lambda g, input, alpha: _exponential(g, input, alpha, 1.0))
gradient(op.celu, input=lambda g, input, alpha: _exponential(g, input, alpha, 1 / alpha))
