"""NumPy kernels of layers' units, in blocks that stay in the cache for all of a formula's passes."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from tenfold.cpu.blocks import blockwise
from tenfold.cpu.erf import erf, inverse_phi
from tenfold.cpu.half import widened
from tenfold.cpu.pointwise.elementary import ONE
from tenfold.cpu.quiet import quiet
from tenfold.cpu.reduction.sums import F32, F64, SMALL
from tenfold.dispatch.kernels import kernel
from tenfold.nn.ops.units import curves, gates
from tenfold.types.numbers import ARRAYS

Array = np.ndarray[Any, Any]
# Under names of this module: on a few elements each look-up tells.
add, divide, exp, negative = np.add, np.divide, np.exp, np.negative
ONE32, ONE64 = ONE[F32], ONE[F64]
TANH_SCALE = sqrt(2 / pi)


TANH_CUBE = 0.044715


@kernel(gates.gelu, device="cpu")
@widened
@quiet
def gelu(input: Array, approximate: str) -> Array:
    if input.dtype.kind != "f" or approximate not in ("none", "tanh"):
        return NotImplemented
    return blockwise(_gelu_tanh if approximate == "tanh" else _gelu, input)


def _gelu(out: Array, x: Array) -> None:
    if x.dtype == np.float32:
        inverse_phi(out, x)
        np.divide(x, out, out)
    else:
        _phi(out, x)
        out *= x


def _phi(out: Array, x: Array) -> None:
    """The normal distribution function, (1 + erf(x / sqrt(2))) / 2."""
    if x.dtype == np.float32:
        inverse_phi(out, x)
        np.reciprocal(out, out)
    else:
        np.multiply(erf(x * x.dtype.type(sqrt(0.5))), 0.5, out=out)
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


@kernel(gates.gelu_backward, device="cpu")
@widened
@quiet
def gelu_backward(grad_output: Array, input: Array, approximate: str) -> Array:
    if grad_output.dtype is not input.dtype or grad_output.shape != input.shape:
        return NotImplemented
    return blockwise(_gelu_tanh_gradient if approximate == "tanh" else _gelu_gradient, grad_output, input)


def _gelu_gradient(out: Array, g: Array, x: Array) -> None:
    numbers = ARRAYS[x.dtype]
    density = np.multiply(x, x)
    np.multiply(density, numbers[-0.5], density)
    np.exp(density, density)
    np.multiply(density, x, density)
    np.multiply(density, numbers[1 / sqrt(2 * pi)], density)
    _phi(out, x)
    np.add(out, density, out)
    np.multiply(out, g, out)


def _gelu_tanh_gradient(out: Array, g: Array, x: Array) -> None:
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


@kernel(gates.silu, device="cpu")
@quiet
def silu(input: Array) -> Array:
    dtype = input.dtype
    if (dtype is F32 or dtype is F64) and input.size <= SMALL and input.ndim:
        out = negative(input)
        exp(out, out)
        add(out, ONE32 if dtype is F32 else ONE64, out)
        return divide(input, out, out)
    return _any_silu(input)


@widened
def _any_silu(input: Array) -> Array:
    return blockwise(_silu, input) if input.dtype.kind == "f" else NotImplemented


def _silu(out: Array, x: Array) -> None:
    np.negative(x, out)
    np.exp(out, out)
    np.add(out, ONE[out.dtype], out)
    np.divide(x, out, out)


@kernel(gates.silu_backward, device="cpu")
@widened
@quiet
def silu_backward(grad_output: Array, input: Array) -> Array:
    if input.dtype.kind != "f" or grad_output.dtype is not input.dtype or grad_output.shape != input.shape:
        return NotImplemented
    return blockwise(_silu_gradient, grad_output, input)


def _silu_gradient(out: Array, g: Array, x: Array) -> None:
    s = np.negative(x)
    np.exp(s, s)
    np.add(s, ONE[s.dtype], s)
    np.reciprocal(s, s)
    np.subtract(ONE[s.dtype], s, out)
    out *= x
    out += 1
    out *= s
    out *= g


@kernel(gates.hardswish, device="cpu")
@widened
@quiet
def hardswish(input: Array) -> Array:
    return blockwise(_hardswish, input) if input.dtype.kind == "f" else NotImplemented


def _hardswish(out: Array, x: Array) -> None:
    np.add(x, 3, out)
    np.clip(out, 0, 6, out)
    out *= x
    out /= 6


@kernel(curves.logsigmoid, device="cpu")
@widened
@quiet
def logsigmoid(input: Array) -> Array:
    return blockwise(_logsigmoid, input) if input.dtype.kind == "f" else NotImplemented


def _logsigmoid(out: Array, x: Array) -> None:
    np.abs(x, out)
    np.negative(out, out)
    np.exp(out, out)
    np.log1p(out, out)
    np.subtract(np.minimum(x, 0), out, out)
