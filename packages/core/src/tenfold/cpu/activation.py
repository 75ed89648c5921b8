"""NumPy kernels of the rectifier and of softmax."""

from __future__ import annotations

import sys
from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.blocks import by_rows, row_dots, row_sums, subtract_maximum
from tenfold.cpu.half import widened
from tenfold.cpu.pointwise.elementary import ONE
from tenfold.cpu.quiet import quiet
from tenfold.cpu.reduction.sums import F32, F64, SMALL
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op

Array = np.ndarray[Any, Any]
# Under names of this module: on a few elements each look-up tells.
add, divide, exp, log, negative, subtract = np.add, np.divide, np.exp, np.log, np.negative, np.subtract
ONE32, ONE64 = ONE[F32], ONE[F64]
# NumPy takes 0.3 us to find a number's type.
ZERO = {np.dtype(d): np.zeros((), d) for d in ("f4", "f8", "i1", "i2", "i4", "i8", "u1")}
maximum = quiet(np.maximum)


@kernel(op.relu, device="cpu", into=True)
def relu(input: Array, out: Any = None) -> Array:
    zero = ZERO.get(input.dtype)
    if zero is not None:
        return np.maximum(zero, input, out=out)
    # NumPy takes the second of two zeros, in float16 the first
    return maximum(input, 0, out) if input.dtype.char == "e" else maximum(0, input, out)


@kernel(op.threshold_backward, device="cpu")
@quiet
def threshold_backward(grad_output: Array, input: Array, threshold: float) -> Array:
    off = np.less_equal(input, threshold)
    bits = BITS.get(grad_output.itemsize)
    if bits is None or grad_output.shape != off.shape or off.ndim == 0:
        return np.where(off, np.zeros((), grad_output.dtype), grad_output)
    # All bits where the gradient stays, none elsewhere: no branches, whose pattern nothing could guess.
    kept = (off.view(np.int8) - ONE_BYTE).astype(bits)
    np.bitwise_and(kept, grad_output.view(bits), kept)
    return kept.view(grad_output.dtype)


BITS = {2: np.int16, 4: np.int32, 8: np.int64}
ONE_BYTE = np.ones((), np.int8)


# Few numbers in rows along the last dimension, all moderate: no exp is too large or small, so no maximum is taken
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
        square = self.squares[shape[-1]] if shape and prod(shape) <= SMALL and 1 < shape[-1] <= self.widest else None
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
