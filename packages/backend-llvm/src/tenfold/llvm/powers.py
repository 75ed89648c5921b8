"""Powers, as expressions: of float32, by logarithms and exponentials in float64."""

from __future__ import annotations

from tenfold.llvm.compiler import parted
from tenfold.llvm.expressions import Expr, convert, copysign, equal, fma, rounding, select
from tenfold.llvm.maths import INF, at_least, at_most, exp, log, log_by_parts, polynomial, power_of_two, reduced

# (e**r - 1 - r) / r**2 for |r| <= ln 2 / 2 to 39 bits, for results that are rounded to float32.
EXP_ROUNDED = (0.4999999999964091, 0.1666666678670795, 0.0416666669729772, 0.0083332812527978, 0.0013888809682780796,
               0.0001990925365421934, 2.488142268188255e-05)  # fmt: skip


def power(x: Expr, y: Expr) -> Expr:
    """x**y in float32, by e**(y log |x|) in float64; 0.6 ulp."""
    if x.type != "float":
        raise TypeError("power is for float32")
    size, exponent = convert(abs(x), "double"), convert(y, "double")
    value = convert(_power_of_parts(exponent, size) if parted() else exp(exponent * log(size)), "float")
    whole = equal(rounding("trunc", y), y)
    odd = whole & (abs(y) < 2.0**24) & ~_is_even(y)
    value = select(x < 0.0, select(odd, -value, value), value)
    value = select((x < 0.0) & (x > -INF) & (abs(y) < INF) & ~whole, float("nan"), value)
    value = select(equal(x, 0.0), select(odd, copysign(value, x), value), value)
    value = select(equal(abs(x), 1.0) & equal(abs(y), INF), 1.0, value)
    return select(equal(y, 0.0) | equal(x, 1.0), 1.0, value)


def _power_of_parts(y: Expr, x: Expr) -> Expr:
    """x**y of float64 to 36 bits, for x that is not negative and results in the range of float32."""
    r, n = reduced(at_most(at_least(y * log_by_parts(x), -120.0), 120.0))
    return fma(r * r, polynomial(r, EXP_ROUNDED), r + 1.0) * power_of_two(n, "double")


def _is_even(y: Expr) -> Expr:
    half = y * 0.5
    return equal(rounding("trunc", half), half)
