"""What programs of special functions share: libdevice under the name `math`, and sums of Chebyshev polynomials."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import os
from typing import Any

import triton
from triton import language as tl

math: Any
if os.environ.get("TRITON_INTERPRET") == "1":
    from tenfold.cuda.interpreter import LIBDEVICE

    math = LIBDEVICE
else:
    from triton.language.extra import libdevice

    math = libdevice

__all__ = ["chebyshev", "math", "polynomial"]


@triton.jit
def chebyshev(t, TABLE: tl.constexpr, LONG: tl.constexpr, SHORT: tl.constexpr):
    """The sum of TABLE[k] T_k(t), k < LONG, by Clenshaw's recurrence; in float32 k < SHORT, which is all that it holds."""
    TERMS: tl.constexpr = LONG if t.dtype == tl.float64 else SHORT
    u = t + t
    b = t * 0.0 + TABLE[TERMS - 1]
    c = t * 0.0
    for k in tl.static_range(2, TERMS):
        b, c = u * b - c + TABLE[TERMS - k], b
    return t * b - c + TABLE[0]


@triton.jit
def polynomial(x, TABLE: tl.constexpr, TERMS: tl.constexpr):
    """The sum of TABLE[k] x^k, k < TERMS, by Horner's rule."""
    total = x * 0.0 + TABLE[TERMS - 1]
    for k in tl.static_range(2, TERMS + 1):
        total = total * x + TABLE[TERMS - k]
    return total
