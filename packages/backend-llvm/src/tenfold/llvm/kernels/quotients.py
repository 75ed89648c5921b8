"""Remainders and whole quotients of float32, from one division in float64 each."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm import maths
from tenfold.llvm.elementwise import Operator, not_served
from tenfold.llvm.expressions import Expr, constant, convert, copysign, different, equal, fma, rounding, select
from tenfold.llvm.gates import gated
from tenfold.llvm.storage import FLOAT32

LARGEST = 2.0**52  # quotients from which on float64 has no fractions: one step leaves no remainder
LEAST = 1 << 8  # elements, below which the kernel beneath takes as long


def _too_large(x: Expr, y: Expr) -> Expr:
    quotient = abs(convert(x, "double") / convert(y, "double"))
    return (quotient >= LARGEST) & (quotient < maths.INF)


def _fmod(x: Expr, y: Expr) -> Expr:
    """x - trunc(x / y) y in float64, which is exact; with the sign of x, that of zero too."""
    a, b = convert(x, "double"), convert(y, "double")
    rest = fma(-rounding("trunc", a / b), b, a)
    size = abs(rest)
    # A quotient that was rounded up to a whole number leaves a rest of the other sign.
    over = (rest < 0.0) & (a > 0.0) | (rest > 0.0) & (a < 0.0)
    size = select(over, abs(b) - size, size)
    finite = equal(abs(b), maths.INF) & (abs(a) < maths.INF)
    return select(finite, a, copysign(size, a))


def _other_sign(rest: Expr, y: Expr) -> Expr:
    """Whether a rest has another sign than the divisor."""
    zero = constant(0.0, rest.type)
    return different(rest, zero) & ((y < zero) ^ (rest < zero))


def fmod(x: Expr, y: Expr) -> Expr:
    return convert(_fmod(x, y), "float")


def remainder(x: Expr, y: Expr) -> Expr:
    """With the sign of y, but for zeros, which have that of x."""
    rest, b = _fmod(x, y), convert(y, "double")
    return convert(select(_other_sign(rest, b), rest + b, rest), "float")


def floor_divide(x: Expr, y: Expr) -> Expr:
    """floor(x / y), from x less its remainder in steps of float32, as in NumPy and PyTorch; x / y where y is 0."""
    rest = fmod(x, y)
    quotient = (x - rest) / y
    quotient = select(_other_sign(rest, y), quotient - 1.0, quotient)
    whole = rounding("floor", quotient)
    whole = select(quotient - whole > 0.5, whole + 1.0, whole)
    whole = select(equal(quotient, 0.0), copysign(constant(0.0, x.type), x / y), whole)
    return select(equal(y, 0.0), x / y, whole)


def _attach(name: str, formula: Any, large: Operator) -> None:
    found = Operator(name, formula, "xy", dtypes=(FLOAT32,)).wrap(not_served)
    ask = large.wrap(not_served)

    def serve(input: Any, other: Any) -> Any:
        beyond = ask(input, other)
        return NotImplemented if beyond is NotImplemented or beyond.any() else found(input, other)

    kernel(getattr(op, name), device="cpu", wrap=True, note="float32")(gated(serve, 2, LEAST, (FLOAT32,)))


_large = Operator("quotients too large", _too_large, "xy", bool_result=True, dtypes=(FLOAT32,))
for _name, _formula in {
    "fmod": fmod,
    "remainder": remainder,
    "floor_divide": floor_divide,
    "floored_quotient": floor_divide,
}.items():
    _attach(_name, _formula, _large)
