"""Elementwise functions and arithmetic: one row each."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numpy._core.umath import clip  # type: ignore[attr-defined] # a ufunc, which declarations lack

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm import inverses, maths, powers, trigonometry
from tenfold.llvm.elementwise import Operator, not_served
from tenfold.llvm.expressions import Expr, convert, copysign, different, equal, fma, is_nan, rounding, select, sqrt
from tenfold.llvm.gates import gated
from tenfold.llvm.kernels.attaching import chosen, elementwise
from tenfold.llvm.storage import BFLOAT16, BY_DTYPE, FLOAT16, FLOAT32, LARGEST

SINGLE = (FLOAT32, FLOAT16, BFLOAT16)  # what is computed in float32
FACTORS = dict.fromkeys(SINGLE, LARGEST[FLOAT32])  # the largest, where half precision is multiplied in float32
# Functions of one argument whose last bit differs from NumPy's: all sizes and layouts are served, so that the same number
# always has the same result.
for _name, _formula in {
    "exp": maths.exp, "expm1": maths.expm1, "log": maths.log, "log1p": maths.log1p, "tanh": maths.tanh,
    "sigmoid": maths.sigmoid, "erf": maths.erf, "erfc": maths.erfc,
}.items():  # fmt: skip
    elementwise(_name, _formula)
elementwise("sin", trigonometry.sin)
elementwise("cos", trigonometry.cos)

# Those that are rounded once, as NumPy's.
for _name, _formula in {
    "neg": lambda x: -x,
    "abs": abs,
    "sqrt": sqrt,
    "reciprocal": lambda x: 1.0 / x,
    "square": lambda x: x * x,
    "floor": lambda x: rounding("floor", x),
    "ceil": lambda x: rounding("ceil", x),
    "trunc": lambda x: rounding("trunc", x),
    "round": lambda x: rounding("rint", x),
}.items():
    elementwise(_name, _formula, exact=True)
elementwise("rsqrt", maths.rsqrt, exact=True)
elementwise("sign", maths.sign, exact=True)
elementwise("sgn", maths.sign, exact=True)

for _name, _binary in {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "rsub": lambda x, y: y - x,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
}.items():
    elementwise(_name, _binary, "xy", exact=True)
for _name, _binary in {
    "maximum": maths.maximum,
    "minimum": maths.minimum,
}.items():
    elementwise(_name, _binary, "xx", exact=True)


def _at_least(x: Expr, low: Expr) -> Expr:
    """The larger, NaN if one is; of two zeros the first."""
    return select((x >= low) | is_nan(x), x, low)


def _at_most(x: Expr, high: Expr) -> Expr:
    """The smaller, NaN if one is; of two zeros the first."""
    return select((x <= high) | is_nan(x), x, high)


elementwise("clamp_min", _at_least, "xy", exact=True, highest=LARGEST)
elementwise("clamp_max", _at_most, "xy", exact=True, highest=LARGEST)

for _name, _compared in {
    "eq": equal,
    "ne": different,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}.items():
    elementwise(_name, _compared, "xy", exact=True, bool_result=True, into=False)


def _clamp(x: Expr, low: Expr, high: Expr) -> Expr:
    return _at_most(_at_least(x, low), high)


def _limited(beneath: Any) -> Any:
    """Whole numbers between whole numbers that their dtype has: the body asks a dozen times what they are."""

    def clamp(input: Any, min: Any, max: Any, out: Any = None) -> Any:
        if input.dtype.kind in "iu" and all(type(limit) is int or limit is None for limit in (min, max)):
            lowest, highest = ENDS[input.dtype]
            low, high = lowest if min is None else min, highest if max is None else max
            if lowest <= low <= highest and lowest <= high <= highest and not min is max is None:
                return clip(input, low, high, out)  # whose loop is made of vectors, unlike that of `maximum` beside a number
        return beneath(input, min, max) if out is None else beneath(input, min, max, out=out)

    return clamp


class _Ends(dict[Any, tuple[int, int]]):
    """The smallest and the largest number of a dtype of whole numbers."""

    def __missing__(self, dtype: Any) -> tuple[int, int]:
        limits = np.iinfo(dtype)
        self[dtype] = found = int(limits.min), int(limits.max)
        return found


ENDS = _Ends()
kernel(op.clamp, device="cpu", wrap=True, into=True, note="whole numbers")(_limited)
elementwise("clamp", _clamp, "xnn", exact=True, highest=LARGEST)


def _beside_half(beneath: Any) -> Any:
    """A number beside half precision as one of its elements: NumPy's own choice may be of another dtype."""

    def where(condition: Any, input: Any, other: Any) -> Any:
        if type(input) in (int, float) and getattr(other, "itemsize", 0) == 2:
            return beneath(condition, np.asarray(float(input), np.float32).astype(other.dtype), other)
        if type(other) in (int, float) and getattr(input, "itemsize", 0) == 2:
            return beneath(condition, input, np.asarray(float(other), np.float32).astype(input.dtype))
        return beneath(condition, input, other)

    return where


kernel(op.where, device="cpu", wrap=True, note="numbers beside half precision")(_beside_half)
elementwise("where", select, "myy", exact=True, highest={FLOAT32: LARGEST[FLOAT32]})
elementwise("masked_fill", lambda x, mask, value: select(mask, value, x), "xmn", exact=True, highest=LARGEST)
# In single steps, which overflow where those of NumPy do.
elementwise("addcdiv", lambda x, a, b, value: x + a * value / b, "xxxn", exact=True, highest=FACTORS)
# A product and a sum are rounded once, as PyTorch rounds them; NumPy beneath does so twice.
elementwise("addcmul", lambda x, a, b, value: fma(a * value, b, x), "xxxn", highest=FACTORS)
for _name in ("add_scaled", "sub_scaled"):
    elementwise(_name, lambda x, y, alpha: fma(y, alpha, x), "xyr", highest=LARGEST)


def _lerp(x: Expr, end: Expr, weight: Expr) -> Expr:
    near = abs(weight) < 0.5
    step = end - x
    return select(near, fma(step, weight, x), fma(-step, 1.0 - weight, end))


elementwise("lerp", _lerp, "xxy", highest=LARGEST)
elementwise("copysign", copysign, "xy", exact=True)
elementwise("frac", lambda x: x - rounding("trunc", x), exact=True)


def _hypot(x: Expr, y: Expr) -> Expr:
    """By squares of float64, which do not overflow; infinite where one is, NaN or not."""
    a, b = convert(x, "double"), convert(y, "double")
    infinite = equal(abs(x), maths.INF) | equal(abs(y), maths.INF)
    return select(infinite, maths.INF, convert(sqrt(fma(a, a, b * b)), "float"))


def _logaddexp(x: Expr, y: Expr) -> Expr:
    """log(e**x + e**y); equal infinities have no difference."""
    rest = maths.log1p(maths.exp_of_negative(-abs(x - y)))
    return select(equal(x, y), x + log(2), maths.maximum(x, y) + rest)


elementwise("hypot", _hypot, "xx", dtypes=(FLOAT32,))
elementwise("logaddexp", _logaddexp, "xx")
elementwise("log10", maths.log10, dtypes=SINGLE)
elementwise("erfinv", inverses.erfinv, dtypes=SINGLE)


def _one_exponent(x: Any, exponent: Any) -> bool:
    """Whether an array of no dimensions is the exponent of others."""
    return not getattr(exponent, "ndim", 0)


# An exponent for each element. The kernel beneath has single elements, and exponents that are arrays of no dimensions: there
# 0.5 and -0.5 mean roots, whose values at -0.0 and -inf are not those of powers.
elementwise("pow", powers.power, "xx", dtypes=SINGLE, least=2, refuses=_one_exponent)


_SHORT = {
    2: lambda x: x * x,
    3: lambda x: x * x * x,
    4: lambda x: (x * x) * (x * x),
    0.5: sqrt,
    -1: lambda x: 1.0 / x,
    -0.5: maths.rsqrt,
    -2: lambda x: 1.0 / (x * x),
}  # fmt: skip
_PRODUCTS = {exponent: Operator("pow", formula, exact=True).wrap(not_served) for exponent, formula in _SHORT.items()}
_POWER = Operator("pow", powers.power, "xn", dtypes=SINGLE).wrap(not_served)


def _of_one_number(input: Any, exponent: Any, out: Any = None) -> Any:
    """Powers whose exponent is a number; those of a few are products, roots and reciprocals of them."""
    half = getattr(input, "itemsize", 0) == 2  # beside which a number comes as an array of no dimensions
    if half and type(exponent) is np.ndarray and not exponent.ndim:
        exponent = float(exponent)
    if type(exponent) not in (int, float):
        return NotImplemented
    short = None if half and abs(exponent) == 0.5 else _PRODUCTS.get(exponent)  # which is a power there, not a root
    given = (input,) if short is not None else (input, exponent)
    return (short or _POWER)(*given) if out is None else (short or _POWER)(*given, out=out)


kernel(op.pow, device="cpu", wrap=True, into=True, note="exponents that are numbers")(gated(_of_one_number, 2))


def _to_num(x: Expr, nan: Expr, high: Expr, low: Expr) -> Expr:
    return select(is_nan(x), nan, select(equal(x, maths.INF), high, select(equal(x, -maths.INF), low, x)))


_NUMBERS = Operator("nan_to_num", _to_num, "xnnn").wrap(not_served)


def _nan_to_num(input: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    """Numbers for what is none, all in one pass; those that the dtype does not hold are left to the body."""
    largest = LARGEST[BY_DTYPE[input.dtype]]
    given = (0.0 if nan is None else nan, largest if posinf is None else posinf, -largest if neginf is None else neginf)
    if any(type(g) not in (int, float) or largest < abs(g) < maths.INF for g in given):
        return NotImplemented
    return _NUMBERS(input, *given)


chosen("nan_to_num", _nan_to_num, 4, "numbers that the dtype holds")
