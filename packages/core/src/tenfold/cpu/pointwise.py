"""NumPy kernels of the elementwise operators."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy._core.umath import clip  # type: ignore[attr-defined] # a ufunc, unlike np.clip; NumPy's declarations lack it

from tenfold.cpu.backend import address, bytes_of, owner_of
from tenfold.cpu.choice import LARGE as LARGE_CHOICE, choose
from tenfold.cpu.erf import erf, erfc, erfinv
from tenfold.cpu.half import widened
from tenfold.cpu.numbers import as_array
from tenfold.cpu.quiet import TRAPPED, quiet, trapped
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.types import dtypes
from tenfold.types.dtypes import FROM_NUMPY
from tenfold.types.narrow import RECORD, lacks_infinity, limited, narrowed, widened as widened_pairs
from tenfold.types.numbers import element, require_fit
from tenfold.types.promotion import number_dtype

NUMBERS = (int, float, bool, complex)

for _operator, _ufunc in {
    op.mul: np.multiply, op.add: np.add, op.sub: np.subtract,
    op.exp: np.exp, op.exp2: np.exp2, op.log: np.log, op.log2: np.log2,
    op.sqrt: np.sqrt, op.reciprocal: np.reciprocal, op.sin: np.sin,
    op.cos: np.cos, op.tan: np.tan, op.asin: np.arcsin, op.acos: np.arccos, op.atan: np.arctan, op.sinh: np.sinh,
    op.cosh: np.cosh, op.tanh: np.tanh, op.asinh: np.arcsinh, op.acosh: np.arccosh, op.atanh: np.arctanh,
    op.div: np.true_divide, op.atan2: np.arctan2, op.copysign: np.copysign, op.eq: np.equal, op.ne: np.not_equal,
}.items():  # fmt: skip
    kernel(_operator, device="cpu")(quiet(_ufunc))

# Into no array: NumPy 2.4 reads beside the input where elements of 4 bytes lie 4 apart, or of 8 bytes 8 apart, and the given
# array has gaps, too, as with the columns of a matrix that change their sign in place.
kernel(op.neg, device="cpu", into=False)(quiet(np.negative))

# Into no array: that of a complex tensor, which `abs_` refuses, could take the result.
kernel(op.abs, device="cpu", into=False)(quiet(np.absolute))

for _operator, _ufunc in {
    op.signbit: np.signbit, op.isnan: np.isnan, op.isinf: np.isinf,
    op.isfinite: np.isfinite, op.logical_and: np.logical_and, op.logical_or: np.logical_or,
    op.logical_xor: np.logical_xor, op.logical_not: np.logical_not, op.bitwise_and: np.bitwise_and,
    op.bitwise_or: np.bitwise_or, op.bitwise_xor: np.bitwise_xor, op.bitwise_not: np.bitwise_not,
    op.gcd: np.gcd, op.lcm: np.lcm,
}.items():  # fmt: skip
    kernel(_operator, device="cpu")(_ufunc)


@kernel(op.rsub, device="cpu")
@quiet
def rsub(input: Any, other: Any) -> Any:
    return np.subtract(other, input)


@kernel(op.log10, device="cpu")
@quiet
def log10(input: Any) -> Any:
    # NumPy's float32 log10 of 100 and 1000 is not 2 and 3 on every processor.
    if input.dtype == np.float32:
        return np.log10(input, dtype=np.float64).astype(np.float32)
    return np.log10(input)


def _in_float64(function: Any, input: Any) -> Any:
    return function(input, dtype=np.float64).astype(np.float32)


@kernel(op.expm1, device="cpu")
@quiet
def expm1(input: Any) -> Any:
    return _in_float64(np.expm1, input) if input.dtype == np.float32 else np.expm1(input)


@kernel(op.log1p, device="cpu", into=True)
@quiet
def log1p(input: Any, out: Any = None) -> Any:
    if input.dtype == np.float32:  # NumPy's own is off by up to 0.8 units in the last place, and no faster
        return np.log1p(input, out, dtype=np.float64, casting="same_kind") if out is not None else _in_float64(np.log1p, input)
    if input.dtype.kind != "c":
        return np.log1p(input, out)
    z = input.astype(np.complex128)
    x, y = z.real, z.imag
    near = (np.abs(x) < 0.5) & (np.abs(y) < 0.5)
    # log |1 + z| of small numbers, where 1 + z would round them away
    size = np.where(near, np.log1p(x * (2 + x) + y * y) / 2, np.log(1 + z).real)
    result = np.empty(input.shape, input.dtype) if out is None else out
    result.real, result.imag = size, np.arctan2(y, 1 + x)
    return result


for _operator, _ufunc in {op.hypot: np.hypot, op.nextafter: np.nextafter}.items():
    kernel(_operator, device="cpu")(quiet(_ufunc))
for _operator, _ufunc in {
    op.bitwise_left_shift: np.left_shift, op.bitwise_right_shift: np.right_shift, op.lt: np.less, op.le: np.less_equal,
    op.gt: np.greater, op.ge: np.greater_equal, op.clamp_min: np.maximum, op.clamp_max: np.minimum, op.maximum: np.maximum,
    op.minimum: np.minimum, op.fmax: np.fmax, op.fmin: np.fmin,
}.items():  # fmt: skip
    kernel(_operator, device="cpu")(_ufunc)
for _operator, _function in {op.erf: erf, op.erfc: erfc, op.erfinv: erfinv}.items():
    kernel(_operator, device="cpu")(_function)


def _rounding(ufunc: Any) -> Any:
    """Integers stay as they are (np.rint would make them floats)."""
    run = quiet(ufunc)

    def rounded(input: Any, out: Any = None) -> Any:
        return np.positive(input, out) if input.dtype.kind in "iu" else run(input, out)

    return rounded


for _operator, _ufunc in {op.floor: np.floor, op.ceil: np.ceil, op.trunc: np.trunc, op.round: np.rint}.items():
    kernel(_operator, device="cpu", into=True)(_rounding(_ufunc))


@kernel(op.sign, device="cpu")
def sign(input: Any) -> Any:
    if input.dtype.kind == "b":
        return input.copy()
    # nan has no sign: PyTorch gives 0
    return np.subtract(input > 0, input < 0, dtype=np.int8).astype(input.dtype)


@kernel(op.sgn, device="cpu")
@quiet
def sgn(input: Any) -> Any:
    return np.sign(input) if input.dtype.kind == "c" else sign(input)


_square = quiet(np.square)


@kernel(op.square, device="cpu", into=True)
def square(input: Any, out: Any = None) -> Any:
    return _square(input if input.dtype.kind != "b" else input.astype(np.int64), out)


@kernel(op.conj_physical, device="cpu")
def conj_physical(input: Any) -> Any:
    return np.conjugate(input) if input.dtype.kind == "c" or input.dtype.names else input.copy()


@kernel(op.rsqrt, device="cpu", into=True)
@quiet
def rsqrt(input: Any, out: Any = None) -> Any:
    root = np.sqrt(input)
    return np.reciprocal(root, out)


ONE = {np.dtype(d): np.ones((), d) for d in ("f4", "f8", "c8", "c16")}
FEW = 4096


@kernel(op.sigmoid, device="cpu")
def sigmoid(input: Any) -> Any:
    if input.size <= FEW and input.ndim and input.dtype in TRAPPED:
        try:
            return trapped(_quick_sigmoid, input)
        except (ArithmeticError, RuntimeError):  # an exp too large; a thread is there already
            pass
    return _any_sigmoid(input)


def _quick_sigmoid(input: Any) -> Any:
    """In one pass less, where exp(x) is finite."""
    out = np.exp(input)
    return np.divide(out, np.add(out, ONE[out.dtype]), out)


@widened
@quiet
def _any_sigmoid(input: Any) -> Any:
    out = -input if input.ndim else np.negative(input, np.empty_like(input))
    np.exp(out, out)
    out += ONE[out.dtype]
    return np.reciprocal(out, out)


@kernel(op.sinc, device="cpu")
@widened
@quiet
def sinc(input: Any) -> Any:
    angle = input * np.pi
    return np.where(input == 0, ONE[angle.dtype], np.sin(angle) / angle)


@kernel(op.logit, device="cpu")
@widened
@quiet
def logit(input: Any, eps: float | None) -> Any:
    x = input if eps is None else np.clip(input, eps, 1 - eps)
    return np.log(x / (1 - x))


@kernel(op.angle, device="cpu")
def angle(input: Any) -> Any:
    if input.dtype.kind == "c":
        return np.arctan2(input.imag, input.real)
    result = np.where(input < 0, np.asarray(np.pi, input.dtype), np.asarray(0, input.dtype))
    return np.where(np.isnan(input), input, result)


@kernel(op.real_part, device="cpu")
def real_part(input: Any) -> Any:
    return input["real"] if input.dtype.names else input.real


@kernel(op.imag_part, device="cpu")
def imag_part(input: Any) -> Any:
    return input["imag"] if input.dtype.names else input.imag


@kernel(op.view_as_real, device="cpu")
def view_as_real(input: Any) -> Any:
    return _reread(input, op.view_as_real.shape_rule(input))


@kernel(op.view_as_complex, device="cpu")
def view_as_complex(input: Any) -> Any:
    return _reread(input, op.view_as_complex.shape_rule(input))


def _reread(array: Any, geometry: Any) -> Any:
    """The array's memory with another dtype, shape and strides."""
    offset = address(array) - address(owner_of(array))
    if array.size and offset % geometry.dtype.itemsize:
        raise RuntimeError("view_as_complex: Tensor must have a storage_offset divisible by 2; clone() it first")
    return np.ndarray(geometry.shape, geometry.dtype, bytes_of(array), offset, geometry.strides)


@kernel(op.complex, device="cpu")
def complex(real: Any, imag: Any) -> Any:
    shape = np.broadcast_shapes(real.shape, imag.shape)
    if real.dtype == np.float16:
        out = np.empty(shape, RECORD)
        out["real"], out["imag"] = real, imag
        return out
    out = np.empty(shape, np.result_type(real.dtype, np.complex64))
    out.real, out.imag = real, imag
    return out


_LARGEST = float(np.finfo(np.float32).max)


@kernel(op.where, device="cpu")
def where(condition: Any, input: Any, other: Any) -> Any:
    if type(input) in NUMBERS and type(other) in NUMBERS:
        dtype = number_dtype(input + other).numpy
        return choose(condition, np.asarray(input, dtype), np.asarray(other, dtype))
    for number, array in ((input, other), (other, input)):
        if type(number) is float and abs(number) > _LARGEST and array.dtype.char in "fF":
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
    """exp(exponent log(input)), in which 0 ** 0 is nan, as in C; powers of the number 1 are 1, of nan, too."""
    if type(input) in NUMBERS and type(input) is not bool and input == 1:
        power = np.ones(exponent.shape, exponent.dtype)
        return power if out is None else np.positive(power, out)
    power = np.power(input, exponent)
    power = np.where((input == 0) & (exponent == 0), np.asarray(np.nan * (1 + 1j), power.dtype), power)
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
def heaviside(input: Any, values: Any) -> Any:
    return np.where(input == 0, values, (input > 0).astype(input.dtype))


@kernel(op.logaddexp, device="cpu")
@quiet
def logaddexp(input: Any, other: Any) -> Any:
    if input.dtype.kind != "c":
        return np.logaddexp(input, other)
    above = input.real >= other.real
    high, low = np.where(above, input, other), np.where(above, other, input)
    return np.where(np.isinf(high.real) & (input == other), input, high + np.log1p(np.exp(low - high)))


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
        near = abs(weight) < 0.5
        step = np.multiply(step, as_array(weight if near else 1 - weight, step.dtype))
        return np.add(input, step, out) if near else np.subtract(end, step, out)
    near = np.abs(weight) < 0.5
    result = np.where(near, input + step * weight, end - step * (1 - weight))
    return result if out is None else np.positive(result, out)


@kernel(op.add_scaled, device="cpu", into=True)
@quiet
def add_scaled(input: Any, other: Any, alpha: Any, out: Any = None) -> Any:
    if input.dtype.kind not in "fc" or type(alpha) not in (int, float):
        return NotImplemented
    return np.add(input, np.multiply(other, as_array(alpha, input.dtype)), out)


@kernel(op.addcmul, device="cpu", into=True)
@widened
@quiet
def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any, out: Any = None) -> Any:
    product = np.multiply(tensor1, tensor2)
    if value != 1 and input.dtype.kind in "iu":
        value = element(value, dtypes.from_numpy(input.dtype))
    return np.add(input, product if value == 1 else np.multiply(product, as_array(value, input.dtype)), out)


@kernel(op.addcdiv, device="cpu", into=True)
@widened
@quiet
def addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any, out: Any = None) -> Any:
    quotient = np.true_divide(tensor1, tensor2)
    return np.add(input, quotient if value == 1 else np.multiply(quotient, as_array(value, input.dtype)), out)


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
    real = src.dtype.kind == "c" and out.dtype.kind not in "bc"
    src = src.real if real else src
    np.copyto(out, limited(src) if lacks_infinity(out.dtype) else src, casting="unsafe")


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
    return kind == "b" or (0 if kind == "u" else -128) <= number < 128


@kernel(op.masked_fill, device="cpu", into=True)
def masked_fill(input: Any, mask: Any, value: Any, out: Any = None) -> Any:
    if mask.dtype.kind != "b" or input.dtype.kind != "f" or type(value) not in (int, float):
        return NotImplemented
    if not -6e4 < value < 6e4 and np.isfinite(value):
        return NotImplemented  # the full path asks whether it fits
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
