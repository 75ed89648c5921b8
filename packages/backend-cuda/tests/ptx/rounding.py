"""Sums, products and multiply-adds that are rounded once, in any direction; subnormal numbers taken for 0.

A float64 holds products of float32 exactly, sums not always. What is lost of a sum is known (Knuth's TwoSum), and a result that
is rounded to odd can be rounded again to fewer digits as the exact one would be.
Source: Boldo, Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008.
"""

from __future__ import annotations

import ctypes
import ctypes.util

import numpy as np

from ptx.values import BOOL, F32, F64, S64, U32

SPLIT = 134217729.0  # 2**27 + 1: a float64 falls into halves whose products are exact
_libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
_libm.fma.restype, _libm.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3


def flushed(x):
    """Subnormal float32 as zeros of their sign (.ftz)."""
    bits = x.view(U32)
    return np.where(bits & U32.type(0x7F800000), bits, bits & U32.type(0x80000000)).view(F32)


def two_sum(a, b):
    """(the rounded sum, what it lacks)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def to_odd(total, lacking):
    """A rounded sum as rounding to odd would have it."""
    bits = total.view(S64)
    step = np.where((lacking > 0) == (total > 0), S64.type(1), S64.type(-1))
    wrong = (lacking != 0) & np.isfinite(lacking) & (bits & S64.type(1) == 0)
    return np.where(wrong, bits + step, bits).view(F64)


def narrowed(x, mode="rn"):
    """float64 as float32, by a rounding mode: rn, rz, rm (down), rp (up)."""
    found = x.astype(F32)
    if mode == "rn":
        return found
    back = found.astype(F64)
    if mode == "rz":
        return np.where(np.abs(back) > np.abs(x), np.nextafter(found, F32.type(0)), found)
    if mode == "rm":
        return np.where(back > x, np.nextafter(found, F32.type(-np.inf)), found)
    assert mode == "rp", mode
    return np.where(back < x, np.nextafter(found, F32.type(np.inf)), found)


def narrowed_to_odd(x):
    """float64 as float32, so that it can be rounded once more."""
    found = x.astype(F32)
    back, bits = found.astype(F64), found.view(U32)
    wrong = (back != x) & np.isfinite(back) & (bits & U32.type(1) == 0)
    further = (np.abs(back) < np.abs(x)).astype(BOOL)
    return np.where(wrong, np.where(further, bits + U32.type(1), bits - U32.type(1)), bits).view(F32)


def sum_of(a, b):
    """The sum of two float64 that are float32 or products of such, rounded to odd."""
    return to_odd(*two_sum(a, b))


def multiply_add(a, b, c):
    """a * b + c of float64, rounded once."""
    plain = a * b + c
    simple = (a == 0) | (b == 0) | ~np.isfinite(a) | ~np.isfinite(b) | ~np.isfinite(c)
    p, x, y, z = (np.abs(v) for v in (a * b, a, b, c))
    tame = (x < 1e140) & (x > 1e-140) & (y < 1e140) & (y > 1e-140) & (p > 1e-250) & (z < 1e290) & ((z > 1e-290) | (z == 0))
    upper, lower = _product(a, b)
    first, left = two_sum(c, lower)
    total, lacking = two_sum(upper, first)
    found = np.where(simple, plain, total + to_odd(*two_sum(left, lacking)))
    rest = ~(simple | tame)
    if rest.any():
        given = [np.broadcast_to(v, found.shape)[rest] for v in (a, b, c)]
        found[rest] = [_libm.fma(*map(float, three)) for three in zip(*given)]
    return found


def _product(a, b):
    """(the rounded product, what it lacks): Dekker's."""
    upper = a * b
    a1, b1 = a * SPLIT, b * SPLIT
    a1, b1 = a1 - (a1 - a), b1 - (b1 - b)
    a0, b0 = a - a1, b - b1
    return upper, ((a1 * b1 - upper) + a1 * b0 + a0 * b1) + a0 * b0
