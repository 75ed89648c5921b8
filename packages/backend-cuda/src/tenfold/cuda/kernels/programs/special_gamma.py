"""The gamma function's derivatives and incomplete forms, Hurwitz' zeta function, mantissas, the normal law's logarithm.

Loops go on while a lane of the program needs another term; each is bounded, whatever memory holds.

Source: NIST Digital Library of Mathematical Functions, 5.5, 5.11, 8.7, 8.9, 8.12 and 25.11; for the uniform expansion Temme, "The
asymptotic expansion of the incomplete gamma functions", SIAM J. Math. Anal. 10, 1979.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.series import chebyshev, math, polynomial

# B_2k / (2 k) with the sign of DLMF 5.11.2, and B_2k / (2 k)!, k = 1, 2, ...
DIGAMMA: tl.constexpr = tl.constexpr((1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12))
EULER: tl.constexpr = tl.constexpr((
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600, -3617 / 10670622842880000,
    43867 / 5109094217170944000, -174611 / 802857662698291200000,
))  # fmt: skip
# The logarithm of Gamma(a) over Stirling's formula, by a^-1, a^-3, ... (DLMF 5.11.1)
STIRLING: tl.constexpr = tl.constexpr((1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156))
# lgamma(1 + x) / x, 0 to 0.5, t = 4 x - 1
LGAMMA_1P: tl.constexpr = tl.constexpr((
    -0.40119623277820043, 0.16727067710339055, -0.008151062156675055, 0.0005513921569413862, -4.247273995933618e-05,
    3.4989272362412623e-06, -3.0002291903784227e-07, 2.6410795542216655e-08, -2.368301265823742e-09, 2.1530778450424467e-10,
    -1.9783893359025602e-11, 1.8334866742241024e-12, -1.7112096117811634e-13, 1.606579097278347e-14, -1.5160095697542263e-15,
    1.4368436843071982e-16, -1.3670644981021515e-17,
))  # fmt: skip
# 2 (x - log(1 + x)) / x^2, -0.3 to 0.3, t = x / 0.3
ETA: tl.constexpr = tl.constexpr((
    1.0235733018456523, -0.20856240068433368, 0.0239416059501957, -0.002934180497725365, 0.0003747929107255423,
    -4.925970295755902e-05, 6.6108908523854906e-06, -9.014667099109514e-07, 1.2447896131777646e-07, -1.7364181657725395e-08,
    2.442608981156748e-09, -3.4602679361152165e-10, 4.9313638232083385e-11, -7.064243658717711e-12, 1.016518598905321e-12,
    -1.4685160234102445e-13, 2.128919448644402e-14, -3.0959389537286494e-15, 4.514804981848831e-16, -6.60055267929566e-17,
))  # fmt: skip
# c_k(eta) by powers of eta (DLMF 8.12.9 to 8.12.12), as many as tell where a >= 20
C0: tl.constexpr = tl.constexpr((
    -0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073, 0.0003527336860670194,
    -0.0001787551440329218, 3.919263178522438e-05, -2.185448510679992e-06, -1.85406221071516e-06, 8.296711340953087e-07,
    -1.7665952736826078e-07, 6.707853543401498e-09, 1.0261809784240309e-08, -4.382036018453353e-09, 9.14769958223679e-10,
))  # fmt: skip
C1: tl.constexpr = tl.constexpr((
    -0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596, 0.00020576131687242798,
    -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06, -1.6120900894563446e-06, 4.647127802807434e-09,
    1.378633446915721e-07, -5.752545603517705e-08, 1.1951628599778148e-08,
))  # fmt: skip
C2: tl.constexpr = tl.constexpr((
    0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06, -0.0001073665322636516,
    5.2923448829120125e-05, -1.2760635188618728e-05, 3.423578734096138e-08, 1.3721957309062934e-06, -6.298992138380055e-07,
    1.4280614206064242e-07, -2.0477098421990866e-10, -1.409252991086752e-08,
))  # fmt: skip
C3: tl.constexpr = tl.constexpr((
    0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557, 0.00026772063206283885, -7.561801671883977e-05,
    -2.396505113867297e-07, 1.1082654115347302e-05, -5.6749528269915965e-06, 1.4230900732435883e-06, -2.7861080291528143e-11,
    -1.6958404091930278e-07, 8.099464905388083e-08,
))  # fmt: skip
C4: tl.constexpr = tl.constexpr((
    -0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902, -1.4638452578843418e-06, 6.641498215465122e-05,
    -3.968365047179435e-05, 1.1375726970678419e-05, 2.507497226237533e-10, -1.6954149536558305e-06, 8.907507532205309e-07,
))  # fmt: skip
C5: tl.constexpr = tl.constexpr((
    -0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392, -0.00019932570516188847, 6.797780477937208e-05,
    1.419062920643967e-07, -1.3594048189768693e-05, 8.018470256334202e-06, -2.291481176508095e-06,
))  # fmt: skip
C6: tl.constexpr = tl.constexpr((
    0.0005313079364639922, -0.0005921664373536939, 0.0002708782096718045, 7.902353232660328e-07, -8.153969367561969e-05,
    5.61168275310625e-05, -1.8329116582843375e-05,
))  # fmt: skip
C7: tl.constexpr = tl.constexpr((
    0.00034436760689237765, 5.171790908260592e-05, -0.00033493161081142234, 0.0002812695154763237, -0.00010976582244684731,
    -1.2741009095484485e-07, 2.7744451511563645e-05,
))  # fmt: skip
C8: tl.constexpr = tl.constexpr((
    -0.0006526239185953094, 0.0008394987206720873, -0.000438297098541721, -6.969091458420552e-07, 0.00016644846642067547,
))  # fmt: skip
C9: tl.constexpr = tl.constexpr((
    -0.0005967612901927463, -7.204895416020011e-05, 0.0006782308837667328, -0.0006401475260262758,
))  # fmt: skip
C10: tl.constexpr = tl.constexpr((
    0.0013324454494800656, -0.0019144384985654776,
))  # fmt: skip


@triton.jit
def digamma(x):
    """psi(x): the asymptotic series, the recurrence to come there, reflection below 0; infinite at 0, nan at -1, -2, ..."""
    enough: tl.constexpr = 10 if x.dtype == tl.float64 else 6
    y = tl.where(x < 0.0, 1.0 - x, x)
    total = tl.zeros_like(y)
    for _ in tl.static_range(enough):
        total -= tl.where(y < enough, math.rcp_rn(y), 0.0)
        y = tl.where(y < enough, y + 1.0, y)
    inverse = math.rcp_rn(y)
    square = inverse * inverse
    total += math.log(y) - 0.5 * inverse - square * polynomial(square, DIGAMMA, 7)
    turn = x - math.rint(x)
    total -= tl.where(x < 0.0, math.div_rn(math.cospi(turn) * 3.141592653589793, math.sinpi(turn)), 0.0)
    total = tl.where((x < 0.0) & (x == tl.floor(x)), float("nan"), total)
    infinite = tl.full(x.shape, float("inf"), x.dtype)
    return tl.where(x == 0.0, math.copysign(infinite, x * -1.0), total)


@triton.jit
def _hurwitz(s, q):
    """The sum of (q + k)^-s over k = 0, 1, ... for q > 0: ten terms, and the rest by Euler and Maclaurin's formula (25.11.5)."""
    total = tl.zeros_like(q)
    a = q
    b = total
    k = 0.0
    for _ in range(10):
        a = q + k
        b = math.pow(a, -s)
        total += b
        k += 1.0
    inverse = math.rcp_rn(a)
    rest = math.div_rn(a * b, s - 1.0) - 0.5 * b
    factor = b * s * inverse
    step = s + 1.0
    square = inverse * inverse
    for k in tl.static_range(10):
        rest += factor * EULER[k]
        factor *= step * (step + 1.0) * square
        step += 2.0
    smallest: tl.constexpr = 1e-17 if s.dtype == tl.float64 else 1e-9
    return tl.where(b <= total * smallest, total, total + rest)


@triton.jit
def zeta(s, q):
    """Hurwitz' zeta function: infinite at s = 1 and where q is 0, -1, ..., nan for s < 1, and for q < 0 if s is not whole.

    The terms of negative bases are those of positive ones but for (-1)^s: with c = -q - floor(-q) of c, c + 1, ... up to -q.
    """
    total = tl.zeros_like(q)
    parts = tl.max((q < 0.0).to(tl.int32), 0) * 2 + 1
    k = 0
    while k < parts:  # zeta(s, 1 - c), zeta(s, c), and what is not of the sum; the latter two for q < 0 only
        below = q < 0.0
        last = -q - tl.floor(-q)
        base = tl.where(k == 0, 1.0 - last, tl.where(k == 1, last, 1.0 - q))
        part = _hurwitz(s, tl.where(below, base, tl.where(k == 0, q, 1.0)))
        odd = tl.floor(s * 0.5) != s * 0.5
        part = tl.where((k > 0) & ((k == 2) != odd), part * -1.0, part)
        total += tl.where((q < 0.0) | (k == 0), part, 0.0)
        k += 1
    total = tl.where((q < 0.0) & (s != tl.floor(s)), float("nan"), total)
    total = tl.where((q <= 0.0) & (q == tl.floor(q)), float("inf"), total)
    no_value = (s < 1.0) | ((s == float("inf")) & (q > 1.0) & (q < float("inf")))  # the latter as in PyTorch
    total = tl.where(no_value, float("nan"), total)
    return tl.where(s == 1.0, float("inf"), total)


@triton.jit
def polygamma(x, n, factor):
    """The derivative of order n > 0 of psi: (-1)^(n + 1) n! zeta(n + 1, x), the factor given."""
    result = factor * zeta(n + 1.0, x)
    inverse = math.rcp_rn(x)
    result = tl.where((n == 1.0) & (x > 1e9), inverse + 0.5 * inverse * inverse, result)  # where x^-2 may be 0
    return tl.where((x == float("-inf")) & (n == 1.0), float("nan"), result)


@triton.jit
def mvlgamma(x, p):
    """p (p - 1) / 4 log(pi) and the sum of lgamma(x - i / 2) over i < p, a whole number, the same for all."""
    total = p * (p - 1.0) * 0.28618247146235004
    dimension = tl.max(p, 0)
    i = 0.0
    while i < dimension:
        total += math.lgamma(x - i * 0.5)
        i += 1.0
    return total


@triton.jit
def _temme(a, eta):
    """The sum of c_k(eta) a^-k of DLMF 8.12.7, good to float64 for a >= 20 and |eta| < 0.34."""
    w = math.rcp_rn(a)
    total = polynomial(eta, C10, 2)
    total = total * w + polynomial(eta, C9, 4)
    total = total * w + polynomial(eta, C8, 5)
    total = total * w + polynomial(eta, C7, 7)
    total = total * w + polynomial(eta, C6, 7)
    total = total * w + polynomial(eta, C5, 9)
    total = total * w + polynomial(eta, C4, 10)
    total = total * w + polynomial(eta, C3, 12)
    total = total * w + polynomial(eta, C2, 13)
    total = total * w + polynomial(eta, C1, 13)
    return total * w + polynomial(eta, C0, 15)


@triton.jit
def _density(a, x):
    """(x^a exp(-x) / Gamma(a + 1), and Gamma(a + 1) where a <= 20)."""
    half = math.exp(x * -0.5)  # twice, since its square may be too small where the product is not
    gamma = math.tgamma(tl.minimum(a, 20.0) + 1.0)
    small = math.div_rn(math.pow(tl.minimum(x, 2000.0), tl.minimum(a, 20.0)) * half, gamma) * half
    mu = math.div_rn(x - a, a)
    w = math.rcp_rn(a)
    stirling = math.sqrt_rn(a * 6.283185307179586) * math.exp(w * polynomial(w * w, STIRLING, 7))
    large = math.div_rn(math.exp(a * (math.log1p(mu) - mu)), stirling)
    return tl.where(a < 20.0, small, large), gamma


@triton.jit
def igamma(a, x, UPPER: tl.constexpr):
    """P(a, x), or Q(a, x) where UPPER, in float64, as x^a exp(-x) keeps little in float32.

    By the series of P (8.7.1) up to a + sqrt(a), the continued fraction of Q (8.9.2) above, for large a near x by Temme's
    expansion, and Q of small x and a by its own series, in which what is nearly 1 has been taken from 1.
    """
    small: tl.constexpr = 1e-17 if a.dtype == tl.float64 else 1e-10
    steps: tl.constexpr = 55 if a.dtype == tl.float64 else 24
    a = a.to(tl.float64)
    x = x.to(tl.float64)
    inside = (a > 0.0) & (x > 0.0) & (a < float("inf")) & (x < float("inf"))
    p = tl.where(inside, a, 1.0)
    y = tl.where(inside, x, 1.0)
    near = (p >= 20.0) & (tl.abs(y - p) <= p * 0.3)
    beyond = inside & ~near & (y > 2.0) & (y > p + math.sqrt_rn(p))
    if UPPER:
        # Where P is more than about a half.
        limit = tl.where(y <= 0.5, math.div_rn(p * 0.0 - 0.4, math.log(tl.minimum(y, 0.5))), y * 1.1)
        low = inside & (y <= 2.0) & (p <= limit)
    else:
        low = p < 0.0
    density, gamma = _density(p, y)
    # P = density (1 + y / (p + 1) (1 + y / (p + 2) ...))
    term = tl.where(inside & ~near & ~beyond & ~low, 1.0, 0.0).to(tl.float64)
    total = p * 0.0 + 1.0
    n = p
    while tl.max((term > total * small).to(tl.int32), 0) > 0:
        n += 1.0
        term *= math.div_rn(y, n)
        total += term
    lower = density * total
    upper = 1.0 - lower
    if tl.max(beyond.to(tl.int32), 0) > 0:
        # Q = density p / (y + 1 - p - 1 (1 - p) / (y + 3 - p - ...)), from the innermost: so rounding errors do not add up.
        g = tl.where(beyond, p, 0.5)
        b = tl.where(beyond, y, 2.0) + 1.0 - g
        i = tl.full(g.shape, steps, tl.float64)
        inner = tl.zeros_like(b)
        for _ in range(steps):
            inner = math.div_rn((g - i) * i, b + i + i + inner)
            i -= 1.0
        upper = tl.where(beyond, math.div_rn(density * p, b + inner), upper)
        lower = tl.where(beyond, 1.0 - upper, lower)
    if tl.max(near.to(tl.int32), 0) > 0:
        q = tl.where(near, p, 20.0)
        mu = tl.where(near, math.div_rn(y - p, p), 0.0)
        eta = mu * math.sqrt_rn(chebyshev(mu * 3.3333333333333335, ETA, 20, 10))
        rest = math.exp(q * eta * eta * -0.5) * _temme(q, eta)
        rest = math.div_rn(rest, math.sqrt_rn(q * 6.283185307179586))
        tail = 0.5 * math.erfc(tl.abs(eta) * math.sqrt_rn(q * 0.5))
        upper = tl.where(near, tl.where(eta >= 0.0, tail + rest, 1.0 - (tail - rest)), upper)
        lower = tl.where(near, tl.where(eta >= 0.0, 1.0 - (tail + rest), tail - rest), lower)
    if UPPER:
        if tl.max(low.to(tl.int32), 0) > 0:
            # With u = log(y^p / Gamma(p + 1)): Q = -(exp(u) - 1) - exp(u) (sum of (-y)^n / n! p / (p + n), n = 1, 2, ...)
            q = tl.where(low, p, 0.25)
            z = tl.where(low, y, 0.25)
            little = tl.minimum(q, 0.5)
            logarithm = tl.where(
                q < 0.5, q * chebyshev(little * 4.0 - 1.0, LGAMMA_1P, 17, 8), math.log(tl.where(low, gamma, 1.0))
            )
            u = q * math.log(z) - logarithm
            power = z * 0.0 + 1.0
            terms = z * 0.0
            k = 0.0
            for _ in range(26):
                k += 1.0
                power *= math.div_rn(-z, k + z * 0.0)
                terms += math.div_rn(power * q, q + k)
            upper = tl.where(low, -math.expm1(u) - math.exp(u) * terms, upper)
        result = upper
    else:
        result = lower
    zero: tl.constexpr = 1.0 if UPPER else 0.0
    one: tl.constexpr = 0.0 if UPPER else 1.0
    edge = tl.where((x == 0.0) | (a == float("inf")), zero, one)
    bad = (a < 0.0) | (x < 0.0) | ((a == 0.0) & (x == 0.0)) | ((a == float("inf")) & (x == float("inf"))) | (a != a) | (x != x)
    return tl.where(bad, float("nan"), tl.where(inside, result, edge))


@triton.jit
def log_ndtr(x):
    """Logarithm of the normal distribution function; below -1 by the scaled function, which does not underflow."""
    t = x * 0.7071067811865476
    left = math.log(math.erfcx(-tl.minimum(t, 0.0)) * 0.5) - t * t
    return tl.where(x < -1.0, left, math.log1p(math.erfc(t) * -0.5))


@triton.jit
def mantissa(x):
    """The part of x from 0.5 to 1, with its sign; 0, nan and infinities are themselves."""
    if x.dtype == tl.float64:
        scaled = tl.where(tl.abs(x) < 2.2250738585072014e-308, x * 18014398509481984.0, x)
        bits = scaled.to(tl.int64, bitcast=True)
        found = ((bits & -9218868437227405313) | 4602678819172646912).to(tl.float64, bitcast=True)
    else:
        scaled = tl.where(tl.abs(x) < 1.1754943508222875e-38, x * 33554432.0, x)
        bits = scaled.to(tl.int32, bitcast=True)
        found = ((bits & -2139095041) | 1056964608).to(tl.float32, bitcast=True)
    return tl.where((tl.abs(x) < float("inf")) & (x != 0.0), found, x)


@triton.jit
def exponent(x):
    """The power of two with which `mantissa` makes x; 0 for 0, nan and infinities."""
    if x.dtype == tl.float64:
        small = tl.abs(x) < 2.2250738585072014e-308
        bits = tl.where(small, x * 18014398509481984.0, x).to(tl.int64, bitcast=True)
        found = ((bits >> 52) & 2047).to(tl.int32) - tl.where(small, 1076, 1022)
    else:
        small = tl.abs(x) < 1.1754943508222875e-38
        bits = tl.where(small, x * 33554432.0, x).to(tl.int32, bitcast=True)
        found = ((bits >> 23) & 255) - tl.where(small, 151, 126)
    return tl.where((tl.abs(x) < float("inf")) & (x != 0.0), found, 0)
