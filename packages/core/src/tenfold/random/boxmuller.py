"""Pairs of uniforms to pairs of normals, rounded exactly as PyTorch's CPU kernels round.

    radius = sqrt(-2 log(1 - u1)),  angle = 2 pi u2,  z1 = radius cos(angle),  z2 = radius sin(angle)

float64 uses the C library's scalar functions. float32 uses the Cephes single-precision polynomials with every step
evaluated as a fused multiply-add, which is what PyTorch's AVX2 and AVX-512 builds do.
Source: G. Box, M. Muller, "A note on the generation of random normal deviates" (1958); S. Moshier, Cephes Mathematical Library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

# Minimax polynomials, highest power first.
LOG = [
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
    -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
]  # fmt: skip
SIN = [-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1]
COS = [2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2]
LN2 = (0.693359375, -2.12194440e-4)  # log(2) in two parts, the first exact in few bits
PI_4 = (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)  # pi / 4 in three
_CHUNK = 16384  # pairs whose temporaries stay in the processor's cache


def libm(function: Callable[[float], float], x: F64) -> F64:
    """`function` of `math` on every element: NumPy's own vector routines differ from the C library in the last bit."""
    return np.fromiter(map(function, x.tolist()), np.float64, x.size)


def log64(x: F64) -> F64:
    """Logarithm on (0, 1] with the C library's rounding.

    The C library's complex logarithm takes its real one of the absolute value, except near the unit circle and, from 1/2 on,
    on the real axis. So numbers up to 0.7 go through the complex one, which NumPy runs eight times as fast as `math.log`.
    """
    near_one, result = x > 0.7, np.empty_like(x)
    far = x[~near_one]
    z = far.astype(np.complex128)
    z.imag[far >= 0.5] = 2.0**-52  # off the axis, and too little to change the absolute value
    result[~near_one] = np.log(z).real
    result[near_one] = libm(math.log, x[near_one])
    return result


def _pairs(turns: F64, logarithms: F64) -> Any:
    """The two normals of each pair as a complex number, whose exponential rounds cosine and sine as the C library does."""
    z = np.exp(2j * np.pi * turns)
    z *= np.sqrt(-2 * logarithms)
    return z


def serial64(turns: F64, heights: F64) -> F64:
    """The normals of pairs of uniforms in [0, 1), the two of each pair in a row."""
    normals: F64 = _pairs(turns, libm(math.log1p, -heights)).view(np.float64)
    return normals


def fma64(a: F64 | float, b: F64 | float, c: F64 | float) -> F64:
    """a * b + c in float64 with one rounding, from error-free products and sums (Dekker 1971, Knuth 4.2.2)."""
    a, b, c = np.float64(a), np.float64(b), np.float64(c)
    with np.errstate(over="ignore", invalid="ignore"):
        product, product_error = _two_product(a, b)
        total = product + c
        c_seen = total - product
        fused: F64 = total + ((product - (total - c_seen)) + (c - c_seen) + product_error)
        return np.where(np.isfinite(fused), fused, total)  # near overflow, where splitting overflows first


def _two_product(a: Any, b: Any) -> tuple[Any, Any]:
    a_high, b_high = _high_half(a), _high_half(b)
    a_low, b_low = a - a_high, b - b_high
    product = a * b
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _high_half(a: Any) -> Any:
    scaled = a * 134217729.0  # 2**27 + 1
    return scaled - (scaled - a)


def fma32(a: Any, b: Any, c: Any) -> F32:
    """a * b + c in float32 with one rounding: the product of two float32 is exact in float64."""
    fused: F32 = (np.multiply(a, b, dtype=np.float64) + c).astype(np.float32)
    return fused


def pairs64(u1: F64, u2: F64) -> tuple[F64, F64]:
    """Two standard normals for each pair of uniforms in [0, 1), in float64."""
    z = _pairs(u2, log64(1 - u1))
    return z.real, z.imag


def pairs32(u1: F32, u2: F32) -> tuple[F32, F32]:
    """Two standard normals for each pair of uniforms in [0, 1), in float32."""
    z1, z2 = np.empty_like(u1), np.empty_like(u2)
    for start in range(0, u1.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        radius = np.sqrt(np.float32(-2) * _log32(1 - u1[part]))
        cos, sin = _cos_sin32(np.float32(2 * np.pi) * u2[part])
        np.multiply(radius, cos, out=z1[part])
        np.multiply(radius, sin, out=z2[part])
    return z1, z2


def _horner(coefficients: list[float], x: F32) -> F32:
    """The polynomial at x, every step one fused multiply-add: exact in float64 up to its one rounding to float32."""
    wide = x.astype(np.float64)
    total = wide * np.float32(coefficients[0])
    result = np.empty_like(x)
    for coefficient in coefficients[1:-1]:
        total += np.float32(coefficient)
        result[...] = total
        total[...] = result
        total *= wide
    total += np.float32(coefficients[-1])
    return total.astype(np.float32)


def _log32(x: F32) -> F32:
    mantissa, exponent = np.frexp(x)
    small = mantissa < np.float32(math.sqrt(0.5))
    e = (exponent - small).astype(np.float32)
    mantissa += _where_all_bits(mantissa, small)
    m = mantissa - np.float32(1)  # in [sqrt(1/2) - 1, sqrt(2) - 1)
    square = m * m
    tail = fma32(_horner(LOG, m) * m, square, e * np.float32(LN2[1]))
    tail -= square * np.float32(0.5)
    tail += m
    tail += e * np.float32(LN2[0])
    return tail


def _cos_sin32(angle: F32) -> tuple[F32, F32]:
    octant = (angle * np.float32(4 / np.pi)).astype(np.int32)
    octant += octant & 1
    turns = octant.astype(np.float32)
    x = angle - turns * np.float32(PI_4[0])  # an exact product, and so is the next
    x -= turns * np.float32(PI_4[1])
    x = fma32(turns, np.float32(-PI_4[2]), x)  # in [-pi/4, pi/4]
    square = x * x
    cos = fma32(_horner(COS, square) * square, square, square * np.float32(-0.5)) + np.float32(1)
    sin = fma32(_horner(SIN, square) * square, x, x)
    cos_bits, sin_bits = cos.view(np.int32), sin.view(np.int32)
    swap = _where_all_bits(cos_bits ^ sin_bits, (octant & 2) != 0)  # bits, because branches would be mispredicted
    cos_bits ^= swap ^ ((octant + 2) & 4) << 29  # 4 << 29 is the sign bit
    sin_bits ^= swap ^ (octant & 4) << 29
    return cos, sin


def _where_all_bits(x: Any, condition: NDArray[np.bool_]) -> Any:
    """x where the condition holds, all bits zero elsewhere."""
    return (x.view(np.int32) & -condition.astype(np.int32)).view(x.dtype)
