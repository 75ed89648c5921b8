"""Remainders and whole quotients of float32, from one division in float64 each, or a few where quotients are large."""

from __future__ import annotations

from collections.abc import Callable

from tenfold.llvm import maths
from tenfold.llvm.expressions import Expr, constant, convert, copysign, different, equal, fma, rounding, select
from tenfold.llvm.kernels.attaching import elementwise
from tenfold.llvm.loops import Cases
from tenfold.llvm.storage import FLOAT32

PATIENCE = 100  # calls on few elements: NumPy takes several passes
LARGEST = 2.0**52  # quotients from which on float64 has no fractions: one step leaves no remainder
STEPS = (
    240,
    192,
    144,
    96,
    48,
    0,
)  # powers of two by which divisors are larger in the steps to a remainder: quotients stay below 2**50


def _too_large(x: Expr, y: Expr) -> Expr:
    quotient = abs(convert(x, "double") / convert(y, "double"))
    return (quotient >= LARGEST) & (quotient < maths.INF)


def _rest(a: Expr, b: Expr) -> Expr:
    """a - trunc(a / b) b, which is exact where the quotient has fractions; with the sign of a, that of zero too."""
    rest = fma(-rounding("trunc", a / b), b, a)
    size = abs(rest)
    # A quotient that was rounded up to a whole number leaves a rest of the other sign.
    over = (rest < 0.0) & (a > 0.0) | (rest > 0.0) & (a < 0.0)
    size = select(over, abs(b) - size, size)
    finite = equal(abs(b), maths.INF) & (abs(a) < maths.INF)
    return select(finite, a, copysign(size, a))


def _fmod(x: Expr, y: Expr, steps: tuple[int, ...]) -> Expr:
    """The remainder in float64."""
    rest, b = convert(x, "double"), convert(y, "double")
    for step in steps:
        rest = _rest(rest, b * 2.0**step)
    return rest


def _other_sign(rest: Expr, y: Expr) -> Expr:
    """Whether a rest has another sign than the divisor."""
    zero = constant(0.0, rest.type)
    return different(rest, zero) & ((y < zero) ^ (rest < zero))


def _fmod_of(x: Expr, y: Expr, steps: tuple[int, ...]) -> Expr:
    return convert(_fmod(x, y, steps), "float")


def _remainder(x: Expr, y: Expr, steps: tuple[int, ...]) -> Expr:
    """With the sign of y, but for zeros, which have that of x."""
    rest, b = _fmod(x, y, steps), convert(y, "double")
    return convert(select(_other_sign(rest, b), rest + b, rest), "float")


def _floor_divide(x: Expr, y: Expr, steps: tuple[int, ...]) -> Expr:
    """floor(x / y), from x less its remainder in steps of float32, as in NumPy and PyTorch; x / y where y is 0."""
    rest = _fmod_of(x, y, steps)
    quotient = (x - rest) / y
    quotient = select(_other_sign(rest, y), quotient - 1.0, quotient)
    whole = rounding("floor", quotient)
    whole = select(quotient - whole > 0.5, whole + 1.0, whole)
    whole = select(equal(quotient, 0.0), copysign(constant(0.0, x.type), x / y), whole)
    return select(equal(y, 0.0), x / y, whole)


def _cases(formula: Callable[[Expr, Expr, tuple[int, ...]], Expr]) -> Callable[[Expr, Expr], Cases]:
    """One step for most quotients."""
    return lambda x, y: Cases(formula(x, y, (0,)), _too_large(x, y), formula(x, y, STEPS))


for _name, _formula in {
    "fmod": _fmod_of,
    "remainder": _remainder,
    "floor_divide": _floor_divide,
    "floored_quotient": _floor_divide,
}.items():
    elementwise(
        _name,
        _cases(_formula),
        "yy" if _name in ("remainder", "floor_divide") else "xy",
        exact=True,
        patience=PATIENCE,
        dtypes=(FLOAT32,),
        into=False,
    )
