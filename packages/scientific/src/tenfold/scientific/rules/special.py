"""Gradients of the special functions.

Source: NIST Digital Library of Mathematical Functions, chapters 5, 7, 8, 10 and 25.
"""

# ruff: noqa: PLW0108  a rule is read by the names of its parameters, so it needs a lambda of its own
from __future__ import annotations

from math import pi, sqrt
from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient, gradients
from tenfold.ops.pointwise.several import where


def refuse(name: str) -> Any:
    """The gradient of what has no derivative in closed form: an error for whoever asks, in place of no gradient."""
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


gradient(op.lgamma, input=lambda g, input: g * op.digamma(input))
gradient(op.digamma, input=lambda g, input: g * op.polygamma(input, 1))
gradient(op.polygamma, input=lambda g, input, n: g * op.polygamma(input, n + 1))
gradient(op.i0, input=lambda g, input: g * op.special_i1(input))
gradient(op.special_i0e, input=lambda g, input, out: g * (op.special_i1e(input) - input.sgn() * out))
gradient(op.special_erfcx, input=lambda g, input, out: g * (2 * input * out - 2 / sqrt(pi)))
gradient(op.special_ndtri, input=lambda g, out: g * (sqrt(2 * pi) * (0.5 * out * out).exp()))
gradient(op.special_log_ndtr, input=lambda g, input: g / op.special_erfcx(input * -sqrt(0.5)) * sqrt(2 / pi))
gradient(
    op.special_zeta,
    input=lambda g: refuse("zeta"),
    other=lambda g, input, other: g * -input * op.special_zeta(input + 1, other),
)
gradient(op.igamma, input=lambda g: refuse("igamma: input"), other=lambda g, input, other: g * _gamma_density(input, other))
gradient(op.igammac, input=lambda g: refuse("igammac: input"), other=lambda g, input, other: -g * _gamma_density(input, other))
gradient(
    op.special_xlog1py,
    input=lambda g, input, other: _masked_log(g, input, other),
    other=lambda g, input, other: g * (input / (other + 1)),
)


def _gamma_density(a: Any, x: Any) -> Any:
    return ((a - 1) * x.log() - x - op.lgamma(a)).exp()


def _masked_log(g: Any, input: Any, other: Any) -> Any:
    other = other if hasattr(other, "_array") else op.full_like(input, other)
    return g * where((input == 0) & (other <= -1), 0, other.log1p())


def _over_input(value: Any, input: Any, limit: float) -> Any:
    """value / input, `limit` at 0."""
    at_zero = input == 0
    return where(at_zero, limit, value / where(at_zero, 1, input))


@gradients(op.special_i1, "input")
def _(g: Any, needs: Any, input: Any, out: Any) -> Any:
    return (g * (op.i0(input) - _over_input(out, input, 0.5)),)


@gradients(op.special_i1e, "input")
def _(g: Any, needs: Any, input: Any, out: Any) -> Any:
    return (g * (op.special_i0e(input) - input.sgn() * out - _over_input(out, input, 0.5)),)


@gradients(op.special_entr, "input")
def _(g: Any, needs: Any, input: Any) -> Any:
    inside = -where(input > 0, input, 1).log() - 1
    outside = where(input == 0, float("inf"), input.detach() * float("nan"))  # of two numbers it would have the default dtype
    return (g * where(input > 0, inside, outside),)


@gradients(op.mantissa_exponent, "input", node="FrexpBackward0", results=(0,))
def _(g: Any, needs: Any, out1: Any) -> Any:
    return (g[0] / out1.to(g[0].dtype).exp2(),)
