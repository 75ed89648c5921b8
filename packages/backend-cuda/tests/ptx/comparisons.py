"""Comparisons, choices, and what depends on predicates.

Source: PTX ISA, "Comparison and Selection Instructions", "Half Precision Comparison Instructions".
"""

from __future__ import annotations

import numpy as np

from ptx.halves import is_half, packed, wide
from ptx.operations import operation
from ptx.rounding import flushed
from ptx.values import F32, S32, TYPES, UNSIGNED, typed

ORDERED = {"eq": np.equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
ORDERED |= {"lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal}
COMBINED = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def bits_of(kind):
    """The type in which bits are moved, whatever they mean."""
    return UNSIGNED[TYPES[kind].itemsize] if kind != "pred" else TYPES[kind]


def compared(name, a, b):
    """A comparison; of floats those without a `u` are false where one is no number, those with it true."""
    if a.dtype.kind != "f":
        return np.not_equal(a, b) if name == "ne" else ORDERED[name](a, b)
    unordered = np.isnan(a) | np.isnan(b)
    if name in ("num", "nan"):
        return ~unordered if name == "num" else unordered
    if name == "ne":
        return np.not_equal(a, b) & ~unordered
    if name == "neu":
        return np.not_equal(a, b)
    if name in ORDERED:
        return ORDERED[name](a, b)
    return ORDERED[name[:-1]](a, b) | unordered


def operands(code, given, kind, flush=False):
    """A function of a machine that gives operands as numbers: halves as float32, pairs of them with a dimension more."""
    slots, dtype = [code.slot(g, kind) for g in given], TYPES[kind]
    if kind.endswith("x2"):
        return lambda machine: [packed(machine.R[s], kind) for s in slots]
    if is_half(kind):
        return lambda machine: [wide(machine.R[s], kind) for s in slots]
    if flush and dtype is F32:
        return lambda machine: [flushed(typed(machine.R[s], F32)) for s in slots]
    return lambda machine: [typed(machine.R[s], dtype) for s in slots]


@operation("setp")
def _setp(instruction, code):
    _, name, *more = instruction.parts
    kind, combine = more[-1], COMBINED.get(more[0])
    to, a, b, *third = instruction.operands
    read = operands(code, (a, b), kind, "ftz" in more)
    writers = [code.writer(t) for t in (to if isinstance(to, list) else [to])]
    slot, negated = code.predicate(third[0]) if third else (0, False)
    pair = kind.endswith("x2")

    def run(machine):
        found = compared(name, *read(machine))
        if pair:
            for i, write in enumerate(writers):
                write(machine, found[..., i])
            return
        for i, write in enumerate(writers):
            value = ~found if i else found
            if combine is not None:
                value = combine(value, ~machine.R[slot] if negated else machine.R[slot])
            write(machine, value)

    return run


@operation("set")
def _set(instruction, code):
    """As setp, with a number for an answer: all bits, or 1.0."""
    _, name, *more = instruction.parts
    result, kind = more[-2], more[-1]
    to, a, b = instruction.operands[:3]
    read, write, dtype = operands(code, (a, b), kind, "ftz" in more), code.writer(to), TYPES[result]
    if kind.endswith("x2") or (dtype.kind == "f" and dtype is not F32) or len(instruction.operands) > 3:
        raise NotImplementedError(instruction.opcode)
    true = dtype.type(1) if dtype is F32 else ~dtype.type(0)
    return lambda machine: write(machine, np.where(compared(name, *read(machine)), true, dtype.type(0)))


@operation("selp")
def _selp(instruction, code):
    kind = instruction.parts[-1]
    to, a, b, predicate = instruction.operands
    i, j, write, dtype = code.slot(a, kind), code.slot(b, kind), code.writer(to), bits_of(kind)
    k, negated = code.predicate(predicate)
    if negated:
        i, j = j, i
    return lambda machine: write(machine, np.where(machine.R[k], typed(machine.R[i], dtype), typed(machine.R[j], dtype)))


@operation("slct")
def _slct(instruction, code):
    """The first where the third is not negative; -0 is not, a NaN takes the second."""
    *_, kind, third = instruction.parts
    to, a, b, c = instruction.operands
    i, j, k, write, dtype = code.slot(a, kind), code.slot(b, kind), code.slot(c, third), code.writer(to), bits_of(kind)
    sign = S32 if third == "s32" else F32
    return lambda machine: write(
        machine, np.where(typed(machine.R[k], sign) >= 0, typed(machine.R[i], dtype), typed(machine.R[j], dtype))
    )


@operation("testp")
def _testp(instruction, code):
    _, name, kind = instruction.parts
    to, a = instruction.operands
    slot, write, dtype = code.slot(a, kind), code.writer(to), TYPES[kind]
    tiny = np.finfo(dtype).tiny
    tests = {
        "finite": np.isfinite, "infinite": np.isinf, "number": lambda x: ~np.isnan(x), "notanumber": np.isnan,
        "normal": lambda x: np.isfinite(x) & (np.abs(x) >= tiny), "subnormal": lambda x: (np.abs(x) < tiny) & (x != 0),
    }  # fmt: skip
    return lambda machine: write(machine, tests[name](typed(machine.R[slot], dtype)))
