"""Orthogonal polynomials by their recurrences, each lane up to its own degree; Chebyshev's of high degree by cosines.

A degree is cut to a whole number; below 0, or if it is no finite number, the result is 0.

Source: NIST Digital Library of Mathematical Functions, 18.5 and 18.9.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.series import math


@triton.jit
def _degree(n):
    """n as a whole number; -1 if there is none."""
    return tl.where(tl.abs(n) < 9e18, n, -1.0).to(tl.int64)


@triton.jit
def chebyshev_polynomial(x, n, KIND: tl.constexpr):
    """T_n, U_n, V_n or W_n of x: each is 2 x times the one before less the one before that."""
    degree = _degree(n)
    even = degree % 2 == 0
    wide = degree.to(x.dtype)
    angle = math.acos(x)
    limit: tl.constexpr = 6 if KIND == 0 else 8
    if KIND == 0:
        first = x
        closed = math.cos(wide * angle)
        one = tl.full(x.shape, 1.0, x.dtype)
    elif KIND == 1:
        first = x + x
        closed = math.div_rn(math.sin((wide + 1.0) * angle), math.sin(angle))
        one = wide + 1.0
    elif KIND == 2:
        first = x + x - 1.0
        closed = math.div_rn(math.cos((wide + 0.5) * angle), math.cos(angle * 0.5))
        one = tl.where(x > 0.0, 1.0, wide + wide + 1.0)
    else:
        first = x + x + 1.0
        closed = math.div_rn(math.sin((wide + 0.5) * angle), math.sin(angle * 0.5))
        one = tl.where(x > 0.0, wide + wide + 1.0, 1.0)
    at_one = tl.abs(x) == 1.0
    high = (tl.abs(x) < 1.0) & (degree > limit)
    before = tl.full(x.shape, 1.0, x.dtype)
    value = first
    left = tl.where(at_one | high, 0, degree - 1)
    while tl.max(left, 0) > 0:
        live = left > 0
        following = (x + x) * value - before
        before = tl.where(live, value, before)
        value = tl.where(live, following, value)
        left = tl.where(value == value, left - 1, 0)  # nan stays nan
    value = tl.where(high, closed, value)
    value = tl.where(at_one, tl.where((x > 0.0) | even, one, -one), value)
    return tl.where(degree < 0, 0.0, tl.where(degree == 0, 1.0, value))


@triton.jit
def polynomial(x, n, KIND: tl.constexpr):
    """Hermite's H_n and He_n, Laguerre's L_n, Legendre's P_n."""
    degree = _degree(n)
    before = tl.full(x.shape, 1.0, x.dtype)
    value = x
    if KIND == 0:
        value = x + x
    if KIND == 2:
        value = 1.0 - x
    left = degree - 1
    if KIND < 2:  # beyond these float64 and float32 overflow
        limit: tl.constexpr = 512 if x.dtype == tl.float64 else 128
        left = tl.where(degree > limit, 0, left)
    if KIND == 3:
        at_one = tl.abs(x) == 1.0
        left = tl.where(at_one, 0, left)
    k = 1.0
    while tl.max(left, 0) > 0:
        if KIND == 0:
            following = (x + x) * value - before * (k + k)
        elif KIND == 1:
            following = x * value - before * k
        elif KIND == 2:
            following = math.div_rn((k + k + 1.0 - x) * value - before * k, tl.zeros_like(x) + (k + 1.0))
        else:
            following = math.div_rn((k + k + 1.0) * x * value - before * k, tl.zeros_like(x) + (k + 1.0))
        live = left > 0
        before = tl.where(live, value, before)
        value = tl.where(live, following, value)
        left = tl.where(value == value, left - 1, 0)
        k += 1.0
    if KIND < 2:
        value = tl.where(degree > limit, float("nan"), value)
    if KIND == 3:
        value = tl.where(at_one, tl.where((x > 0.0) | (degree % 2 == 0), 1.0, -1.0), value)
    return tl.where(degree < 0, 0.0, tl.where(degree == 0, 1.0, value))
