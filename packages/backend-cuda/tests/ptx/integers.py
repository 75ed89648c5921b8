"""Arithmetic of whole numbers, bits and shifts.

Source: PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic", "Logic and Shift Instructions".
"""

from __future__ import annotations

import numpy as np

from ptx.operations import Unsupported, operation
from ptx.values import S16, S32, S64, TYPES, U8, U16, U32, U64, UNSIGNED, typed

INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
WIDE = {U16: U32, S16: S32, U32: U64, S32: S64}


def plain(name, function, kinds):
    """Register an instruction that is one function of its operands, all of one type."""
    for kind in kinds:

        @operation(f"{name}.{kind}")
        def build(instruction, code, kind=kind):
            dtype = TYPES[kind]
            to, *given = instruction.operands
            slots, write = [code.slot(g, kind) for g in given], code.writer(to)
            if len(slots) == 1:
                (i,) = slots
                return lambda machine: write(machine, function(typed(machine.R[i], dtype)))
            if len(slots) == 2:
                i, j = slots
                return lambda machine: write(machine, function(typed(machine.R[i], dtype), typed(machine.R[j], dtype)))
            return lambda machine: write(machine, function(*[typed(machine.R[s], dtype) for s in slots]))


def quotient(a, b):
    """Rounded towards zero; by zero all bits are set, as on the hardware (PTX leaves it open)."""
    kind, zero = a.dtype, b == 0
    safe = np.where(zero, kind.type(1), b)
    if kind.kind == "u":
        return np.where(zero, ~kind.type(0), a // safe)
    minus = safe == -1  # the smallest number by -1 is itself
    safe = np.where(minus, kind.type(1), safe)
    found = (a - np.fmod(a, safe)) // safe
    return np.where(zero, kind.type(-1), np.where(minus, kind.type(0) - a, found))


def remainder(a, b):
    """With the sign of the first; by zero the first."""
    kind, zero = a.dtype, b == 0
    safe = np.where(zero, kind.type(1), b)
    if kind.kind == "i":
        safe = np.where(safe == -1, kind.type(1), safe)
    return np.where(zero, a, np.fmod(a, safe))


def high(a, b):
    """The upper half of a product."""
    wide = WIDE.get(a.dtype)
    if wide is not None:
        return ((a.astype(wide) * b.astype(wide)) >> wide.type(8 * a.dtype.itemsize)).astype(a.dtype)
    low, shift = U64.type(0xFFFFFFFF), U64.type(32)
    x, y = a.view(U64), b.view(U64)
    x0, x1, y0, y1 = x & low, x >> shift, y & low, y >> shift
    middle = ((x0 * y0) >> shift) + ((x1 * y0) & low) + x0 * y1
    found = x1 * y1 + ((x1 * y0) >> shift) + (middle >> shift)
    if a.dtype is S64:
        found = found - np.where(a < 0, y, U64.type(0)) - np.where(b < 0, x, U64.type(0))
    return found.view(a.dtype)


def absolute(a):
    return np.where(a < 0, a.dtype.type(0) - a, a)


plain("add", np.add, INTEGERS)
plain("sub", np.subtract, INTEGERS)
plain("mul.lo", np.multiply, INTEGERS)
plain("mul.hi", high, INTEGERS)
plain("div", quotient, INTEGERS)
plain("rem", remainder, INTEGERS)
plain("mad.lo", lambda a, b, c: a * b + c, INTEGERS)
plain("mad.hi", lambda a, b, c: high(a, b) + c, INTEGERS)
plain("min", np.minimum, INTEGERS)
plain("max", np.maximum, INTEGERS)
plain("min.relu", lambda a, b: np.maximum(np.minimum(a, b), a.dtype.type(0)), ("s32",))
plain("max.relu", lambda a, b: np.maximum(np.maximum(a, b), a.dtype.type(0)), ("s32",))
plain("abs", absolute, ("s16", "s32", "s64"))
plain("neg", lambda a: a.dtype.type(0) - a, ("s16", "s32", "s64"))
plain("sad", lambda a, b, c: c + np.where(a > b, a - b, b - a), INTEGERS)


@operation("mul.wide", "mad.wide")
def _wide(instruction, code):
    kind = instruction.parts[-1]
    dtype, wide = TYPES[kind], WIDE[TYPES[kind]]
    to, a, b, *more = instruction.operands
    i, j, write = code.slot(a, kind), code.slot(b, kind), code.writer(to)
    if not more:
        return lambda machine: write(machine, typed(machine.R[i], dtype).astype(wide) * typed(machine.R[j], dtype).astype(wide))
    k = code.slot(more[0], f"{kind[0]}{8 * wide.itemsize}")
    return lambda machine: write(
        machine,
        typed(machine.R[i], dtype).astype(wide) * typed(machine.R[j], dtype).astype(wide) + typed(machine.R[k], wide),
    )


plain("sub.sat", lambda a, b: np.clip(a.astype(S64) - b, -(2**31), 2**31 - 1).astype(S32), ("s32",))
plain("add.sat", lambda a, b: np.clip(a.astype(S64) + b, -(2**31), 2**31 - 1).astype(S32), ("s32",))


# Sums that carry: the carry is kept in the machine, in one element for each lane.


def _carrying(name, kind, uses, keeps):
    dtype = TYPES[kind]
    half = UNSIGNED[dtype.itemsize]

    def product(a, b):
        return high(a.view(half), b.view(half)) if ".hi" in name else a.view(half) * b.view(half)

    def build(instruction, code):
        to, *given = instruction.operands
        slots, write = [code.slot(g, kind) for g in given], code.writer(to)

        def run(machine):
            x = [typed(machine.R[s], half) for s in slots]
            carry = half.type(0) if not uses or machine.carry is None else machine.carry.astype(half)
            if name.startswith("sub"):
                first = x[0] - x[1]
                found, out = first - carry, (x[0] < x[1]) | (first < carry)
            else:
                a, b = (product(x[0], x[1]), x[2]) if name.startswith("mad") else x
                first = a + b
                found, out = first + carry, (first < a) | (first + carry < first)
            write(machine, found)
            if keeps:
                machine.carry = out

        return run

    return build


for _kind in ("u32", "s32", "u64", "s64"):
    for _name, _uses, _keeps in (
        ("add.cc", False, True), ("addc.cc", True, True), ("addc", True, False),
        ("sub.cc", False, True), ("subc.cc", True, True), ("subc", True, False),
        ("mad.lo.cc", False, True), ("mad.hi.cc", False, True), ("madc.lo.cc", True, True), ("madc.hi.cc", True, True),
        ("madc.lo", True, False), ("madc.hi", True, False),
    ):  # fmt: skip
        operation(f"{_name}.{_kind}")(_carrying(_name, _kind, _uses, _keeps))


# Logic

plain("and", np.bitwise_and, ("b16", "b32", "b64", "pred"))
plain("or", np.bitwise_or, ("b16", "b32", "b64", "pred"))
plain("xor", np.bitwise_xor, ("b16", "b32", "b64", "pred"))
plain("not", np.invert, ("b16", "b32", "b64", "pred"))
plain("cnot", lambda a: (a == 0).astype(a.dtype), ("b16", "b32", "b64"))


@operation("lop3")
def _lop3(instruction, code):
    to, *given, table = instruction.operands
    slots, write, table = [code.slot(g, "b32") for g in given], code.writer(to), int(table.rstrip("U"), 0)

    def run(machine):
        x = [typed(machine.R[s], U32) for s in slots]
        found = U32.type(0)
        for row in range(8):
            if table >> row & 1:
                a, b, c = (v if row >> bit & 1 else ~v for v, bit in zip(x, (2, 1, 0)))
                found = found | (a & b & c)
        write(machine, np.broadcast_to(found, np.broadcast_shapes(*[v.shape for v in x])))

    return run


# Shifts: by 32 bits of a number; more than the width shift all out.


def _shift(name, kind):
    dtype = TYPES[kind]
    width = U32.type(8 * dtype.itemsize)

    def build(instruction, code):
        to, a, b = instruction.operands
        i, j, write = code.slot(a, kind), code.slot(b, "u32"), code.writer(to)

        def run(machine):
            x, n = typed(machine.R[i], dtype), typed(machine.R[j], U32)
            if dtype.kind == "i":  # the sign stays
                write(machine, x >> np.minimum(n, width - U32.type(1)).astype(dtype))
                return
            by = np.minimum(n, width - U32.type(1)).astype(dtype)
            found = x << by if name == "shl" else x >> by
            write(machine, np.where(n >= width, dtype.type(0), found))

        return run

    return build


for _kind in ("b16", "b32", "b64"):
    operation(f"shl.{_kind}")(_shift("shl", _kind))
for _kind in ("b16", "b32", "b64", *INTEGERS):
    operation(f"shr.{_kind}")(_shift("shr", _kind))


@operation("shf.l", "shf.r")
def _funnel(instruction, code):
    """A window of two words: their upper one after a shift to the left, their lower one after one to the right."""
    to, low, upper, by = instruction.operands
    slots, write = [code.slot(x, "b32") for x in (low, upper, by)], code.writer(to)
    left, wrap = "l" in instruction.parts, "wrap" in instruction.parts

    def run(machine):
        a, b, n = (typed(machine.R[s], U32).astype(U64) for s in slots)
        n = n & U64.type(31) if wrap else np.minimum(n, U64.type(32))
        both = (b << U64.type(32)) | a
        write(machine, ((both << n) >> U64.type(32) if left else both >> n).astype(U32))

    return run


# Bits


def leading_zeros(x):
    bits = 8 * x.dtype.itemsize
    count = np.full(x.shape, bits, U32)
    for bit in range(bits):
        count = np.where(x >> x.dtype.type(bit) & x.dtype.type(1), U32.type(bits - 1 - bit), count)
    return count


def reversed_bits(x):
    found = np.zeros_like(x)
    for bit in range(8 * x.dtype.itemsize):
        found = (found << x.dtype.type(1)) | (x >> x.dtype.type(bit) & x.dtype.type(1))
    return found


def highest_bit(x):
    """The place of the highest bit that is not the sign; all bits where there is none."""
    if x.dtype.kind == "i":
        x = np.where(x < 0, ~x, x).view(UNSIGNED[x.dtype.itemsize])
    return np.where(x == 0, U32.type(0xFFFFFFFF), U32.type(8 * x.dtype.itemsize - 1) - leading_zeros(x))


plain("popc", lambda x: np.bitwise_count(x).astype(U32), ("b32", "b64"))
plain("clz", leading_zeros, ("b32", "b64"))
plain("brev", reversed_bits, ("b32", "b64"))
plain("bfind", highest_bit, ("u32", "s32", "u64", "s64"))


@operation("bfe")
def _extract(instruction, code):
    kind = instruction.parts[-1]
    dtype = TYPES[kind]
    wide, bits = UNSIGNED[dtype.itemsize], 8 * dtype.itemsize
    to, a, place, length = instruction.operands
    i, j, k, write = code.slot(a, kind), code.slot(place, "u32"), code.slot(length, "u32"), code.writer(to)

    def run(machine):
        x = typed(machine.R[i], dtype)
        first, count = (typed(machine.R[s], U32) & U32.type(255) for s in (j, k))
        one, top = wide.type(1), wide.type(bits - 1)
        mask = np.where(count >= bits, ~wide.type(0), (one << np.minimum(count.astype(wide), top)) - one)
        shifted = np.where(first >= bits, wide.type(0), x.view(wide) >> np.minimum(first.astype(wide), top))
        found = shifted & mask
        if dtype.kind == "i":
            last = np.minimum(first + count - U32.type(1), U32.type(bits - 1)).astype(wide)
            sign = np.where(count == 0, wide.type(0), x.view(wide) >> last & one)
            left = np.where(first >= bits, wide.type(0), ~wide.type(0) >> np.minimum(first.astype(wide), top))
            found = np.where(sign == one, found | ~(mask & left), found)
        write(machine, found.view(dtype))

    return run


@operation("bfi")
def _insert(instruction, code):
    kind = instruction.parts[-1]
    dtype = UNSIGNED[TYPES[kind].itemsize]
    to, a, b, place, length = instruction.operands
    i, j, k, n = code.slot(a, kind), code.slot(b, kind), code.slot(place, "u32"), code.slot(length, "u32")
    write, bits = code.writer(to), 8 * dtype.itemsize

    def run(machine):
        x, y = typed(machine.R[i], dtype), typed(machine.R[j], dtype)
        first, count = ((typed(machine.R[s], U32) & U32.type(255)).astype(dtype) for s in (k, n))
        one, top = dtype.type(1), dtype.type(bits - 1)
        mask = np.where(count >= bits, ~dtype.type(0), (one << np.minimum(count, top)) - one)
        outside = first >= bits
        shift = np.minimum(first, top)
        found = (y & ~(mask << shift)) | ((x & mask) << shift)
        write(machine, np.where(outside, y, found))

    return run


@operation("prmt")
def _permute(instruction, code):
    """Four bytes of eight, or their signs."""
    if len(instruction.parts) > 2:
        raise Unsupported(instruction.opcode)
    to, *given = instruction.operands
    slots, write = [code.slot(g, "b32") for g in given], code.writer(to)

    def run(machine):
        a, b, choice = (typed(machine.R[s], U32) for s in slots)
        both, found = (b.astype(U64) << U64.type(32)) | a, U32.type(0)
        for i in range(4):
            picked = choice >> U32.type(4 * i)
            byte = (both >> ((picked & U32.type(7)).astype(U64) * U64.type(8))).astype(U8)
            byte = np.where(picked & U32.type(8), np.where(byte & U8.type(128), U8.type(255), U8.type(0)), byte)
            found = found | byte.astype(U32) << U32.type(8 * i)
        write(machine, found)

    return run


@operation("bmsk.clamp.b32")
def _mask_of_bits(instruction, code):
    to, a, b = instruction.operands
    i, j, write = code.slot(a, "u32"), code.slot(b, "u32"), code.writer(to)

    def run(machine):
        first, count = (np.minimum(typed(machine.R[s], U32), U32.type(32)).astype(U64) for s in (i, j))
        write(machine, (((U64.type(1) << count) - U64.type(1)) << first).astype(U32))

    return run


PAIRS = {"add": np.add, "min": np.minimum, "max": np.maximum}


@operation(*[f"{name}.{sign}16x2" for name in PAIRS for sign in "su"])
def _pairs(instruction, code):
    """Two numbers of 16 bits in a register."""
    name, kind = instruction.parts
    to, a, b = instruction.operands
    i, j, write, half = code.slot(a, "b32"), code.slot(b, "b32"), code.writer(to), TYPES[kind[:3]]

    def run(machine):
        x, y = (np.ascontiguousarray(typed(machine.R[s], U32))[..., None].view(half) for s in (i, j))
        write(machine, PAIRS[name](x, y).view(U32)[..., 0])

    return run
