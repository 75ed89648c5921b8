"""NumPy kernels of activations, in blocks that stay in the cache for all of a formula's passes."""

from __future__ import annotations

from functools import lru_cache
from math import pi, sqrt
from typing import Any

import numpy as np

from tenfold.cpu.activation.erf import erf, erf_single
from tenfold.cpu.blocks import blockwise
from tenfold.cpu.half import widened
from tenfold.cpu.pointwise import ONE
from tenfold.cpu.quiet import quiet
from tenfold.cpu.reduction.sums import ONES, SMALL
from tenfold.cpu.rows import by_rows, row_dots, row_sums, subtract_maximum
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op

Array = np.ndarray[Any, Any]
TANH_SCALE = sqrt(2 / pi)
TANH_CUBE = 0.044715
# Typed zeros: NumPy takes 0.3 us to find the type of a Python number.
ZERO = {np.dtype(d): np.zeros((), d) for d in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1")}


@kernel(op.relu, device="cpu", into=True)
def relu(input: Array, out: Any = None) -> Array:
    zero = ZERO.get(input.dtype)
    if zero is None:
        return np.maximum(input, 0, out=out)
    return np.maximum(input, zero, out=out)


@kernel(op.threshold_backward, device="cpu")
def threshold_backward(grad_output: Array, input: Array, threshold: float) -> Array:
    off = np.less_equal(input, threshold)
    bits = BITS.get(grad_output.itemsize)
    if bits is None or grad_output.shape != off.shape or off.ndim == 0:
        return np.where(off, np.zeros((), grad_output.dtype), grad_output)
    # All bits where the gradient stays, none elsewhere: signs of activations follow no pattern that branches could be guessed by.
    kept = (off.view(np.int8) - ONE_BYTE).astype(bits)
    np.bitwise_and(kept, grad_output.view(bits), kept)
    return kept.view(grad_output.dtype)


BITS = {2: np.int16, 4: np.int32, 8: np.int64}
ONE_BYTE = np.ones((), np.int8)


@kernel(op.gelu, device="cpu")
@widened
@quiet
def gelu(input: Array, approximate: str) -> Array:
    if input.dtype.kind != "f" or approximate not in ("none", "tanh"):
        return NotImplemented
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


@kernel(op.gelu_backward, device="cpu")
@widened
@quiet
def gelu_backward(grad_output: Array, input: Array, approximate: str) -> Array:
    if grad_output.dtype is not input.dtype or grad_output.shape != input.shape:
        return NotImplemented
    return blockwise(_gelu_tanh_gradient if approximate == "tanh" else _gelu_gradient, grad_output, input)


def _gelu_gradient(out: Array, g: Array, x: Array) -> None:
    density = x * x
    density *= -0.5
    np.exp(density, out=density)
    density *= x
    density *= 1 / sqrt(2 * pi)
    _phi(out, x)
    out += density
    out *= g


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


@kernel(op.silu, device="cpu")
@widened
@quiet
def silu(input: Array) -> Array:
    if input.size <= SMALL and input.ndim and input.dtype in ONES:
        out = -input
        _exp_plus_one(out)
        return np.divide(input, out, out)
    return blockwise(_silu, input) if input.dtype.kind == "f" else NotImplemented


def _silu(out: Array, x: Array) -> None:
    np.negative(x, out)
    _exp_plus_one(out)
    np.divide(x, out, out)


def _exp_plus_one(out: Array) -> None:
    np.exp(out, out)
    np.add(out, ONE[out.dtype], out)


@kernel(op.silu_backward, device="cpu")
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


@kernel(op.hardswish, device="cpu")
@widened
@quiet
def hardswish(input: Array) -> Array:
    return blockwise(_hardswish, input) if input.dtype.kind == "f" else NotImplemented


def _hardswish(out: Array, x: Array) -> None:
    np.add(x, 3, out)
    np.clip(out, 0, 6, out)
    out *= x
    out /= 6


@kernel(op.logsigmoid, device="cpu")
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


@kernel(op.softmax, device="cpu")
@widened
@quiet
def softmax(input: Array, dim: int) -> Array:
    if input.size <= SMALL and _is_moderate(input, dim, 80):  # no exp is too large or too small, so no maximum is taken off
        out = np.exp(input)
        out /= _row_totals(out)
        return out
    return by_rows(_softmax, dim, input)


def _row_totals(x: Array) -> Array:
    """The sums along the last dimension, for each element of it where it is short: broadcasting costs three times the product."""
    D = x.shape[-1]
    return x.dot(_ones_square(D, x.dtype)) if D <= SHORT else x.dot(ONES[x.dtype][D])[..., None]


SHORT = 24


@lru_cache(maxsize=64)
def _ones_square(size: int, dtype: np.dtype[Any]) -> Array:
    return np.ones((size, size), dtype)


def _is_moderate(x: Array, dim: int, bound: float) -> bool:
    """Whether numbers that lie in rows along `dim` are all between -bound and bound, told by the sum of their squares."""
    if dim not in (-1, x.ndim - 1) or not x.ndim or x.dtype not in ONES:
        return False
    flat = x.ravel()
    return flat.dot(flat) < bound * bound


def _softmax(out: Array, x: Array) -> None:
    subtract_maximum(out, x)
    np.exp(out, out)
    out /= row_sums(out)


@kernel(op.log_softmax, device="cpu")
@widened
@quiet
def log_softmax(input: Array, dim: int) -> Array:
    if input.size <= SMALL and _is_moderate(input, dim, 8):  # so that the difference loses no digits
        totals = _row_totals(np.exp(input))
        return np.subtract(input, np.log(totals, totals))
    return by_rows(_log_softmax, dim, input)


def _log_softmax(out: Array, x: Array) -> None:
    subtract_maximum(out, x)
    out -= np.log(row_sums(np.exp(out)))


@kernel(op.softmax_backward, device="cpu")
@widened
@quiet
def softmax_backward(grad_output: Array, output: Array, dim: int) -> Array:
    return by_rows(_softmax_gradient, dim, grad_output, output)


def _softmax_gradient(result: Array, g: Array, out: Array) -> None:
    np.subtract(g, row_dots(g, out), out=result)
    result *= out


@kernel(op.log_softmax_backward, device="cpu")
@widened
@quiet
def log_softmax_backward(grad_output: Array, output: Array, dim: int) -> Array:
    return by_rows(_log_softmax_gradient, dim, grad_output, output)


def _log_softmax_gradient(result: Array, g: Array, out: Array) -> None:
    np.exp(out, out=result)
    result *= row_sums(g)
    np.subtract(g, result, out=result)
