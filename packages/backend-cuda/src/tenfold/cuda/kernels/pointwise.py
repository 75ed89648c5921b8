"""Elementwise operators: Triton formulas, and CuPy's function of the same name where a formula does not reach."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import conversion, formulas, mixed, slopes, view  # noqa: F401 - these attach kernels of this family too
from tenfold.cuda.kernels.adjoints import signs
from tenfold.cuda.kernels.array_kernels import is_half, of_array_module
from tenfold.cuda.kernels.elementwise import NUMBERS, elementwise, largest, run
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op
from tenfold.types.dtypes import from_numpy
from tenfold.types.numbers import element
from tenfold.types.promotion import number_dtype

# The array module's function for what has no formula: complex numbers, and bool in some places.
ARRAY_FUNCTIONS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "true_divide", "neg": "negative", "abs": "absolute",
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sqrt": "sqrt", "reciprocal": "reciprocal", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin",
    "acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "eq": "equal", "ne": "not_equal", "isnan": "isnan", "isinf": "isinf",
    "isfinite": "isfinite", "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor",
    "logical_not": "logical_not", "conj_physical": "conjugate",
    "angle": "angle", "nextafter": "nextafter", "gcd": "gcd", "lcm": "lcm",
}  # fmt: skip
# Rare operands of these are computed on the host: a number for each kind of which a formula would be longer than it is used.
ON_HOST = ("square", "sigmoid", "sinc", "rsqrt", "pow", "xlogy", "logaddexp", "lerp", "addcmul", "addcdiv", "add_scaled",
           "floor_divide", "floored_quotient", "truncated_quotient", "nextafter", "heaviside", "hypot", "round", "signbit",
           "bitwise_left_shift", "bitwise_right_shift")  # fmt: skip
# The in-place form runs these on the target's own memory.
INTO = {*formulas.FUNCTIONS, *formulas.ARITHMETIC, *formulas.SELECTION} - {"where"}


def refuses(name: str) -> Callable[..., Any]:
    """What runs where an operator has no meaning: the operator's own rule has the words."""

    def refuse(*operands: Any, out: Any = None) -> Any:
        raise TypeError(f"{name}: no kernel for {', '.join(str(getattr(x, 'dtype', type(x).__name__)) for x in operands)}")

    return refuse


def _signs(input: Any, out: Any = None) -> Any:
    """Of complex numbers: all others have a formula."""
    found = signs(input)
    if out is None:
        return found
    conversion.write(out, found)
    return out


def _otherwise(name: str) -> Callable[..., Any]:
    if name == "sgn":
        return _signs
    if name in ON_HOST:
        return through_host(name)
    return of_array_module(ARRAY_FUNCTIONS[name]) if name in ARRAY_FUNCTIONS else refuses(name)


SPECIAL = ("pow", "where", "masked_fill", "clamp", "conj_physical", "div", "add_scaled", "rsub", "frac", "logit", "logit_within",
           "nan_to_num", "isclose", "isclose_nan", "truncated_quotient", "addcmul")  # fmt: skip
for _name in (*formulas.ARITHMETIC, *formulas.FUNCTIONS, *formulas.TESTS, *formulas.SELECTION):
    if _name not in SPECIAL:
        kernel(getattr(op, _name), device="cuda", into=_name in INTO, chooses_device=True)(elementwise(_name, _otherwise(_name)))


for _name in ("gcd", "lcm"):
    kernel(getattr(op, _name), device="cuda")(of_array_module(ARRAY_FUNCTIONS[_name]))

kernel(op.div, device="cuda", into=True, chooses_device=True)(elementwise("div", of_array_module("true_divide")))
_power = elementwise("pow", through_host("pow"))
_POWERS = {2: "square", 0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal", 1: "cast"}


@kernel(op.pow, device="cuda", into=True)
def pow(input: Any, exponent: Any, out: Any = None) -> Any:
    if type(exponent) in (int, float) and exponent in _POWERS and getattr(input, "dtype", np.dtype("?")).kind in "fV":
        return run(_POWERS[exponent], input, out=out)
    if type(exponent) is int and exponent >= 0 and getattr(input, "dtype", np.dtype("?")).kind in "iu":
        if exponent == 2:
            return run("square", input, out=out)
        if out is None and exponent <= np.iinfo(input.dtype).max:
            return xp.power(input, input.dtype.type(exponent))
    return _power(input, exponent, out=out)


_truncated = elementwise("truncated_quotient", through_host("truncated_quotient"))


@kernel(op.truncated_quotient, device="cuda", into=True, chooses_device=True)
def truncated_quotient(input: Any, other: Any, out: Any = None) -> Any:
    """The quotient of two arrays of half precision is rounded before it is cut, as in PyTorch, so that 2.999 is 3."""
    if is_half(input) and is_half(other):
        quotient = run("div", input, other, out=out)
        return run("trunc", quotient, out=quotient)
    return _truncated(input, other, out=out)


_with_product = elementwise("addcmul", through_host("addcmul"))


@kernel(op.addcmul, device="cuda", into=True, chooses_device=True)
def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any, out: Any = None) -> Any:
    """The multiple of whole numbers is one that their dtype has."""
    if value != 1 and input.dtype.kind in "iu":
        value = int(element(value, from_numpy(input.dtype)))
    return _with_product(input, tensor1, tensor2, value, out=out)


def _by_body(*operands: Any, out: Any = None) -> Any:
    return NotImplemented


# Composites: a formula for what it reaches, the body for all else.
for _name in ("rsub", "frac"):
    kernel(getattr(op, _name), device="cuda", into=True, chooses_device=True)(elementwise(_name, _by_body))


@kernel(op.logit, device="cuda")
def logit(input: Any, eps: Any) -> Any:
    return run("logit", input) if eps is None else run("logit_within", input, float(eps), 1 - float(eps))


@kernel(op.nan_to_num, device="cuda", into=True)
def nan_to_num(input: Any, nan: Any, posinf: Any, neginf: Any, out: Any = None) -> Any:
    """Of floating-point numbers, with values that they hold."""
    if input.dtype.kind not in "fV":
        return NotImplemented
    limit = largest(input.dtype)
    given = zip((nan, posinf, neginf), (0.0, limit, -limit))
    values = [float(default if value is None else value) for value, default in given]
    if any(limit < abs(value) < float("inf") for value in values):
        return NotImplemented
    return run("nan_to_num", input, *values, out=out)


@kernel(op.isclose, device="cuda")
def isclose(input: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    if input.dtype != other.dtype or not (rtol >= 0 and atol >= 0):
        return NotImplemented
    return run("isclose_nan" if equal_nan else "isclose", input, other, float(rtol), float(atol))


@kernel(op.where, device="cuda")
def where(condition: Any, input: Any, other: Any) -> Any:
    if condition.dtype.kind != "b":
        raise TypeError("where: the condition is not bool")
    if type(input) in (*NUMBERS, builtins.complex) and type(other) in (*NUMBERS, builtins.complex):
        input = xp.asarray(input, number_dtype(input + other).numpy)
    result = run("where", condition, input, other)
    return xp.where(condition, input, other) if result is NotImplemented else result


@kernel(op.masked_fill, device="cuda", into=True)
def masked_fill(input: Any, mask: Any, value: Any, out: Any = None) -> Any:
    if input.dtype.kind not in "fV" or mask.dtype.kind != "b":
        return NotImplemented
    if type(value) not in (int, float):  # an element of the device that fits for sure: nothing needs to wait for what it is
        if getattr(value, "ndim", 1) or value.dtype != input.dtype:
            return NotImplemented
        return run("where", mask, value, input, out=out)
    if out is None and np.broadcast_shapes(input.shape, mask.shape) != input.shape:
        return NotImplemented
    return run("masked_fill", input, mask, value, out=out)


@kernel(op.clamp, device="cuda", into=True)
def clamp(input: Any, min: Any, max: Any, out: Any = None) -> Any:
    """Limits that are numbers, one alone in place, or both arrays of the input's dtype; every other call runs the body."""
    if out is None and all(getattr(limit, "dtype", None) == input.dtype for limit in (min, max)):
        return run("clamp_between", input, min, max)
    for name, limit, other in (("clamp_min", min, max), ("clamp_max", max, min)):
        if out is not None and other is None and type(limit) in (int, float) and input.dtype.kind in "fV":
            return run(name, input, limit, out=out)
    if type(min) not in (int, float) or type(max) not in (int, float) or input.dtype.kind not in "fV" or min > max:
        return NotImplemented
    return run("clamp", input, min, max, out=out)


@kernel(op.sub_scaled, device="cuda", into=True)
@kernel(op.add_scaled, device="cuda", into=True)
def add_scaled(input: Any, other: Any, alpha: Any, out: Any = None) -> Any:
    if input.dtype.kind not in "fV" or type(alpha) not in (int, float):
        return NotImplemented
    return run("add_scaled", input, other, alpha, out=out)


@kernel(op.conj_physical, device="cuda")
def conj_physical(input: Any) -> Any:
    result = run("conj_physical", input)
    return xp.conjugate(input) if result is NotImplemented else result


@kernel(op.complex, device="cuda")
def complex(real: Any, imag: Any) -> Any:
    if real.dtype.kind != "f" or real.dtype.itemsize < 4:
        raise TypeError(f"complex: parts of type {real.dtype}")
    out = xp.empty(np.broadcast_shapes(real.shape, imag.shape), np.result_type(real.dtype, np.complex64))
    out.real, out.imag = real, imag
    return out


@kernel(op.real_part, device="cuda")
def real_part(input: Any) -> Any:
    return input.real


@kernel(op.imag_part, device="cuda")
def imag_part(input: Any) -> Any:
    return input.imag
