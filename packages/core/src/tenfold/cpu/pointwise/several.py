"""NumPy kernels of functions of several variables: quotients, powers, sums of logarithms, selection; of copies and filling."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy._core.umath import clip  # type: ignore[attr-defined] # a ufunc, unlike np.clip

from tenfold.cpu.choice import LARGE as LARGE_CHOICE, choose
from tenfold.cpu.conversion import real_part
from tenfold.cpu.half import widened
from tenfold.cpu.pointwise.elementary import NUMBERS
from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.types import dtypes
from tenfold.types.dtypes import FROM_NUMPY
from tenfold.types.narrow import castable, narrowed, widened as widened_pairs
from tenfold.types.numbers import as_array, element, require_fit
from tenfold.types.promotion import number_dtype


@kernel(op.rsub, device="cpu")
@quiet
def rsub(input: Any, other: Any) -> Any:
    return np.subtract(other, input)


@kernel(op.where, device="cpu")
def where(condition: Any, input: Any, other: Any) -> Any:
    if type(input) in NUMBERS and type(other) in NUMBERS:
        dtype = number_dtype(input + other).numpy
        return choose(condition, np.asarray(input, dtype), np.asarray(other, dtype))
    for number, array in ((input, other), (other, input)):
        if type(number) is float and array.dtype.char in "fF":
            require_fit(number, FROM_NUMPY[array.dtype])
    if condition.size >= LARGE_CHOICE and type(input) is type(other) is np.ndarray:
        return choose(condition, input, other)
    return np.where(condition, input, other)


def _refuse_zero(input: Any, other: Any) -> None:
    if not np.all(other) and np.size(input):
        raise RuntimeError("ZeroDivisionError")


def _is_whole(x: Any) -> bool:
    return type(x) in (int, bool) if type(x) in NUMBERS else x.dtype.kind in "biu"


@kernel(op.floored_quotient, device="cpu")
@kernel(op.floor_divide, device="cpu")
@quiet
def floor_divide(input: Any, other: Any) -> Any:
    if _is_whole(input) and _is_whole(other):
        _refuse_zero(input, other)
        return np.floor_divide(input, other)
    quotient = np.floor_divide(input, other)
    return np.where(np.equal(other, 0), np.true_divide(input, other), quotient).astype(quotient.dtype)


@kernel(op.fmod, device="cpu")
@quiet
def fmod(input: Any, other: Any) -> Any:
    if _is_whole(input) and _is_whole(other):
        _refuse_zero(input, other)
    return np.fmod(input, other)


@kernel(op.remainder, device="cpu")
@quiet
def remainder(input: Any, other: Any) -> Any:
    if _is_whole(input) and _is_whole(other):
        _refuse_zero(input, other)
        return np.remainder(input, other)
    rest = np.asarray(np.fmod(input, other))  # has the sign of input, where it is 0 too
    return np.where((rest != 0) & (np.less(other, 0) != (rest < 0)), rest + other, rest)


@kernel(op.truncated_quotient, device="cpu")
@quiet
def truncated_quotient(input: Any, other: Any) -> Any:
    if not (_is_whole(input) and _is_whole(other)):
        return np.trunc(np.true_divide(input, other))
    _refuse_zero(input, other)
    quotient = np.floor_divide(input, other)
    inexact = np.multiply(quotient, other) != input
    return quotient + (inexact & ((np.asarray(input) < 0) != (np.asarray(other) < 0))).astype(quotient.dtype)


def _cube(x: Any, out: Any) -> Any:
    square = np.square(x)
    return np.multiply(square, x, square if out is None and square.shape else out)


def _squared_twice(x: Any, out: Any) -> Any:
    square = np.square(x)
    return np.square(square, square if out is None and square.shape else out)


def _reciprocal_of(ufunc: Any) -> Any:
    """1 / f(x), in the memory of f(x)."""

    def power(x: Any, out: Any) -> Any:
        value = ufunc(x)
        return np.reciprocal(value, value if out is None and value.shape else out)

    return power


_POWERS: dict[float, Any] = {
    2: np.square, 3: _cube, 4: _squared_twice, 0.5: np.sqrt, -1: np.reciprocal, -0.5: _reciprocal_of(np.sqrt),
    -2: _reciprocal_of(np.square),
}  # fmt: skip


@kernel(op.pow, device="cpu", into=True)
@widened
@quiet
def pow(input: Any, exponent: Any, out: Any = None) -> Any:
    if getattr(exponent, "ndim", 1) == 0 and exponent.dtype.kind == "f" and type(input) is np.ndarray:
        exponent = exponent.item()
        if exponent in (0.5, -0.5):  # powers of -0.0 and -inf, of which a number would take roots
            input = np.asarray(np.where(input == -np.inf, np.asarray(np.inf, input.dtype), input) + input.dtype.type(0))
    if type(exponent) in (int, float):
        if exponent < 0 and type(input) not in NUMBERS and input.dtype.kind == "c":
            return _complex_reciprocal(input, exponent, out)
        shortcut = _POWERS.get(exponent)
        if (
            shortcut is not None
            and type(input) not in NUMBERS
            and (input.dtype.kind == "f" or (input.dtype.kind == "c" and type(shortcut) is np.ufunc))
        ):
            return shortcut(input, out)
        if type(input) not in NUMBERS and input.dtype.kind == "f" and isfinite(exponent):
            return _power_of_size(input, exponent, out)
    if _is_whole(input) and _is_whole(exponent):
        return _whole_power(input, exponent, out)
    if type(exponent) is np.ndarray and np.result_type(input, exponent).kind == "c":
        return _complex_power(input, exponent, out)
    if type(exponent) is np.ndarray and type(input) is np.ndarray and exponent.size < input.size and exponent.dtype.kind == "f":
        rooted = exponent == 0.5
        if rooted.any():  # where the exponent is repeated NumPy takes roots, too
            input = np.where(
                rooted, np.where(input == -np.inf, np.asarray(np.inf, input.dtype), input) + input.dtype.type(0), input
            )
    return np.power(input, exponent, out)


def _complex_power(input: Any, exponent: Any, out: Any) -> Any:
    """exp(exponent log(input)), in which 0 ** 0 is nan, as in C, and inf ** -1 is 0; powers of the number 1 are always 1."""
    if type(input) in NUMBERS and type(input) is not bool and input == 1:
        power = np.ones(exponent.shape, exponent.dtype)
        return power if out is None else np.positive(power, out)
    power = np.power(input, exponent)
    power = np.where((input == 0) & (exponent == 0), np.asarray(np.nan * (1 + 1j), power.dtype), power)
    power = np.where(np.isinf(input) & (exponent.real < 0), np.zeros((), power.dtype), power)
    return power if out is None else np.positive(power, out)


@kernel(op.reciprocal, device="cpu", into=True)
@quiet
def reciprocal(input: Any, out: Any = None) -> Any:
    return _complex_reciprocal(input, -1, out) if input.dtype.kind == "c" else np.reciprocal(input, out)


@kernel(op.rsqrt, device="cpu", into=True)
@quiet
def rsqrt(input: Any, out: Any = None) -> Any:
    return reciprocal(np.sqrt(input), out)


def _complex_reciprocal(input: Any, exponent: float, out: Any) -> Any:
    """A negative power: of 0 infinite with no angle, of what is infinite 0 (but by squares and roots, that are divided by)."""
    power = np.reciprocal(input) if exponent == -1 else np.power(input, exponent)
    power = np.where(input == 0, np.asarray(complex(np.inf, np.nan), power.dtype), power)
    if exponent not in (-1, -2):
        power = np.where(np.isinf(input), np.zeros((), power.dtype), power)
    return power if out is None else np.positive(power, out)


def _power_of_size(x: Any, exponent: float, out: Any) -> Any:
    """|x| ** exponent with the sign that belongs to it: NumPy takes a hundred times as long where x is negative."""
    power = np.power(np.abs(x), exponent)
    if exponent % 2 == 1:
        return np.copysign(power, x, out)
    if exponent % 1:
        power = np.where((x < 0) & (x != -np.inf), np.asarray(np.nan, power.dtype), power)
    return power if out is None else np.positive(power, out)


def _whole_power(input: Any, exponent: Any, out: Any) -> Any:
    if np.result_type(input, exponent) == np.bool_:
        if np.ndim(exponent):
            raise TypeError("power of bool")
        return np.logical_or(input, np.logical_not(exponent), out)
    negative = np.less(exponent, 0)
    if not np.any(negative):
        return np.power(input, exponent, out)
    if type(exponent) in NUMBERS:
        raise RuntimeError("pow: Integers to negative integer powers are not allowed.")
    # 1 and -1 have whole reciprocals, which are their powers by the exponent's parity; all others round to 0
    power = np.power(input, np.where(negative, np.bitwise_and(exponent, 1), exponent))
    result = np.where(negative & (np.abs(input) != 1), np.zeros((), power.dtype), power)
    return result if out is None else np.positive(result, out)


@kernel(op.heaviside, device="cpu")
@quiet
def heaviside(input: Any, values: Any) -> Any:
    return np.where(input == 0, values, (input > 0).astype(input.dtype))


@kernel(op.logaddexp, device="cpu")
@quiet
def logaddexp(input: Any, other: Any) -> Any:
    if input.dtype.kind != "c":
        return np.logaddexp(input, other)
    above = input.real >= other.real
    high, low = np.where(above, input, other), np.where(above, other, input)
    result = np.where(np.isinf(high.real) & (input == other), input, high + np.log1p(np.exp(low - high)))
    return np.where(np.isnan(input) | np.isnan(other), complex("nan+nanj"), result)


@kernel(op.logaddexp2, device="cpu")
@quiet
def logaddexp2(input: Any, other: Any) -> Any:
    return np.logaddexp2(input, other)


@kernel(op.xlogy, device="cpu")
@widened
@quiet
def xlogy(input: Any, other: Any) -> Any:
    if type(other) in NUMBERS:
        other = np.asarray(other, input.dtype)
    product = input * np.log(other)
    return np.where(np.equal(input, 0) & ~np.isnan(other), np.zeros((), product.dtype), product)


@kernel(op.lerp, device="cpu", into=True)
@widened
@quiet
def lerp(input: Any, end: Any, weight: Any, out: Any = None) -> Any:
    step = np.subtract(end, input)
    if type(weight) in NUMBERS:
        require_fit(weight, FROM_NUMPY[step.dtype])
        near = abs(weight) < 0.5
        step = np.multiply(step, as_array(weight if near else 1 - weight, step.dtype))
        return np.add(input, step, out) if near else np.subtract(end, step, out)
    near = np.abs(weight) < 0.5
    result = np.where(near, input + step * weight, end - step * (1 - weight))
    return result if out is None else np.positive(result, out)


@kernel(op.sub_scaled, device="cpu", into=True)
@kernel(op.add_scaled, device="cpu", into=True)
@quiet
def add_scaled(input: Any, other: Any, alpha: Any, out: Any = None) -> Any:
    if input.dtype.char not in "fdFD" or type(alpha) not in (int, float):
        return NotImplemented
    alpha = as_array(alpha, input.dtype)
    return np.add(input, np.multiply(other, alpha), out) if np.isfinite(alpha) else NotImplemented


@kernel(op.addcmul, device="cpu", into=True)
@widened
@quiet
def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any, out: Any = None) -> Any:
    return np.add(input, np.multiply(_multiple(tensor1, value, input), tensor2), out)


@kernel(op.addcdiv, device="cpu", into=True)
@widened
@quiet
def addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any, out: Any = None) -> Any:
    return np.add(input, np.true_divide(_multiple(tensor1, value, input), tensor2), out)


def _multiple(x: Any, value: Any, like: Any) -> Any:
    return x if value == 1 else np.multiply(x, element(value, dtypes.from_numpy(like.dtype)))


@kernel(op.clamp, device="cpu", into=True)
def clamp(input: Any, min: Any, max: Any, out: Any = None) -> Any:
    """Both limits are numbers that NumPy treats as weak; every other call runs the body."""
    if type(min) not in (int, float) or type(max) not in (int, float) or input.dtype.kind != "f":
        return NotImplemented
    if not -6e4 < min <= max < 6e4:  # in float16's range
        return NotImplemented
    return clip(input, min, max, out)


@kernel(op.copy, device="cpu", into=True)
def copy(input: Any, src: Any, non_blocking: bool, out: Any = None) -> Any:
    out = np.empty_like(input) if out is None else out
    if src.ndim > out.ndim:  # which NumPy takes where the first sizes are 1
        raise ValueError(src.shape)
    if src.dtype is out.dtype:
        out[...] = src
    else:
        _convert(out, src)
    return out


@quiet
def _convert(out: Any, src: Any) -> None:
    if out.dtype.names or src.dtype.names:
        src = narrowed(src) if out.dtype.names else widened_pairs(src)
    src = real_part(src) if src.dtype.kind == "c" and out.dtype.kind not in "bc" else src
    np.copyto(out, castable(src, out.dtype), casting="unsafe")


@kernel(op.fill, device="cpu", into=True)
def fill(input: Any, value: Any, out: Any = None) -> Any:
    out = np.empty_like(input) if out is None else out
    if type(value) in (int, float) and out.dtype.kind == "f" and -6e4 < value < 6e4:  # in float16's range
        out.fill(value)
        return out
    if isinstance(value, np.ndarray):
        if value.ndim:
            return NotImplemented
    elif not _fits(value, out.dtype.kind):
        return NotImplemented  # the full path asks whether it fits
    _convert(out, np.asarray(value))
    return out


def _fits(number: Any, kind: str) -> bool:
    """Whether a number fits every dtype of a kind."""
    if type(number) not in (int, float):
        return type(number) is not complex
    return kind == "b" or (0 if kind == "u" else -128) <= number <= 127


@kernel(op.masked_fill, device="cpu", into=True)
def masked_fill(input: Any, mask: Any, value: Any, out: Any = None) -> Any:
    if mask.dtype.kind != "b" or input.dtype.kind != "f" or type(value) not in (int, float):
        return NotImplemented
    if not -6e4 < value < 6e4 and np.isfinite(value):
        return NotImplemented
    if out is None:
        return choose(mask, np.asarray(value, input.dtype), input)
    np.copyto(out, value, where=mask)
    return out


@kernel(op.zero, device="cpu", into=True)
def zero(input: Any, out: Any = None) -> Any:
    if out is None:
        return np.zeros_like(input)
    out.fill(0)
    return out
