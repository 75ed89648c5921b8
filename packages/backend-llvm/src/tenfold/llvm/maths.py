"""Elementary functions as expressions, so that LLVM makes vector code of them: its own intrinsics become calls of libm.

Each works in float32 and in float64; the stated errors in units in the last place are measured by tests/test_maths.py.
The polynomials were fitted for this package, in Chebyshev points with 50 digits; the reductions are those of W. J. Cody and
W. Waite, "Software Manual for the Elementary Functions" (1980), and P. T. P. Tang's of the logarithm (1990). NaN, infinities,
subnormal numbers and the sign of zero come out as IEEE 754 wants them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi, sqrt as root

from tenfold.llvm.compiler import parted, scales, wide
from tenfold.llvm.expressions import (
    Expr,
    bits,
    constant,
    convert,
    copysign,
    equal,
    exponent,
    fma,
    from_bits,
    is_nan,
    mantissa,
    scaled,
    select,
    shift,
    sqrt,
)

LOG2_E, LOG10_E = 1.4426950408889634, 0.4342944819032518
INF = float("inf")
# ln 2 in two parts; the first has few bits, so that its products with exponents are exact.
LN2 = {"float": (0.693145751953125, 1.42860682030941723212e-6), "double": (0.6931471803691238, 1.9082149292705877e-10)}
# 1.5 times the number whose last bit is worth 1: added to a small number, it leaves the nearest integer in the low bits.
MAGIC = {"float": 12582912.0, "double": 6755399441055744.0}
MAGIC_BITS = {"float": 0x4B400000, "double": 0x4338000000000000}
MANTISSA = {"float": 23, "double": 52}
BIAS = {"float": 127, "double": 1023}
# Below the first e**x is 0, above the second infinite.
EXP_LIMITS = {"float": (-103.98, 90.0), "double": (-745.14, 711.0)}
# The largest numbers whose e**x is finite.
EXP_FINITE = {"float": 88.72283172607422, "double": 709.782712893384}
EXPM1_END = {"float": 88.723, "double": 709.79}
# (e**r - 1 - r) / r**2 for |r| <= ln 2 / 2
EXP = {
    "float": (0.5, 0.16666576266288757, 0.04166655242443085, 0.00836323294788599, 0.0013926250394433737),
    "double": (0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326084, 0.0013888888888883711, 0.0001984126987500228,
               2.480158732567746e-05, 2.755725517000089e-06, 2.755727347871858e-07, 2.5105312729622103e-08, 2.09147553258932e-09),
}  # fmt: skip
# (2 artanh(s) / s - 2) / s**2 in s**2, for 1 + f between sqrt(1/2) and sqrt(2), s = f / (2 + f)
LOG = {
    "float": (0.6666666865348816, 0.4000012278556824, 0.28550779819488525, 0.23331613838672638),
    "double": (0.6666666666666666, 0.40000000000000885, 0.28571428570799784, 0.22222222392581045, 0.18181795547521137,
               0.15386244737621665, 0.13268638369266825, 0.13088034850927555),
}  # fmt: skip
# (log(1 + f) - f) / f**2, for f between -1/4 and 1/2; in the second table to 38 bits, for results that are rounded to float32
LOG1P = {
    "float": (-0.5, 0.3333345055580139, -0.25000065565109253, 0.19990754127502441, -0.16648517549037933, 0.14482447504997253,
              -0.13152022659778595, 0.10417545586824417, -0.04465021938085556),
    "double": (-0.5000000000788895, 0.3333333334277335, -0.24999997629973694, 0.19999994605284896, -0.1666684690900554,
               0.14286319871080097, -0.12494995507908141, 0.11087086343596404, -0.10038377820442941, 0.09461870013559506,
               -0.08742924811588301, 0.06208637505239258, -0.02202871788160318),
}  # fmt: skip
# erf(x) / x - 1 in x**2, for |x| <= 1
ERF = {
    "float": (0.12837916612625122, -0.3761262595653534, 0.11283594369888306, -0.02685421146452427, 0.005189087241888046,
              -0.000801686430349946, 7.875874871388078e-05),
    "double": (0.1283791670955126, -0.3761263890318375, 0.11283791670954879, -0.026866170645076792, 0.0052239776248180145,
               -0.000854832698083379, 0.0001205533111164271, -1.4925595266831182e-05, 1.6461000484121368e-06,
               -1.6350312701054695e-07, 1.4659775274047436e-08, -1.1372848856791674e-09, 5.957176147748911e-11),
}  # fmt: skip
# (1 + 2 x) e**(x**2) erfc(x) in t = (x - c) / (x + c), for x >= 1
TAIL_CENTER = {"float": 3.0, "double": 4.0}
TAIL = {
    "float": (1.2530080080032349, -0.1356211155653, -0.04756225645542145, 0.12964525818824768, -0.11927488446235657,
              0.06830742955207825, -0.023756667971611023, 0.0025241822004318237, 0.0018245739629492164, -0.0007250058697536588),
    "double": (1.2329951186255526, -0.13962111684056253, 0.015379652102620517, 0.06809705425469556, -0.10103906603636663,
               0.09373283499822639, -0.06633036581022515, 0.03716751553970077, -0.016197734090861556, 0.005031969959955954,
               -0.0007577729682444181, -0.0001992566557780742, 0.0001506197652840239, -2.4398796129808548e-05,
               -1.1214940454085914e-05, 5.706137058391276e-06, 2.779610203474889e-07, -8.132213473308921e-07,
               9.378764713111928e-08, 8.981761538262737e-08, -2.6490729369178822e-08),
}  # fmt: skip
# e**(x**2 / 2) times the normal distribution of -x in t = (x - 3) / (x + 3), for 0 <= x <= 14.5, where it vanishes in float32
NORMAL_END, NORMAL_CENTER = 14.5, 3.0
SCALED = 25  # powers of two by which its exponential is larger: a normal number up to the end, where its exponent has no bits
NORMAL = (0.12151394784450531, -0.20640261471271515, 0.12322501838207245, -0.04621325433254242, 0.0061322362162172794,
          0.0029044789262115955, -0.00098437222186476, -0.000339674559654668, 0.0001162496191682294,
          5.415194027591497e-05)  # fmt: skip
# Beyond this erfc(x) is 0.
TAIL_END = {"float": 10.06, "double": 27.23}
# Beyond this erf(x) is 1.
ERF_END = {"float": 4.0, "double": 6.0}
# Reciprocals of numbers between 1 and 2 by Chebyshev's polynomial: a hundredth off.
OF_1_TO_2 = (210 / 99, -144 / 99, 32 / 99)
TINY = {"float": 2.0**-126, "double": 2.0**-1022}


def polynomial(x: Expr, coefficients: Sequence[float]) -> Expr:
    """c0 + c1 x + c2 x**2 + ... by Horner's rule."""
    result = constant(coefficients[-1], x.type)
    for c in reversed(coefficients[:-1]):
        result = fma(x, result, c)
    return result


def paired_polynomial(x: Expr, coefficients: Sequence[float]) -> Expr:
    """The same by the even and the odd powers, two chains that do not wait for each other: for those of high degree."""
    square = x * x
    return fma(polynomial(square, coefficients[1::2]), x, polynomial(square, coefficients[::2]))


def _multiplied(type: str) -> bool:
    """Whether quotients are better made of products: a division of 16 numbers takes as long as 32 products of them."""
    return type == "float" and wide()


def _by_1_to_2(a: Expr, b: Expr) -> Expr:
    """a / b for b between 1 and 2; by products 0.51 ulp, and exact where a is b.

    For short formulas: in longer ones, such as those of erf and the logarithm, a division is done beside the other products.
    """
    if not _multiplied(b.type):
        return a / b
    r = polynomial(b, OF_1_TO_2)
    rest = fma(-b, r, 1.0)
    r = fma(r, fma(rest, rest, rest), r)  # its error to the third power
    q = a * r
    return fma(fma(-b, q, a), r, q)


def at_most(x: Expr, limit: float) -> Expr:
    """min(x, limit), where NaN stays NaN."""
    return select(x > limit, limit, x)


def at_least(x: Expr, limit: float) -> Expr:
    """max(x, limit), where NaN stays NaN."""
    return select(x < limit, limit, x)


def power_of_two(n: Expr, type: str) -> Expr:
    """2**n from the exponent's bits, for exponents of normal numbers."""
    return from_bits(shift("shl", n + BIAS[type], MANTISSA[type]))


def reduced(x: Expr) -> tuple[Expr, Expr]:
    """(r, n) with x = n ln 2 + r and |r| <= ln 2 / 2."""
    shifted = fma(x, LOG2_E, MAGIC[x.type])
    n = shifted - MAGIC[x.type]
    high, low = LN2[x.type]
    return fma(n, -low, fma(n, -high, x)), bits(shifted) - MAGIC_BITS[x.type]


def _expm1_of_small(r: Expr) -> Expr:
    return fma(r * r, polynomial(r, EXP[r.type]), r)


def _vanishing(x: Expr, end: float, formula: Callable[[Expr], Expr]) -> Expr:
    """A formula of x >= end or NaN, 0 below. What is 0 is not computed: some processors take 100 times as long for it."""
    gone = x < end
    return select(gone, 0.0, formula(select(gone, 0.0, x)))


def exp(x: Expr) -> Expr:
    """e**x; 1.01 ulp. Scaled in two halves: subnormal results and infinity come right."""
    low, high = EXP_LIMITS[x.type]
    return _vanishing(x, low, lambda x: _exp_in_halves(at_most(x, high)))


def _exp_in_halves(x: Expr) -> Expr:
    r, n = reduced(x)
    if scales():
        return scaled(_expm1_of_small(r) + 1.0, n)
    half = shift("ashr", n, 1)
    return (_expm1_of_small(r) + 1.0) * power_of_two(half, x.type) * power_of_two(n - half, x.type)


def exp_of_negative(x: Expr) -> Expr:
    """e**x for x <= 0 or NaN; 1 ulp. Scaled by a power that is normal, then by a constant: subnormal results come right."""
    return _vanishing(x, EXP_LIMITS[x.type][0], _exp_within_limits)


def _exp_within_limits(x: Expr) -> Expr:
    r, n = reduced(x)
    if scales():
        return scaled(_expm1_of_small(r) + 1.0, n)
    return (_expm1_of_small(r) + 1.0) * power_of_two(n + 64, x.type) * 2.0**-64


def expm1(x: Expr) -> Expr:
    """e**x - 1 without cancellation at small x; of float32 computed in float64, 0.51 ulp, else 1.6 ulp."""
    if x.type == "float":
        return select(abs(x) < 2.0**-24, x, convert(expm1(convert(x, "double")), "float"))
    return expm1_in_type(x)


def expm1_in_type(x: Expr) -> Expr:
    """The same in the type of x alone; 1.6 ulp."""
    end = EXPM1_END[x.type]
    r, n = reduced(at_most(at_least(x, -40.0), end))
    scale = power_of_two(n - 1, x.type)  # half of it, so that it does not overflow before the result does
    result = fma(scale, _expm1_of_small(r), scale - 0.5) * 2.0
    result = select(x > end, INF, result)
    return select(abs(x) < 2.0 ** -(MANTISSA[x.type] + 1), x, result)  # with the sign of zero


def _split(x: Expr) -> tuple[Expr, Expr]:
    """(f, k) with x = 2**k (1 + f) and 1 + f between sqrt(1/2) and sqrt(2), for positive x."""
    type, width = x.type, MANTISSA[x.type]
    small = x < TINY[type]
    normal = select(small, x * 2.0**width, x)
    offset = {"float": 0x3F3504F3, "double": 0x3FE6A09E667F3BCD}[type]  # the bits of sqrt(1/2)
    shifted = bits(normal) - offset
    k = shift("ashr", shifted, width)
    m = from_bits(bits(normal) - shift("shl", k, width))
    # whole numbers are converted by adding them to the bits of a large float: that has vector code everywhere
    exponent = from_bits(k + MAGIC_BITS[type]) - MAGIC[type]
    return m - 1.0, exponent - select(small, constant(float(width), type), 0.0)


def log_by_parts(x: Expr) -> Expr:
    """log(x) of float32, or of float64 to 38 bits, without a division; infinities and NaN come of the exponent and mantissa."""
    m = mantissa(x)
    k, f = exponent(x) - exponent(m), m - 1.0
    high, low = LN2[x.type]
    return fma(k, high, fma(k, low, fma(f * f, polynomial(f, LOG1P[x.type]), f)))


def log(x: Expr) -> Expr:
    """The natural logarithm; 1 ulp."""
    if x.type == "float" and parted():
        return log_by_parts(x)
    f, k = _split(x)
    s = f / (f + 2.0)
    z = s * s
    high, low = LN2[x.type]
    half_square = f * f * 0.5
    correction = fma(s, fma(z, polynomial(z, LOG[x.type]), half_square), k * low)
    result = fma(k, high, f - (half_square - correction))
    result = select(equal(x, INF), INF, result)
    result = select(equal(x, 0.0), -INF, result)
    return select(x < 0.0, float("nan"), select(is_nan(x), x, result))


def log10(x: Expr) -> Expr:
    """The logarithm to base 10 of float32, computed in float64: 0.51 ulp, and whole for powers of ten."""
    wider = convert(x, "double")
    return convert((log_by_parts(wider) if parted() else log(wider)) * LOG10_E, "float")


def log1p(x: Expr) -> Expr:
    """log(1 + x) without cancellation at small x; of float32 computed in float64, 0.51 ulp, else 1.6 ulp."""
    if x.type == "float":  # whose sum with 1 keeps enough of x there
        u = convert(x, "double") + 1.0
        return select(abs(x) < 2.0**-24, x, convert(log_by_parts(u) if parted() else log(u), "float"))
    return log1p_in_type(x)


def log1p_in_type(x: Expr) -> Expr:
    """The same in the type of x alone; 1.6 ulp."""
    u = x + 1.0
    rest = select((abs(u) < INF) & (u > 0.0), x - (u - 1.0), 0.0)  # what the sum rounded away
    result = log(u) + rest / select(u > 0.0, u, 1.0)
    return select(abs(x) < 2.0 ** -(MANTISSA[x.type] + 1), x, result)


def tanh(x: Expr) -> Expr:
    """The hyperbolic tangent, -expm1(-2 |x|) / (expm1(-2 |x|) + 2); 2.6 ulp."""
    r, n = reduced(at_least(abs(x) * -2.0, -40.0))
    scale = power_of_two(n, x.type)
    e = fma(scale, _expm1_of_small(r), scale - 1.0)
    return copysign(_by_1_to_2(-e, e + 2.0), x)


def sigmoid(x: Expr) -> Expr:
    """1 / (1 + e**-x), from e**-|x| so that small results keep their digits; 2.5 ulp. 0 where e**-x overflows, as in PyTorch."""
    e = _vanishing(-abs(x), -EXP_FINITE[x.type], _exp_within_limits)
    return _by_1_to_2(select(x < -EXP_FINITE[x.type], 0.0, select(x < 0.0, e, 1.0)), e + 1.0)


def _tail(a: Expr) -> Expr:
    """erfc(a) for a >= 1."""
    return _vanishing(-a, -TAIL_END[a.type], lambda x: _tail_of(-x))


def _tail_of(a: Expr) -> Expr:
    """The same as far as it is not 0, with the rounding error of a**2 put right."""
    center = TAIL_CENTER[a.type]
    odd = fma(a, 2.0, 1.0)
    if _multiplied(a.type):  # both reciprocals of that of their product
        r = 1.0 / (odd * (a + center))
        above, r = paired_polynomial(fma(r * odd, -2.0 * center, 1.0), TAIL[a.type]), r * (a + center)
        ratio = above * r
        ratio = fma(fma(-odd, ratio, above), r, ratio)
    else:
        ratio = paired_polynomial((a - center) / (a + center), TAIL[a.type]) / odd
    square = a * a
    rest = fma(a, a, -square)
    e = _exp_within_limits(-square)
    return fma(-rest, e, e) * ratio


def _erf_of_small(x: Expr) -> Expr:
    return fma(x, polynomial(x * x, ERF[x.type]), x)


def erf(x: Expr) -> Expr:
    """The error function; 1 ulp."""
    a = abs(x)
    return select(a < 1.0, _erf_of_small(x), copysign(1.0 - _tail_of(at_most(a, ERF_END[x.type])), x))


def erfc(x: Expr) -> Expr:
    """1 - erf(x) without cancellation; 4.5 ulp."""
    a = abs(x)
    tail = _tail(a)
    return select(a < 1.0, 1.0 - _erf_of_small(x), select(x < 0.0, 2.0 - tail, tail))


def _normal(a: Expr) -> tuple[Expr, Expr]:
    """For a >= 0 the probability that a normal number is above a, 8 ulp, and e**(-a**2 / 2) times 2**SCALED; float32."""
    a = at_most(a, NORMAL_END)  # where the exponent of e has no bits left, so that e is 0
    shifted = fma(a * a, -0.5 * LOG2_E, MAGIC["float"])
    n = shifted - MAGIC["float"]
    high, low = LN2["float"]
    # The square's rounding error would grow with the exponential: it is rounded once the multiple of ln 2 is taken off.
    r = fma(n, -low, fma(a * -0.5, a, -(n * high)))
    e = fma(r, fma(r, polynomial(r, EXP["float"]), 1.0), 1.0)
    e = e * from_bits(shift("shl", bits(shifted) - MAGIC_BITS["float"] + (BIAS["float"] + SCALED), MANTISSA["float"]))
    center = (a - NORMAL_CENTER) / (a + NORMAL_CENTER)
    return e * paired_polynomial(center, [c * 2.0**-SCALED for c in NORMAL]), e


def gelu(x: Expr) -> Expr:
    """x times the probability that a normal number is below x: max(x, 0) - |x| P(above |x|), infinite at infinity."""
    if x.type != "float":
        return x * (erfc(x * -root(0.5)) * 0.5)
    a = abs(at_most(x, NORMAL_END))
    return select(x < 0.0, -0.0, x) - a * _normal(a)[0]  # of -40 it is -0.0


GELU_SCALE, GELU_CUBE = root(2 / pi), 0.044715


def _gelu_slope(x: Expr) -> Expr:
    """2 u of u = sqrt(2 / pi) (x + 0.044715 x**3)."""
    return x * fma(x * x, 2 * GELU_SCALE * GELU_CUBE, 2 * GELU_SCALE)


def gelu_tanh(x: Expr) -> Expr:
    """x (1 + tanh(u)) / 2, which is x sigmoid(2 u)."""
    return x * sigmoid(_gelu_slope(x))


def gelu_gradient(g: Expr, x: Expr) -> Expr:
    """g (F(x) + x F'(x)) of the normal distribution F; with d = |x| F'(|x|) - F(-|x|) it is g (1 + d), below zero g -d."""
    if x.type != "float":
        return g * fma(x, exp(x * x * -0.5) * (1 / root(2 * pi)), erfc(x * -root(0.5)) * 0.5)
    a = abs(x)
    tail, e = _normal(a)
    d = fma(a, e * (2.0**-SCALED / root(2 * pi)), -tail)
    return g * select(x < 0.0, -d, d + 1.0)


def gelu_tanh_gradient(g: Expr, x: Expr) -> Expr:
    """With s = sigmoid(2 u): g s (1 + 2 u' x (1 - s)); 1 - s is sigmoid(-2 u)."""
    twice = _gelu_slope(x)
    rise = x * fma(x * x, 6 * GELU_SCALE * GELU_CUBE, 2 * GELU_SCALE)
    return g * sigmoid(twice) * fma(rise, sigmoid(-twice), 1.0)


def maximum(x: Expr, y: Expr) -> Expr:
    """The larger; NaN if one is."""
    return select((x > y) | is_nan(x), x, y)


def minimum(x: Expr, y: Expr) -> Expr:
    """The smaller; NaN if one is."""
    return select((x < y) | is_nan(x), x, y)


def rsqrt(x: Expr) -> Expr:
    return 1.0 / sqrt(x)


def sign(x: Expr) -> Expr:
    """-1, 0 or 1; 0 for NaN."""
    return select(x > 0.0, 1.0, select(x < 0.0, constant(-1.0, x.type), 0.0))
