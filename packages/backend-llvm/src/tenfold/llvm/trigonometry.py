"""Sine and cosine as expressions, each from one polynomial of the angle less half turns.

Angles that are not large are reduced in three parts (W. J. Cody and W. Waite), whose first difference is exact; larger ones,
which programs rarely have, by `far`, to the nearest right angle. The polynomials were fitted as those of maths.py.
"""

from __future__ import annotations

from tenfold.llvm import far
from tenfold.llvm.expressions import Expr, bits, constant, convert, different, fma, from_bits, select, shift
from tenfold.llvm.loops import Cases
from tenfold.llvm.maths import INF, MAGIC, polynomial

OVER_PI = 0.3183098861837907
# pi / 2 as a sum
HALF_PI = {"float": (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15), "double": far.HALF_PI}
# Angles from which on the third part has too few bits.
END = {"float": 2.0**17, "double": 2.0**30}
TINY = 2.0**-40  # below it the sine is the angle, whose sign -0.0 has too
# (sin(s) / s - 1) / s**2 in s**2, for |s| <= pi / 2
HALF_TURN = {
    "float": (-0.16666666663853422, 0.008333332764254275, -0.00019841085469334525, 2.7536381067442063e-06,
              -2.407828263191349e-08),
    "double": (-0.16666666666666666, 0.008333333333333333, -0.00019841269841269806, 2.7557319223971086e-06,
               -2.5052108382360896e-08, 1.605904347656436e-10, -7.647138974898878e-13, 2.810464851599201e-15,
               -8.005646027219286e-18),
}  # fmt: skip
# The same for |s| <= pi / 4, and (cos(s) - 1 + s**2 / 2) / s**4
SINE = (-0.16666666666666666, 0.008333333333330946, -0.0001984126983675497, 2.755731610068303e-06, -2.5051131455427946e-08,
        1.591810123027412e-10)  # fmt: skip
COSINE = (0.041666666666666664, -0.0013888888888887395, 2.4801587298763433e-05, -2.7557317270560326e-07, 2.0876146024689747e-09,
          -1.1382614868556325e-11)  # fmt: skip


def _near(x: Expr, turn: int) -> Expr:
    """The sine of x and `turn` right angles, for |x| < END; NaN of what is not finite."""
    type = x.type
    shifted = fma(x, OVER_PI, -0.5) + MAGIC[type] if turn else fma(x, OVER_PI, MAGIC[type])
    k = shifted - MAGIC[type]
    k = fma(k, 2.0, 1.0) if turn else k  # right angles, or half turns
    first, second, third = (part * (2 - turn) for part in HALF_PI[type])
    start = fma(-k, first, x)
    if type == "float":
        value = _sine_to_one(fma(-k, third, fma(-k, second, start)), None)
    else:
        step = k * second
        s = start - step
        back = s - start
        lost = (start - (s - back)) - (step + back)
        value = _sine_to_one(s, fma(-k, third, lost - fma(k, second, -step)))
    sign = shift("shl", bits(shifted) + turn, 31 if type == "float" else 63)
    value = from_bits(bits(value) ^ sign)
    return value if turn else select(abs(x) < TINY, x, value)


def _sine_to_one(s: Expr, low: Expr | None) -> Expr:
    """sin(s + low) for |s| <= pi / 2: the first two terms to twice the digits, since the second is large there."""
    first, *rest = HALF_TURN[s.type]
    z = s * s
    cube = s * z
    most = fma(cube, first, s)
    less = fma(cube, first, s - most)
    if low is not None:
        less = fma(fma(s, fma(s, s, -z), fma(s, z, -cube)), first, less)
        less = less + fma(low, z * fma(z, 1 / 24, -0.5), low)  # low cos(s)
    return most + fma(cube * z, polynomial(z, rest), less)


def _far(x: Expr, turn: int) -> Expr:
    """The same of float64 for |x| >= END that is finite."""
    quarters, s, low = (
        Expr(name, type, (x,)) for name, type in (("far_quarters", "i64"), ("far_high", "double"), ("far_low", "double"))
    )
    z = s * s
    sine = s + fma(s * z, polynomial(z, SINE), fma(low, z * -0.5, low))
    half = z * 0.5
    start = 1.0 - half
    cosine = start + (((1.0 - start) - half) + fma(z * z, polynomial(z, COSINE), -(s * low)))
    quarters = quarters + turn
    odd = different(quarters & constant(1, "i64"), constant(0, "i64"))
    return from_bits(bits(select(odd, cosine, sine)) ^ shift("shl", quarters & constant(2, "i64"), 62))


def _cases(x: Expr, turn: int) -> Cases:
    end = END[x.type]
    near, large = _near(x, turn), abs(x) >= end
    rare = large & (abs(x) < INF)
    return Cases(near, large, select(rare, convert(_far(convert(select(rare, x, end), "double"), turn), x.type), near))


def sin(x: Expr) -> Cases:
    """The sine of any angle; of float32 1.6 ulp, of float64 1.1 ulp."""
    return _cases(x, 0)


def cos(x: Expr) -> Cases:
    """The cosine of any angle; of float32 1.6 ulp, of float64 1.1 ulp."""
    return _cases(x, 1)
