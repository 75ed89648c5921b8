"""Activation functions and their gradients, in blocks that stay in the cache for all of a formula's passes.

Every function makes as few passes as its formula allows and one new array; `out` is written by the blocks in place.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from tenfold.cpu.blocks import blockwise
from tenfold.cpu.erf import erf, erf_single
from tenfold.nn.cpu.array_kernel import array_kernel

Array = np.ndarray[Any, Any]

TANH_SCALE = sqrt(2 / pi)
TANH_CUBE = 0.044715
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


@array_kernel()
def gelu(input: Array, approximate: str) -> Array:
    """x Phi(x), or 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) with "tanh" (Hendrycks and Gimpel, 2016)."""
    return blockwise(_gelu_tanh if approximate == "tanh" else _gelu, input)


def _gelu(out: Array, x: Array) -> None:
    _phi(out, x)
    out *= x


def _phi(out: Array, x: Array) -> None:
    """The normal distribution function, (1 + erf(x / sqrt(2))) / 2."""
    scaled = x * x.dtype.type(sqrt(0.5))
    if x.dtype == np.float32:
        erf_single(out, scaled)
        out *= 0.5
    else:
        np.multiply(erf(scaled), 0.5, out=out)
    out += 0.5


def _gelu_tanh(out: Array, x: Array) -> None:
    """x sigmoid(2 u), which is x (1 + tanh(u)) / 2 without the cancellation at negative x."""
    _exp_argument(out, x)
    out += 1
    np.divide(x, out, out=out)


def _exp_argument(out: Array, x: Array) -> None:
    """exp(-2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3)."""
    np.multiply(x, x, out=out)
    out *= -2 * TANH_SCALE * TANH_CUBE
    out -= 2 * TANH_SCALE
    out *= x
    np.exp(out, out=out)


@array_kernel()
def gelu_grad(g: Array, input: Array, approximate: str) -> Array:
    """g (Phi(x) + x phi(x)), or the derivative of the tanh form."""
    return blockwise(_gelu_tanh_grad if approximate == "tanh" else _gelu_grad, g, input)


def _gelu_grad(out: Array, g: Array, x: Array) -> None:
    density = x * x
    density *= -0.5
    np.exp(density, out=density)
    density *= x
    density *= 1 / sqrt(2 * pi)
    _phi(out, x)
    out += density
    out *= g


def _gelu_tanh_grad(out: Array, g: Array, x: Array) -> None:
    """With s = sigmoid(2 u): g s (1 + 2 u' x (1 - s))."""
    s = np.empty_like(x)
    _exp_argument(s, x)
    s += 1
    np.reciprocal(s, out=s)
    np.multiply(x, x, out=out)
    out *= 6 * TANH_SCALE * TANH_CUBE
    out += 2 * TANH_SCALE
    out *= x
    out *= 1 - s
    out += 1
    out *= s
    out *= g


def sigmoid(out: Array, x: Array) -> None:
    """Write 1 / (1 + exp(-x)) to `out`, which may be `x`; exp overflows to infinity harmlessly."""
    np.negative(x, out=out)
    np.exp(out, out=out)
    out += 1
    np.reciprocal(out, out=out)


@array_kernel()
def silu(input: Array) -> Array:
    """x sigmoid(x)."""
    return blockwise(_silu, input)


def _silu(out: Array, x: Array) -> None:
    np.negative(x, out=out)
    np.exp(out, out=out)
    out += 1
    np.divide(x, out, out=out)


@array_kernel()
def silu_grad(g: Array, input: Array) -> Array:
    """g s (1 + x (1 - s)) with s = sigmoid(x)."""
    return blockwise(_silu_grad, g, input)


def _silu_grad(out: Array, g: Array, x: Array) -> None:
    s = np.empty_like(x)
    sigmoid(s, x)
    np.subtract(1, s, out=out)
    out *= x
    out += 1
    out *= s
    out *= g


@array_kernel()
def mish(input: Array) -> Array:
    """x tanh(softplus(x)) (Misra, 2019)."""
    return blockwise(_mish, input)


def _mish(out: Array, x: Array) -> None:
    _tanh_softplus(out, x)
    out *= x


def _tanh_softplus(out: Array, x: Array) -> None:
    """With e = exp(x): tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2); x is cut off where the quotient is 1."""
    np.minimum(x, 20, out=out)
    np.exp(out, out=out)
    out *= out + 2
    out /= out + 2


@array_kernel()
def mish_grad(g: Array, input: Array) -> Array:
    """g (t + x (1 - t^2) sigmoid(x)) with t = tanh(softplus(x))."""
    return blockwise(_mish_grad, g, input)


def _mish_grad(out: Array, g: Array, x: Array) -> None:
    t = np.empty_like(x)
    _tanh_softplus(t, x)
    sigmoid(out, x)
    out *= x
    out *= 1 - t * t
    out += t
    out *= g


@array_kernel()
def softplus(input: Array, beta: float, threshold: float) -> Array:
    """log(1 + exp(beta x)) / beta, and x itself where beta x > threshold."""

    def body(out: Array, x: Array) -> None:
        scaled = x * x.dtype.type(beta)
        # log1p(exp(-|z|)) + max(z, 0) loses nothing at either end.
        np.abs(scaled, out=out)
        np.negative(out, out=out)
        np.exp(out, out=out)
        np.log1p(out, out=out)
        out += np.maximum(scaled, 0)
        out /= beta
        linear = scaled > threshold
        if linear.any():
            np.copyto(out, x, where=linear)

    return blockwise(body, input)


@array_kernel()
def softplus_grad(g: Array, input: Array, beta: float, threshold: float) -> Array:
    """g sigmoid(beta x), and g where beta x > threshold."""

    def body(out: Array, g: Array, x: Array) -> None:
        scaled = x * x.dtype.type(beta)
        sigmoid(out, scaled)
        out *= g
        linear = scaled > threshold
        if linear.any():
            np.copyto(out, g, where=linear)

    return blockwise(body, g, input)


@array_kernel()
def elu(input: Array, alpha: float, scale: float, input_scale: float) -> Array:
    """scale x for x > 0, else scale alpha (exp(input_scale x) - 1): ELU, SELU and CELU with their constants."""

    def body(out: Array, x: Array) -> None:
        np.minimum(x, 0, out=out)
        out *= input_scale
        np.expm1(out, out=out)
        out *= scale * alpha
        positive = np.maximum(x, 0)
        positive *= scale
        out += positive

    return blockwise(body, input)


@array_kernel()
def elu_grad(g: Array, input: Array, alpha: float, scale: float, input_scale: float) -> Array:
    """g scale for x > 0, else g scale alpha input_scale exp(input_scale x)."""

    def body(out: Array, g: Array, x: Array) -> None:
        np.minimum(x, 0, out=out)
        out *= input_scale
        np.exp(out, out=out)
        out *= scale * alpha * input_scale
        out += np.multiply(x > 0, x.dtype.type(scale - scale * alpha * input_scale))
        out *= g

    return blockwise(body, g, input)


def selu(input: Array) -> Array:
    """ELU with the constants that keep mean 0 and variance 1 (Klambauer et al., 2017)."""
    return elu(input, SELU_ALPHA, SELU_SCALE, 1.0)


def selu_grad(g: Array, input: Array) -> Array:
    """The gradient of `selu`."""
    return elu_grad(g, input, SELU_ALPHA, SELU_SCALE, 1.0)


def celu(input: Array, alpha: float) -> Array:
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1)) (Barron, 2017)."""
    return elu(input, alpha, 1.0, 1 / alpha)


def celu_grad(g: Array, input: Array, alpha: float) -> Array:
    """The gradient of `celu`."""
    return elu_grad(g, input, alpha, 1.0, 1 / alpha)


@array_kernel()
def leaky_relu(input: Array, negative_slope: float) -> Array:
    """x for x > 0, else negative_slope x."""

    def body(out: Array, x: Array) -> None:
        if negative_slope == 0:  # 0 times infinity would be NaN
            np.maximum(x, 0, out=out)
            return
        np.multiply(x, negative_slope, out=out)
        (np.maximum if negative_slope <= 1 else np.minimum)(out, x, out=out)

    return blockwise(body, input)


@array_kernel()
def leaky_relu_grad(g: Array, input: Array, negative_slope: float) -> Array:
    """g for x > 0, else negative_slope g."""

    def body(out: Array, g: Array, x: Array) -> None:
        # The factor is slope + (1 - slope) [x > 0]: arithmetic on the comparison is faster than a masked copy.
        np.multiply(x > 0, x.dtype.type(1 - negative_slope), out=out)
        out += negative_slope
        out *= g

    return blockwise(body, g, input)


@array_kernel()
def hardtanh(input: Array, min_val: float, max_val: float) -> Array:
    """x cut off at min_val and max_val."""

    def body(out: Array, x: Array) -> None:
        np.clip(x, min_val, max_val, out=out)

    return blockwise(body, input)


@array_kernel()
def hardtanh_grad(g: Array, input: Array, min_val: float, max_val: float) -> Array:
    """g strictly between min_val and max_val, else 0."""

    def body(out: Array, g: Array, x: Array) -> None:
        np.multiply(g, ~((x <= min_val) | (x >= max_val)), out=out)

    return blockwise(body, g, input)


@array_kernel()
def hardsigmoid(input: Array) -> Array:
    """min(max(x + 3, 0), 6) / 6."""
    return blockwise(_hardsigmoid, input)


def _hardsigmoid(out: Array, x: Array) -> None:
    np.add(x, 3, out=out)
    np.clip(out, 0, 6, out=out)
    out *= 1 / 6


@array_kernel()
def hardsigmoid_grad(g: Array, input: Array) -> Array:
    """g / 6 strictly between -3 and 3, else 0."""

    def body(out: Array, g: Array, x: Array) -> None:
        np.multiply(g, (x > -3) & (x < 3), out=out)
        out *= 1 / 6

    return blockwise(body, g, input)


@array_kernel()
def hardswish(input: Array) -> Array:
    """x min(max(x + 3, 0), 6) / 6 (Howard et al., 2019)."""

    def body(out: Array, x: Array) -> None:
        _hardsigmoid(out, x)
        out *= x

    return blockwise(body, input)


@array_kernel()
def hardswish_grad(g: Array, input: Array) -> Array:
    """0 below -3, g from 3 on, g (x / 3 + 1 / 2) between."""

    def body(out: Array, g: Array, x: Array) -> None:
        np.multiply(x, 1 / 3, out=out)
        out += 0.5
        np.copyto(out, 0, where=x <= -3)
        np.copyto(out, 1, where=x >= 3)
        out *= g

    return blockwise(body, g, input)


@array_kernel()
def logsigmoid(input: Array) -> Array:
    """log(1 / (1 + exp(-x))) = min(x, 0) - log(1 + exp(-|x|))."""
    return blockwise(_logsigmoid, input)


def _logsigmoid(out: Array, x: Array) -> None:
    np.abs(x, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)
    np.log1p(out, out=out)
    np.subtract(np.minimum(x, 0), out, out=out)


@array_kernel()
def logsigmoid_grad(g: Array, input: Array) -> Array:
    """g sigmoid(-x)."""

    def body(out: Array, g: Array, x: Array) -> None:
        np.exp(x, out=out)
        out += 1
        np.divide(g, out, out=out)

    return blockwise(body, g, input)
