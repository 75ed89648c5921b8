"""Elementwise functions and arithmetic: one row each."""

from __future__ import annotations

from typing import Any

from tenfold.llvm import maths
from tenfold.llvm.expressions import Expr, different, equal, rounding, select, sqrt
from tenfold.llvm.kernels.attaching import elementwise
from tenfold.llvm.storage import FLOAT32

# Functions of one argument whose last bit differs from NumPy's: all sizes and layouts are served, so that the same number
# always has the same result.
for _name, _formula in {
    "exp": maths.exp, "expm1": maths.expm1, "log": maths.log, "log1p": maths.log1p, "tanh": maths.tanh,
    "sigmoid": maths.sigmoid, "erf": maths.erf, "erfc": maths.erfc,
}.items():  # fmt: skip
    elementwise(_name, _formula)

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
elementwise("clamp_min", maths.maximum, "xy", exact=True)
elementwise("clamp_max", maths.minimum, "xy", exact=True)

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
    return maths.minimum(maths.maximum(x, low), high)


elementwise("clamp", _clamp, "xnn", exact=True)
elementwise("where", select, "myy", exact=True)
elementwise("masked_fill", lambda x, mask, value: select(mask, value, x), "xmn", exact=True)
# In single steps, which overflow where those of NumPy do.
elementwise("addcmul", lambda x, a, b, value: x + a * value * b, "xxxn", exact=True)
elementwise("addcdiv", lambda x, a, b, value: x + a * value / b, "xxxn", exact=True)
elementwise("add_scaled", lambda x, y, alpha: x + y * alpha, "xyn", exact=True)


def _lerp(x: Expr, end: Expr, weight: Expr) -> Expr:
    near = abs(weight) < 0.5
    step = end - x
    return select(near, x + step * weight, end - step * (1.0 - weight))


elementwise("lerp", _lerp, "xxy")


def _one_exponent(x: Any, exponent: Any) -> bool:
    """Whether an array of no dimensions is the exponent of others."""
    return not getattr(exponent, "ndim", 0)


# An exponent for each element. The kernel beneath has those that are one number, or a single element: there the exponents 2, 3,
# 4, 0.5, -0.5, -1 and -2 mean products, roots and reciprocals, whose values at -0.0 and -inf are not those of powers.
elementwise("pow", maths.power, "xx", dtypes=(FLOAT32,), least=2, refuses=_one_exponent)
