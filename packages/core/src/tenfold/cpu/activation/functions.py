"""NumPy kernels of activations, in blocks that stay in the cache for all of a formula's passes."""

from __future__ import annotations

import sys
from math import pi, prod, sqrt
from typing import Any

import numpy as np

from tenfold.cpu.activation.erf import erf, inverse_phi
from tenfold.cpu.blocks import blockwise
from tenfold.cpu.half import widened
from tenfold.cpu.numbers import ARRAYS
from tenfold.cpu.pointwise import ONE
from tenfold.cpu.quiet import quiet
from tenfold.cpu.reduction.sums import F32, F64, SMALL
from tenfold.cpu.rows import by_rows, row_dots, row_sums, subtract_maximum
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op

Array = np.ndarray[Any, Any]
# Under names of this module: on a few elements each look-up tells.
add, divide, exp, log, negative, subtract = np.add, np.divide, np.exp, np.log, np.negative, np.subtract
ONE32, ONE64 = ONE[F32], ONE[F64]
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


@kernel(op.gelu_backward, device="cpu")
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


@kernel(op.silu, device="cpu")
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


# Few numbers in rows along the last dimension, all of them moderate: no exp is too large or too small, so no maximum is taken
# off, and nothing there warns. The upper bytes of float32 numbers tell their size in half the time of a sum of squares.
@kernel(op.softmax, device="cpu")
def softmax(input: Array, dim: int) -> Array:
    if dim == -1 or dim == input.ndim - 1:
        if input.dtype is F32:
            square = ROWS32[input.shape]
            if square is not None and 1 not in input.tobytes()[UPPER].translate(FROM_32):
                out = exp(input)
                return divide(out, out.dot(square), out)
        elif input.dtype is F64:
            square = ROWS64[input.shape]
            if square is not None and np.vdot(input, input) < 6400:
                out = exp(input)
                return divide(out, out.dot(square), out)
    return _any_softmax(input, dim)


@widened
@quiet
def _any_softmax(input: Array, dim: int) -> Array:
    return by_rows(_softmax, dim, input)


class _Rows(dict[tuple[int, ...], Any]):
    """By the shape of a small array: the matrix that puts the sum of each row in place of its elements; None for other shapes.

    A product with it takes a third of what a sum takes that is then broadcast.
    """

    most, widest = 256, 32

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.squares = [np.ones((n, n), dtype) for n in range(self.widest + 1)]

    def __missing__(self, shape: tuple[int, ...]) -> Any:
        square = self.squares[shape[-1]] if shape and prod(shape) <= SMALL and shape[-1] <= self.widest else None
        if len(self) >= self.most:
            self.clear()
        self[shape] = square
        return square


ROWS32, ROWS64 = _Rows(F32), _Rows(F64)
UPPER = slice(3 if sys.byteorder == "little" else 0, None, 4)
# By the upper byte (the sign and seven bits of the exponent): 1 for float32 numbers of 32 and 8 upwards in size, inf and nan.
# To translate by a table and look for a 1 takes a third less than to leave out the bytes that are none.
FROM_32, FROM_8 = (bytes((top & 127) >= end for top in range(256)) for end in (66, 65))


def _softmax(out: Array, x: Array) -> None:
    subtract_maximum(out, x)
    np.exp(out, out)
    out /= row_sums(out)


@kernel(op.log_softmax, device="cpu")
def log_softmax(input: Array, dim: int) -> Array:
    if dim == -1 or dim == input.ndim - 1:  # here moderate is what loses no digits in the difference
        if input.dtype is F32:
            square = ROWS32[input.shape]
            if square is not None and 1 not in input.tobytes()[UPPER].translate(FROM_8):
                totals = exp(input).dot(square)
                return subtract(input, log(totals, totals), totals)
        elif input.dtype is F64:
            square = ROWS64[input.shape]
            if square is not None and np.vdot(input, input) < 64:
                totals = exp(input).dot(square)
                return subtract(input, log(totals, totals), totals)
    return _any_log_softmax(input, dim)


@widened
@quiet
def _any_log_softmax(input: Array, dim: int) -> Array:
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
