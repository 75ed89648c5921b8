"""float16 and bfloat16: as float32, and back rounded once; pairs of them in one register."""

from __future__ import annotations

import numpy as np

from ptx.rounding import narrowed_to_odd
from ptx.values import F16, F32, F64, U16, U32, typed

NAN = U16.type(0x7FFF)  # what arithmetic gives


def is_half(kind):
    return kind in ("f16", "bf16")


def wide(x, kind):
    """A half as float32."""
    if kind == "f16":
        return typed(x, F16).astype(F32)
    return (typed(x, U16).astype(U32) << U32.type(16)).view(F32)


def narrow(x, kind, mode="rn"):
    """float32 (or float64, exact or rounded to odd) as the bits of a half; the modes are rn and rz."""
    if kind == "f16":
        found = x.astype(F16)
        if mode == "rz":
            back = np.abs(found.astype(F64)) > np.abs(x)
            found = np.where(back, np.nextafter(found, F16.type(0)), found)
        return np.where(np.isnan(found), NAN, found.view(U16))
    if x.dtype is F64:
        x = narrowed_to_odd(x)
    bits = x.view(U32)
    up = U32.type(0) if mode == "rz" else U32.type(0x7FFF) + (bits >> U32.type(16) & U32.type(1))
    return np.where(np.isnan(x), NAN, ((bits + up) >> U32.type(16)).astype(U16))


def packed(x, kind):
    """A pair as float32 with a last dimension of 2."""
    whole = typed(x, U32)
    parts = np.stack([whole & U32.type(0xFFFF), whole >> U32.type(16)], -1).astype(U16)
    return wide(parts, kind[:-2])


def pair(x, kind, mode="rn"):
    """Numbers with a last dimension of 2 as pairs."""
    bits = narrow(x, kind[:-2], mode).astype(U32)
    return bits[..., 0] | bits[..., 1] << U32.type(16)
