"""Gradients of layers' units in closed form; the other units are composites of elementwise operators."""

# ruff: noqa: PLW0108  a rule is read by the names of its parameters, so it needs a lambda of its own
from __future__ import annotations

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.dispatch.runtime import STATE
from tenfold.nn.ops.units import HALF_BYTES, gelu_backward, near_zero, silu_backward
from tenfold.ops.creation.like import ones_like
from tenfold.ops.pointwise.several import where
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import bool_


def _wide(x: Tensor) -> Tensor:
    """Half precision in float32: a limit beside which a number lies may not be rounded to it."""
    return x.float() if x._array.dtype.itemsize == HALF_BYTES else x


def _hardswish_slope(x: Tensor) -> Tensor:
    """x / 3 + 1 / 2 between -3 and 3; of half precision in float32, since it cancels near its zero."""
    x = _wide(x)
    return where(x <= -3, 0.0, where(x < 3, x / 3 + 0.5, 1.0))


def _piece(g: Tensor, input: Tensor) -> Tensor:
    """The gradient of straight pieces: where a graph is made it depends on the input, with derivative 0."""
    return where(ones_like(input, dtype=bool_), g, input) if STATE.grad_enabled else g


gradient(op.threshold, input=lambda g, input, threshold: _piece(g.masked_fill(_wide(input) <= threshold, 0), input))


def _between(g: Tensor, x: Tensor, low: float, high: float) -> Tensor:
    return g.masked_fill((x <= low) | (x >= high), 0)


gradient(
    op.hardtanh,  # at the limits 0, unlike clamp
    node="HardtanhBackward0",
    input=lambda g, input, min_val, max_val: _piece(_between(g, _wide(input), min_val, max_val), input),
)


gradient(op.leaky_relu, input=lambda g, input, negative_slope: _piece(where(input > 0, g, g * negative_slope), input))


gradient(op.hardshrink, input=lambda g, input, lambd: _piece(g.masked_fill(near_zero(input, lambd), 0), input))


gradient(op.softshrink, input=lambda g, input, lambd: _piece(g.masked_fill((input >= -lambd) & (input <= lambd), 0), input))


gradient(op.hardsigmoid, input=lambda g, input: _piece(where((input > -3) & (input < 3), g / 6, 0.0), input))


gradient(op.gelu, input=lambda g, input, approximate: gelu_backward(g, input, approximate))


gradient(op.silu, input=lambda g, input: silu_backward(g, input))


gradient(op.logsigmoid, node="LogSigmoidBackward0", input=lambda g, input: g * (-input).sigmoid())


gradient(op.hardswish, input=lambda g, input: (g * _hardswish_slope(input)).to(g.dtype))
