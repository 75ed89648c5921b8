"""Bessel functions of the orders 0 and 1, and the Airy function.

Near 0 they are analytic but for known factors and logarithms, far away but for exponentials and waves: what is left is a sum
of Chebyshev polynomials in each of two ranges (special_tables.py). Both are computed and one is taken, as lanes of a program
go the same way.

Source: NIST Digital Library of Mathematical Functions, 10.8, 10.17, 10.31, 10.40 and 9.7.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.series import chebyshev, math
from tenfold.cuda.kernels.programs.special_tables import (
    AIRY_NEAR,
    AIRY_P,
    AIRY_Q,
    AIRY_RIGHT,
    I0_FAR,
    I0_NEAR,
    I1_FAR,
    I1_NEAR,
    J0_NEAR,
    J1_NEAR,
    K0_FAR,
    K0_NEAR,
    K1_FAR,
    K1_NEAR,
    P0_FAR,
    P1_FAR,
    Q0_FAR,
    Q1_FAR,
    Y0_NEAR,
    Y1_NEAR,
)  # fmt: skip


@triton.jit
def i0e(x):
    """exp(-|x|) I0(x)."""
    size = tl.abs(x)
    near = chebyshev(tl.minimum(size, 8.0) * 0.25 - 1.0, I0_NEAR, 30, 18)
    far = math.div_rn(chebyshev(16.0 * math.rcp_rn(size) - 1.0, I0_FAR, 25, 6), math.sqrt_rn(size))
    return tl.where(size <= 8.0, near, far)


@triton.jit
def i0(x):
    """I0(x)."""
    return math.exp(tl.abs(x)) * i0e(x)


@triton.jit
def i1e(x):
    """exp(-|x|) I1(x)."""
    size = tl.abs(x)
    near = chebyshev(tl.minimum(size, 8.0) * 0.25 - 1.0, I1_NEAR, 29, 18) * size
    far = math.div_rn(chebyshev(16.0 * math.rcp_rn(size) - 1.0, I1_FAR, 25, 6), math.sqrt_rn(size))
    result = tl.where(size <= 8.0, near, far)
    return tl.where(x < 0.0, result * -1.0, result)


@triton.jit
def i1(x):
    """I1(x)."""
    return math.exp(tl.abs(x)) * i1e(x)


@triton.jit
def k0(x, SCALED: tl.constexpr):
    """K0(x), times exp(x) where SCALED; infinite at 0, nan below."""
    near = chebyshev(x * x * 0.5 - 1.0, K0_NEAR, 10, 6) - math.log(x * 0.5) * i0(x)
    far = math.div_rn(chebyshev(4.0 * math.rcp_rn(x) - 1.0, K0_FAR, 24, 8), math.sqrt_rn(x))
    if SCALED:
        near *= math.exp(x)
    else:
        far *= math.exp(-x)
    return tl.where(x <= 2.0, near, far)


@triton.jit
def k1(x, SCALED: tl.constexpr):
    """K1(x), times exp(x) where SCALED; infinite at 0, nan below."""
    near = math.div_rn(chebyshev(x * x * 0.5 - 1.0, K1_NEAR, 10, 7), x) + math.log(x * 0.5) * i1(x)
    far = math.div_rn(chebyshev(4.0 * math.rcp_rn(x) - 1.0, K1_FAR, 24, 8), math.sqrt_rn(x))
    if SCALED:
        near *= math.exp(x)
    else:
        far *= math.exp(-x)
    return tl.where(x == 0.0, float("inf"), tl.where(x <= 2.0, near, far))


# Zeros are the sum of a number that float32 holds and of the rest, so that the difference to a number near one is exact.


@triton.jit
def _j0_near(size):
    first = ((size - 2.40625) + 0.0014244423042272315) * (size + 2.404825557695773)
    second = ((size - 5.5234375) + 0.00335938971368935) * (size + 5.520078110286311)
    return first * second * chebyshev(size * size * 0.03125 - 1.0, J0_NEAR, 15, 9)


@triton.jit
def _j1_near(size):
    first = ((size - 3.828125) - 0.0035809702075123157) * (size + 3.8317059702075125)
    second = ((size - 7.015625) + 3.8330184381246464e-05) * (size + 7.015586669815619)
    return first * second * size * chebyshev(size * size * 0.03125 - 1.0, J1_NEAR, 14, 9)


@triton.jit
def j0(x):
    """J0(x) = sqrt(2 / (pi x)) (P cos(x - pi / 4) - Q sin(x - pi / 4)) from 8; the cosine and sine of x need no rounded pi."""
    size = tl.abs(x)
    inverse = 8.0 * math.rcp_rn(size)
    t = 2.0 * inverse * inverse - 1.0
    c, s = math.cos(size), math.sin(size)
    far = chebyshev(t, P0_FAR, 13, 4) * (c + s) - chebyshev(t, Q0_FAR, 15, 5) * math.rcp_rn(size) * (s - c)
    far = math.div_rn(far, math.sqrt_rn(size * 3.141592653589793))
    return tl.where(size <= 8.0, _j0_near(tl.minimum(size, 8.0)), far)


@triton.jit
def y0(x):
    """Y0(x), -infinite at 0, nan below."""
    inverse = 8.0 * math.rcp_rn(x)
    t = 2.0 * inverse * inverse - 1.0
    c, s = math.cos(x), math.sin(x)
    far = chebyshev(t, P0_FAR, 13, 4) * (s - c) + chebyshev(t, Q0_FAR, 15, 5) * math.rcp_rn(x) * (c + s)
    far = math.div_rn(far, math.sqrt_rn(x * 3.141592653589793))
    wave = math.log(x) * _j0_near(x) * 0.6366197723675814
    return tl.where(x <= 8.0, wave + chebyshev(x * x * 0.03125 - 1.0, Y0_NEAR, 17, 12), far)


@triton.jit
def j1(x):
    """J1(x)."""
    size = tl.abs(x)
    inverse = 8.0 * math.rcp_rn(size)
    t = 2.0 * inverse * inverse - 1.0
    c, s = math.cos(size), math.sin(size)
    far = chebyshev(t, P1_FAR, 13, 4) * (s - c) + chebyshev(t, Q1_FAR, 15, 5) * math.rcp_rn(size) * (c + s)
    far = math.div_rn(far, math.sqrt_rn(size * 3.141592653589793))
    result = tl.where(size <= 8.0, _j1_near(tl.minimum(size, 8.0)), far)
    return tl.where(x == 0.0, x, tl.where(x < 0.0, result * -1.0, result))


@triton.jit
def y1(x):
    """Y1(x), -infinite at 0, nan below."""
    inverse = 8.0 * math.rcp_rn(x)
    t = 2.0 * inverse * inverse - 1.0
    c, s = math.cos(x), math.sin(x)
    far = chebyshev(t, Q1_FAR, 15, 5) * math.rcp_rn(x) * (s - c) - chebyshev(t, P1_FAR, 13, 4) * (c + s)
    far = math.div_rn(far, math.sqrt_rn(x * 3.141592653589793))
    wave = (math.log(x) * _j1_near(x) - math.rcp_rn(x)) * 0.6366197723675814
    near = wave + x * chebyshev(x * x * 0.03125 - 1.0, Y1_NEAR, 16, 11)
    return tl.where(x == 0.0, float("-inf"), tl.where(x <= 8.0, near, far))


@triton.jit
def airy_ai(x):
    """Ai(x), in float64: its phase grows like |x|^(3/2), and float32 would keep nothing of it."""
    x = x.to(tl.float64)
    near = chebyshev((x + 1.5) * 0.4, AIRY_NEAR, 29, 18)
    size = tl.abs(x)
    power = size * math.sqrt_rn(size)
    root = math.sqrt_rn(math.sqrt_rn(size))
    z = power * 0.6666666666666666
    right = math.div_rn(chebyshev(2.0 * math.rcp_rn(power) - 1.0, AIRY_RIGHT, 37, 12) * math.exp(-z), root)
    inverse = 4.0 * math.rcp_rn(size)
    t = 2.0 * inverse * inverse * inverse - 1.0
    c, s = math.cos(z), math.sin(z)
    left = chebyshev(t, AIRY_P, 17, 5) * (c + s) + math.div_rn(chebyshev(t, AIRY_Q, 21, 6), z) * (s - c)
    left = math.div_rn(left, root * 2.5066282746310002)
    right = tl.where(x == float("inf"), float("nan"), right)  # as in PyTorch
    return tl.where((x > -4.0) & (x < 1.0), near, tl.where(x > 0.0, right, left))
