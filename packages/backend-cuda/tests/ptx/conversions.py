"""cvt: between whole numbers, floats and halves, with the hardware's answers outside of the range.

Source: PTX ISA, "Data Movement and Conversion Instructions: cvt"; rounding modifiers in "Rounding Modifiers".
"""

from __future__ import annotations

import numpy as np

from ptx.halves import is_half, narrow, pair, wide
from ptx.operations import Unsupported, operation
from ptx.rounding import flushed, narrowed
from ptx.values import F32, F64, S64, TYPES, U64, typed

TO_INTEGERS = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
FLOATS = ("f16", "bf16", "f32", "f64")
MODES = ("rn", "rz", "rm", "rp")


def to_integer(x, dtype):
    """A float, already whole, as the nearest integer that there is; a NaN is 0, or from 64 bits or to 64 the highest bit."""
    limits = np.iinfo(dtype)
    wide_nan = x.dtype is F64 or dtype.itemsize == 8
    x = x.astype(F64)
    low, high = float(limits.min), float(limits.max)
    over = x >= high if dtype.itemsize == 8 else x > high
    inside = np.where(np.isnan(x) | over | (x < low), 0.0, x)
    found = inside.astype(U64).astype(dtype) if dtype is U64 else inside.astype(S64).astype(dtype)
    found = np.where(over, dtype.type(limits.max), np.where(x < low, dtype.type(limits.min), found))
    nan = dtype.type(0)
    if wide_nan:
        nan = dtype.type(limits.min) if dtype.kind == "i" else dtype.type(1 << (8 * dtype.itemsize - 1))
    return np.where(np.isnan(x), nan, found)


def from_integer(x, kind, mode):
    """A whole number as a float, rounded once; for halves a float64 that can be rounded once more."""
    if kind == "f64" and mode != "rn":
        raise Unsupported(f"cvt.{mode}.f64 of whole numbers")
    if kind in ("f32", "f64") and mode == "rn":
        return x.astype(TYPES[kind])
    near = x.astype(F64)
    if x.dtype.itemsize == 8:
        near = np.array([_odd(float(n), int(e)) for n, e in zip(near.ravel(), x.ravel())]).reshape(x.shape)
    return narrowed(near, mode) if kind == "f32" else near


def _odd(near, exact):
    """The float64 next to a whole number that is rounded to odd."""
    bits = np.float64(near).view(np.int64)
    if int(near) == exact or bits & 1:
        return near
    return float((bits + (1 if (int(near) < exact) == (exact > 0) else -1)).view(np.float64))


@operation("cvt")
def _convert(instruction, code):
    parts = instruction.parts
    kinds = [p for p in parts[1:] if p in TYPES]
    if len(kinds) != 2 or "tf32" in kinds or any(p.startswith(("e4m3", "e5m2", "ue8m0", "e2m")) for p in parts):
        raise Unsupported(instruction.opcode)
    target, source = kinds
    to, *given = instruction.operands
    if target.endswith("x2"):
        return _pair(code, to, given, target, parts)
    slot, write = code.slot(given[0], source), code.writer(to)
    convert = conversion(target, source, parts)
    return lambda machine: write(machine, convert(machine.R[slot]))


def _pair(code, to, given, target, parts):
    """Two float32 as halves, the first in the upper part."""
    upper, lower = (code.slot(g, "f32") for g in given)
    write, mode, relu = code.writer(to), "rz" if "rz" in parts else "rn", "relu" in parts

    def run(machine):
        shapes = [typed(machine.R[s], F32) for s in (lower, upper)]
        both = np.stack(np.broadcast_arrays(*shapes), -1)
        if relu:
            both = np.where(both > 0, both, np.where(np.isnan(both), both, F32.type(0)))
        write(machine, pair(both, target, mode))

    return run


def conversion(target, source, parts):
    """The function from a register of one type to the value in another."""
    mode = next((p for p in parts if p in MODES), "rn")
    to_whole = next((TO_INTEGERS[p] for p in parts if p in TO_INTEGERS), None)
    ftz, sat, relu = "ftz" in parts, "sat" in parts, "relu" in parts
    kind, found = TYPES[target], TYPES[source]

    def read(x):
        if is_half(source):
            return wide(x, source)
        x = typed(x, found)
        return flushed(x) if ftz and source == "f32" else x

    if source not in FLOATS and target not in FLOATS:
        return lambda x: _whole(read(x), kind, sat)
    if target not in FLOATS:
        return lambda x: to_integer(to_whole(read(x)), kind)
    if source not in FLOATS:
        if is_half(target):
            return lambda x: narrow(from_integer(read(x), target, mode), target, mode)
        return lambda x: from_integer(read(x), target, mode)

    def between(x):
        x = read(x)
        if to_whole is not None:
            x = to_whole(x)
        if is_half(target):
            if relu:
                x = np.where(x > 0, x, np.where(np.isnan(x), x, x.dtype.type(0)))
            return narrow(x, target, mode)
        if target == "f32" and x.dtype is F64:
            x = narrowed(x, mode)
        x = x.astype(kind)
        if ftz and target == "f32":
            x = flushed(x)
        if sat:
            x = np.where(x > 0, np.minimum(x, x.dtype.type(1)), x.dtype.type(0))
        return x

    return between


def _whole(x, kind, sat):
    if sat:
        limits = np.iinfo(kind)
        low, high = max(limits.min, np.iinfo(x.dtype).min), min(limits.max, np.iinfo(x.dtype).max)
        x = np.clip(x, x.dtype.type(low), x.dtype.type(high))
    return x.astype(kind)
