"""Elementwise functions with a bend, a step or a limit, whose parts NumPy computes one after the other: one row each."""

from __future__ import annotations

from math import pi

from tenfold.llvm import maths, trigonometry
from tenfold.llvm.expressions import Expr, constant, equal, is_nan, rounding, select
from tenfold.llvm.kernels.attaching import elementwise, led
from tenfold.llvm.loops import Cases

elementwise("sgn", maths.sign, exact=True, into=False)


def _angle(x: Expr) -> Expr:
    return select(x < 0.0, pi, select(is_nan(x), x, 0.0))


def _heaviside(x: Expr, values: Expr) -> Expr:
    return select(equal(x, 0.0), values, select(x > 0.0, constant(1.0, x.type), 0.0))


def _sinc(x: Expr) -> Cases:
    """sin(pi x) / (pi x), 1 at 0."""
    angle = x * pi
    sine = trigonometry.sin(angle)
    most, every = (select(equal(x, 0.0), 1.0, value / angle) for value in (sine.most, sine.every))
    return Cases(most, sine.rare, every)


def _logit(x: Expr) -> Expr:
    return maths.log(x / (1.0 - x))


def _logit_within(x: Expr, eps: Expr) -> Expr:
    high = 1.0 - eps
    return _logit(select(x < eps, eps, select(x > high, high, x)))


def _xlogy(x: Expr, y: Expr) -> Expr:
    return select(is_nan(y), y, select(equal(x, 0.0), 0.0, x * maths.log(y)))


elementwise("angle", _angle, exact=True, into=False)
elementwise("heaviside", _heaviside, "xx", exact=True, into=False)
elementwise("sinc", _sinc, into=False)
elementwise("logit", _logit_within, "xn", into=False)
elementwise("logit", _logit, "xo", only=(None,), into=False)
elementwise("xlogy", _xlogy, "yy", into=False)
elementwise("truncated_quotient", lambda x, y: x / y, "xy", exact=True, into=False, after=lambda q: rounding("trunc", q))
# Functions that NumPy has in one piece.
led(
    "exp2", "log2", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "atan2", "nextafter", "logaddexp2",
    "fmax", "fmin", "isnan", "isinf", "isfinite", "signbit", "logical_and", "logical_or", "logical_xor", "logical_not",
)  # fmt: skip
