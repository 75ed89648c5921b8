"""NumPy kernels of the elementwise operators that are NumPy's own functions, and of functions of one variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.backend import address, bytes_of, owner_of
from tenfold.cpu.erf import erf, erfc, erfinv
from tenfold.cpu.half import widened
from tenfold.cpu.quiet import TRAPPED, quiet, trapped
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.types.narrow import RECORD

NUMBERS = (int, float, bool, complex)

for _operator, _ufunc in {
    op.mul: np.multiply, op.add: np.add, op.sub: np.subtract,
    op.exp: np.exp, op.exp2: np.exp2, op.log: np.log, op.log2: np.log2,
    op.sqrt: np.sqrt, op.sin: np.sin,
    op.cos: np.cos, op.tan: np.tan, op.asin: np.arcsin, op.acos: np.arccos, op.atan: np.arctan, op.sinh: np.sinh,
    op.cosh: np.cosh, op.tanh: np.tanh, op.asinh: np.arcsinh, op.acosh: np.arccosh, op.atanh: np.arctanh,
    op.div: np.true_divide, op.atan2: np.arctan2, op.copysign: np.copysign, op.eq: np.equal, op.ne: np.not_equal,
}.items():  # fmt: skip
    kernel(_operator, device="cpu")(quiet(_ufunc))

# Into no array: NumPy 2.4 reads beside an input with gaps where the given array has gaps, too, as a matrix' columns have.
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


@kernel(op.log10, device="cpu")
@quiet
def log10(input: Any) -> Any:
    # NumPy's float32 log10(100) is not 2 on every processor.
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
    if input.dtype == np.float32:  # NumPy's is off by 0.8 units in the last place
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


for _operator, _ufunc in {  # bfloat16's warn of nan
    op.hypot: np.hypot, op.nextafter: np.nextafter, op.lt: np.less, op.le: np.less_equal, op.gt: np.greater,
    op.ge: np.greater_equal, op.fmax: np.fmax, op.fmin: np.fmin,
    op.maximum: np.maximum, op.minimum: np.minimum,
}.items():  # fmt: skip
    kernel(_operator, device="cpu")(quiet(_ufunc))


_larger, _smaller = quiet(np.maximum), quiet(np.minimum)


@kernel(op.clamp_min, device="cpu", into=True)
def clamp_min(input: Any, min: Any, out: Any = None) -> Any:
    """Of two zeros the input's stays; NumPy takes the second, but of float16 the first."""
    return _larger(input, min, out) if input.dtype.char == "e" else _larger(min, input, out)


@kernel(op.clamp_max, device="cpu", into=True)
def clamp_max(input: Any, max: Any, out: Any = None) -> Any:
    return _smaller(input, max, out) if input.dtype.char == "e" else _smaller(max, input, out)


for _operator, _ufunc in {op.bitwise_left_shift: np.left_shift, op.bitwise_right_shift: np.right_shift}.items():
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
@quiet
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
    x = input if eps is None else np.clip(input, float(eps), 1 - float(eps))
    return np.log(x / (1 - x))


@kernel(op.angle, device="cpu")
@quiet
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
    offset = address(array) - address(owner_of(array)) if array.size else 0
    if offset % geometry.dtype.itemsize:
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
