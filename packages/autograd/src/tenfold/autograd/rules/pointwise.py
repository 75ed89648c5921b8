"""Gradients of the elementwise operators: one line of calculus each."""

# ruff: noqa: PLW0108  a rule is read by the names of its parameters, so it needs a lambda of its own
from __future__ import annotations

import cmath
from math import log as ln, nan, pi, sqrt
from typing import Any

import numpy as np

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.autograd.rules.conjugates import conj, is_complex
from tenfold.autograd.rules.conversion import cast_back
from tenfold.ops.creation.like import zeros_like
from tenfold.ops.pointwise.arithmetic import div, mul
from tenfold.ops.pointwise.complex_numbers import complex, real, view_as_complex, view_as_real
from tenfold.ops.pointwise.several import where

F32 = np.dtype(np.float32)


def zero(g: Any) -> Any:
    return zeros_like(g)


# Arithmetic

gradient(op.add, input=lambda g: g, other=lambda g: g)
for _scaled, _node in ((op.add_scaled, "AddBackward0"), (op.sub_scaled, "SubBackward0")):
    gradient(_scaled, node=_node, input=lambda g: g, other=lambda g, alpha: g * alpha.conjugate())
gradient(op.sub, input=lambda g: g, other=lambda g: -g)
gradient(op.rsub, node="RsubBackward1", input=lambda g: -g, other=lambda g: g)
gradient(
    op.mul,  # written out: nothing is differentiated more often
    input=lambda g, other: mul(g, other) if g._array.dtype is F32 or g._array.dtype.kind == "f" else g * conj(other),
    other=lambda g, input: mul(g, input) if g._array.dtype is F32 or g._array.dtype.kind == "f" else g * conj(input),
)
gradient(op.div, input=lambda g, other: g / conj(other), other=lambda g, input, other: -g * conj(input / other / other))
gradient(op.floored_quotient, input=zero, other=zero)
gradient(op.truncated_quotient, input=zero, other=zero)
gradient(op.remainder, input=lambda g: g, other=lambda g, input, other: -g * div(input, other, rounding_mode="floor"))
gradient(op.fmod, input=lambda g: g, other=lambda g, input, other: -g * (input / other).trunc())
gradient(op.neg, input=lambda g: -g)
gradient(op.nan_to_num, input=lambda g, input: g * input.isfinite())  # NaN stays one where nothing passes
gradient(op.abs, input=lambda g, input: g * input.sgn())
gradient(op.sign, input=zero)
gradient(op.square, input=lambda g, input: g * conj(2 * input))
gradient(op.reciprocal, input=lambda g, out: -g * conj(out * out))


def _power_by_input(g: Any, input: Any, exponent: Any) -> Any:
    if not hasattr(exponent, "_array"):
        if exponent == 2 and isinstance(exponent, (int, float)):  # which `input ** 1` would copy
            return g * conj(exponent * input)
        return zeros_like(g) if exponent == 0 else g * conj(exponent * input.pow(exponent - 1))
    return where(exponent == 0, 0, g * conj(exponent * input ** (exponent - 1)))


def _power_by_exponent(g: Any, input: Any, exponent: Any, out: Any) -> Any:
    if not hasattr(input, "_array"):
        if input == 0:
            return g * where(_keeps_zero(exponent), 0, conj(out * -float("inf")))
        return g * conj(out * (cmath.log(input) if is_complex(out) else _ln(input)))
    return g * where((input == 0) & _keeps_zero(exponent), 0, conj(out * input.log()))


def _keeps_zero(exponent: Any) -> Any:
    """Whether a change of the exponent leaves a power of zero what it is: where it is real and not negative."""
    return (exponent.real >= 0) & (exponent.imag == 0) if is_complex(exponent) else exponent >= 0


def _ln(number: float) -> float:
    return ln(number) if number > 0 else float("nan")


gradient(op.pow, input=_power_by_input, exponent=_power_by_exponent)


def _sign_gradient(g: Any, input: Any, out: Any) -> Any:
    """Only the angle of a complex number changes its sgn."""
    if not is_complex(input):
        return zeros_like(g)
    across = g - out * real(conj(out) * g)
    return where(input == 0, 0, across / input.abs())


gradient(op.sgn, input=_sign_gradient)

# Exponentials, roots, trigonometry

gradient(op.exp, input=lambda g, out: g * conj(out))
gradient(op.exp2, input=lambda g, out: g * conj(out * ln(2)))
gradient(op.expm1, input=lambda g, out: g * conj(out + 1))
gradient(op.log, input=lambda g, input: g / conj(input))
gradient(op.log2, input=lambda g, input: g / conj(input * ln(2)))
gradient(op.log10, input=lambda g, input: g / conj(input * ln(10)))
gradient(op.log1p, input=lambda g, input: g / conj(input + 1))
gradient(op.sqrt, input=lambda g, out: g / conj(2 * out))
gradient(op.rsqrt, input=lambda g, out: g * conj(-0.5 * out**3))
gradient(op.sin, input=lambda g, input: g * conj(input.cos()))
gradient(op.cos, input=lambda g, input: g * conj(-input.sin()))
gradient(op.tan, input=lambda g, out: g * conj(out * out + 1))
gradient(op.asin, input=lambda g, input: g * conj((1 - input * input).rsqrt()))
gradient(op.acos, input=lambda g, input: g * conj(-((1 - input * input).rsqrt())))
gradient(op.atan, input=lambda g, input: g / conj(input * input + 1))
gradient(op.sinh, input=lambda g, input: g * conj(input.cosh()))
gradient(op.cosh, input=lambda g, input: g * conj(input.sinh()))
gradient(op.tanh, input=lambda g, out: g * conj(1 - out * out))
gradient(op.asinh, input=lambda g, input: g * conj((input * input + 1).rsqrt()))


def _acosh_gradient(g: Any, input: Any) -> Any:
    """One root for real numbers; complex ones need two, each with its own branch."""
    if is_complex(input):
        return g * conj((input - 1).rsqrt() * (input + 1).rsqrt())
    return g * ((input - 1) * (input + 1) + 0.0).rsqrt()  # at -1, where the product is -0, infinite as at 1


gradient(op.acosh, input=_acosh_gradient)
gradient(op.atanh, input=lambda g, input: g / conj(1 - input * input))
gradient(op.sigmoid, input=lambda g, out: g * conj(out * (1 - out)))


def _logit_gradient(g: Any, input: Any, eps: float | None) -> Any:
    low = 0 if eps is None else eps
    outside = (input < low) | (input > 1 - low)
    return where(outside, nan if eps is None else 0, g / (input * (1 - input)))


gradient(op.logit, input=_logit_gradient)
gradient(op.erf, input=lambda g, input: g * (2 / sqrt(pi) * (-input * input).exp()))
gradient(op.erfc, input=lambda g, input: g * (-2 / sqrt(pi) * (-input * input).exp()))
gradient(op.erfinv, input=lambda g, input: g * (sqrt(pi) / 2 * input.erfinv().square().exp()))
gradient(
    op.sinc,
    input=lambda g, input: where(input == 0, 0, g * conj(((pi * input).cos() - input.sinc()) / input)),
)
gradient(
    op.atan2,
    input=lambda g, input, other: _over_square(g * other, input, other),
    other=lambda g, input, other: _over_square(-g * input, input, other),
)
gradient(op.hypot, input=lambda g, input, out: g * (input / out), other=lambda g, other, out: g * (other / out))


def _over_square(x: Any, a: Any, b: Any) -> Any:
    """x / (a^2 + b^2), at the origin 0 however large x is."""
    square = a * a + b * b
    return x * square.reciprocal().masked_fill(square == 0, 0)


gradient(
    op.logaddexp,
    input=lambda g, input, other: g / conj(1 + (other - input).exp()),
    other=lambda g, input, other: g / conj(1 + (input - other).exp()),
)
gradient(
    op.logaddexp2,
    input=lambda g, input, other: g / (1 + (other - input).exp2()),
    other=lambda g, input, other: g / (1 + (input - other).exp2()),
)
gradient(
    op.xlogy,
    input=lambda g, input, other: _masked_log(g, input, other),
    other=lambda g, input, other: g * input / other,
)


def _masked_log(g: Any, input: Any, other: Any) -> Any:
    scaled = op.xlogy(g, other)  # in which no gradient stays none
    if not hasattr(other, "_array"):
        return scaled if other > 0 else where(input == 0, 0, scaled)
    return where((input == 0) & (other <= 0), 0, scaled)


# Rounding, limits, selection

for _rounding in (op.floor, op.ceil, op.trunc, op.round):
    gradient(_rounding, input=zero)


def _larger(g: Any, a: Any, b: Any) -> Any:
    """g where a > b (or nan takes part), half of it where they are equal."""
    return where(a == b, g / 2, where(a < b, 0, g))


gradient(
    op.maximum, input=lambda g, input, other: _larger(g, input, other), other=lambda g, input, other: _larger(g, other, input)
)
gradient(
    op.minimum, input=lambda g, input, other: _larger(g, other, input), other=lambda g, input, other: _larger(g, input, other)
)


def _taken(condition: Any, g: Any) -> Any:
    return where(condition, g, 0)


gradient(
    op.fmax,
    input=lambda g, input, other: _taken((input >= other) | other.isnan(), g),
    other=lambda g, input, other: _taken(((input >= other) | other.isnan()).logical_not(), g),
)
gradient(
    op.fmin,
    input=lambda g, input, other: _taken((input <= other) | other.isnan(), g),
    other=lambda g, input, other: _taken(((input <= other) | other.isnan()).logical_not(), g),
)
gradient(op.clamp_min, input=lambda g, input, min: _taken(input >= min, g), min=lambda g, input, min: _taken(input < min, g))
gradient(op.clamp_max, input=lambda g, input, max: _taken(input <= max, g), max=lambda g, input, max: _taken(input > max, g))
gradient(op.nextafter, input=lambda g, input, other: where(input == other, 0, g), other=zero)
gradient(op.copysign, input=lambda g, input, out: g * where(input == 0, 0, out / input), other=zero)
gradient(op.where, input=lambda g, condition: where(condition, g, 0), other=lambda g, condition: where(condition, 0, g))

gradient(op.fill, input=zero, value=lambda g, value_dtype: cast_back(g.sum(), value_dtype))
gradient(
    op.masked_fill,
    input=lambda g, mask: g.masked_fill(mask, 0),
    value=lambda g, mask, value_dtype: cast_back(where(mask, g, 0).sum(), value_dtype),
)

# Combinations

gradient(
    op.lerp,
    input=lambda g, weight: g * conj(1 - weight),
    end=lambda g, weight: g * conj(weight),
    weight=lambda g, input, end: g * conj(end - input),
)
gradient(
    op.addcmul,
    input=lambda g: g,
    tensor1=lambda g, tensor2, value: g * conj(tensor2 * value),
    tensor2=lambda g, tensor1, value: g * conj(tensor1 * value),
)
gradient(
    op.addcdiv,
    input=lambda g: g,
    tensor1=lambda g, tensor2, value: g * value / conj(tensor2),
    tensor2=lambda g, tensor1, tensor2, value: -g * value * conj(tensor1 / (tensor2 * tensor2)),
)

# Complex numbers

gradient(op.conj_physical, input=lambda g: conj(g))
gradient(op.real_part, input=lambda g: complex(g, zeros_like(g)), node="RealBackward0")
gradient(op.imag_part, input=lambda g: complex(zeros_like(g), g), node="ImagBackward0")
gradient(op.view_as_real, input=lambda g: view_as_complex(g.contiguous()))
gradient(op.view_as_complex, input=lambda g: view_as_real(g))
gradient(op.complex, real=lambda g: real(g), imag=lambda g: g.imag)


def _angle_gradient(g: Any, input: Any) -> Any:
    if not is_complex(input):
        return zeros_like(g)
    x, y = input.real, input.imag
    return complex(_over_square(-g * y, x, y), _over_square(g * x, x, y))


gradient(op.angle, input=_angle_gradient)
