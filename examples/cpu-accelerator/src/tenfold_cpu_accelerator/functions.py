"""The functions themselves, from polynomials fitted for this package (in the Chebyshev basis, to float32's precision)."""

from __future__ import annotations

from tenfold_cpu_accelerator.expressions import Value, bits, fma, from_bits, integer, polynomial, select

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693145751953125  # 16 bits of ln 2, so that its products with small integers are exact
LN2_LOW = 1.42860682030941723e-06
ROUND = 12582912.0  # 1.5 * 2**23: adding it leaves the nearest integer in the low bits
ROUND_BITS = 0x4B400000

# exp(r) for |r| <= ln 2 / 2; relative error 2.6e-9.
EXP = (1.0, 1.0000000377162144, 0.5000000047117032, 0.16666415514650876, 0.041666352898623464, 0.008375126398133812,
       0.0013941108317623424)  # fmt: skip
# The normal distribution's tail Phi(-a) = exp(-a p(a)) / 2 for 0 <= a <= 6; absolute error 2.5e-9.
TAIL = (0.7978847966146867, 0.31830642440298923, 0.0363522766273827, -0.00481926648156453, 6.002005293651112e-06,
        0.0001870211000641236, -4.849505364005631e-05, 6.002368909443392e-06, -3.101314732673122e-07)  # fmt: skip


def exp(x: Value) -> Value:
    """e**x by x = n ln 2 + r (Cody and Waite, 1980), scaled by 2**n in two halves: subnormals and infinity come right."""
    inside = select(x < -105.0, -105.0, x)  # NaN stays NaN
    inside = select(inside > 90.0, 90.0, inside)
    shifted = fma(inside, LOG2_E, ROUND)
    n = shifted - ROUND
    r = fma(n, -LN2_LOW, fma(n, -LN2_HIGH, inside))
    whole = integer("sub", bits(shifted), ROUND_BITS)
    half = integer("ashr", whole, 1)
    return polynomial(r, EXP) * _power_of_two(half) * _power_of_two(integer("sub", whole, half))


def _power_of_two(n: Value) -> Value:
    """2**n from the exponent's bits, for |n| < 127."""
    return from_bits(integer("shl", integer("add", n, 127), 23))


def sigmoid(x: Value) -> Value:
    """1 / (1 + e**-x), from e**-|x| so that small results keep their precision."""
    e = exp(-abs(x))
    return select(x < 0.0, e, 1.0) / (e + 1.0)


def gelu(x: Value) -> Value:
    """x Phi(x), with the tail of the normal distribution from its logarithm."""
    size = abs(x)
    inside = select(size > 6.0, 6.0, size)
    tail = exp(-(inside * polynomial(inside, TAIL))) * 0.5
    tail = select(size > 6.0, 0.0, tail)
    return x * select(x < 0.0, tail, 1.0 - tail)


def gelu_tanh(x: Value) -> Value:
    """x (1 + tanh(u)) / 2 = x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x**3)."""
    u = x * fma(x * x, 0.044715 * 1.5957691216057308, 1.5957691216057308)
    return x * sigmoid(u)
