"""What is done to many arrays at once: a program works on one piece of one array, whose address and length a table has.

A row of the table has seven words: the address of the piece is the first, its length the last (kernels/multi_tensor.py).
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl


def zero_many(table_ptr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    row = table_ptr + tl.program_id(0).to(tl.int64) * 7
    i = tl.arange(0, BLOCK)
    tl.store(tl.load(row).to(tl.pointer_type(KIND)) + i, tl.zeros([BLOCK], KIND), i < tl.load(row + 6))


def unscale_many(table_ptr, found_ptr, inverse_ptr, KIND: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr):
    """x times a number on the device; another number there becomes 1 where an x is not finite."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    row = table_ptr + tl.program_id(0).to(tl.int64) * 7
    i = tl.arange(0, BLOCK)
    mask = i < tl.load(row + 6)
    x_ptr = tl.load(row).to(tl.pointer_type(KIND)) + i
    x = tl.load(x_ptr, mask, other=0.0).to(wide)
    bad = tl.max(tl.where(tl.abs(x) < float("inf"), 0, 1), 0)
    tl.store(found_ptr, 1.0, bad != 0)  # same value: whoever finds one says so, and a launch writes nothing else there
    tl.store(x_ptr, (x * tl.load(inverse_ptr).to(wide)).to(KIND), mask)


def clip_many(table_ptr, total_ptr, most, KIND: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr):
    """x times most / (total + 1e-6), where that is less than 1."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    row = table_ptr + tl.program_id(0).to(tl.int64) * 7
    i = tl.arange(0, BLOCK)
    mask = i < tl.load(row + 6)
    x_ptr = tl.load(row).to(tl.pointer_type(KIND)) + i
    factor = most / (tl.load(total_ptr).to(wide) + 1e-6)
    factor = tl.where((factor < 1.0) | (factor != factor), factor, 1.0)
    tl.store(x_ptr, (tl.load(x_ptr, mask, other=0.0).to(wide) * factor).to(KIND), mask)


def change_many(
    table_ptr, a, b, WHAT: tl.constexpr, OTHERS: tl.constexpr, KIND: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr
):
    """WHAT an elementwise operator makes of x, of up to two OTHERS beside it, y and z, and of the numbers a and b."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    row = table_ptr + tl.program_id(0).to(tl.int64) * 7
    i = tl.arange(0, BLOCK)
    mask = i < tl.load(row + 6)
    x_ptr = tl.load(row).to(tl.pointer_type(KIND)) + i
    x = tl.load(x_ptr, mask, other=0.0).to(wide)
    if OTHERS >= 1:
        y = tl.load(tl.load(row + 1).to(tl.pointer_type(KIND)) + i, mask, other=0.0).to(wide)
    if OTHERS == 2:
        z = tl.load(tl.load(row + 2).to(tl.pointer_type(KIND)) + i, mask, other=1.0).to(wide)
    if WHAT == "mul":
        x = x * y if OTHERS else x * a
    elif WHAT == "div":
        x = quotient(x, y if OTHERS else tl.zeros([BLOCK], wide) + a, DOUBLE)
    elif WHAT == "add":
        x = x + y * a if OTHERS else x + a
    elif WHAT == "lerp":
        x = tl.where(tl.abs(a) < 0.5, x + (y - x) * a, y - (y - x) * (1.0 - a))
    elif WHAT == "copy":
        x = y
    elif WHAT == "clamp":
        x = tl.where((x > a) | (x != x), x, a)
        x = tl.where((x < b) | (x != x), x, b)
    elif WHAT == "addcmul":
        x = x + (y * a) * z
    else:
        x = x + quotient(y * a, z, DOUBLE)
    tl.store(x_ptr, x.to(KIND), mask)


@triton.jit
def quotient(x, y, DOUBLE: tl.constexpr):
    return x / y if DOUBLE else tl.math.div_rn(x, y)


def norms_of_pieces(table_ptr, part_ptr, ORDER: tl.constexpr, KIND: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr):
    """Of each piece the sum of squares (ORDER 2), of magnitudes (1), or the largest magnitude (0); a NaN stays one."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    row = table_ptr + tl.program_id(0).to(tl.int64) * 7
    i = tl.arange(0, BLOCK)
    x = tl.load(tl.load(row).to(tl.pointer_type(KIND)) + i, i < tl.load(row + 6), other=0.0).to(wide)
    if ORDER == 0:
        part = tl.max(tl.abs(x), 0)
        part = tl.where(tl.max(tl.where(x != x, 1, 0), 0) != 0, float("nan"), part)
    if ORDER == 1:
        part = tl.sum(tl.abs(x), 0)
    if ORDER == 2:
        part = tl.sum(x * x, 0)
    tl.store(part_ptr + tl.program_id(0), part)


def norm_of_parts(total_ptr, part_ptr, count, ORDER: tl.constexpr, BLOCK: tl.constexpr):
    """One number of those that `norms_of_pieces` gave."""
    tl.store(total_ptr, whole_norm(part_ptr, count, ORDER, BLOCK).to(total_ptr.dtype.element_ty))


@triton.jit
def whole_norm(part_ptr, count, ORDER: tl.constexpr, BLOCK: tl.constexpr):
    """The norm of what `norms_of_pieces` gave, in float64."""
    sums = tl.zeros([BLOCK], tl.float64)
    for first in range(0, count, BLOCK):
        i = first + tl.arange(0, BLOCK)
        part = tl.load(part_ptr + i, i < count, other=0.0).to(tl.float64)
        if ORDER == 0:
            sums = tl.where((part > sums) | (part != part), part, sums)
        else:
            sums += part
    if ORDER == 0:
        total = tl.max(sums, 0)
        total = tl.where(tl.max(tl.where(sums != sums, 1, 0), 0) != 0, float("nan"), total)
    else:
        total = tl.sum(sums, 0)
    if ORDER == 2:
        total = tl.sqrt(total)
    return total


def norm_of_each(table_ptr, part_ptr, first_ptr, ORDER: tl.constexpr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    """The same of the parts of each array; program (array), whose first part and the one after its last `first_ptr` has.

    A row of the table has the address of the array's norm behind those of its pieces.
    """
    here = tl.program_id(0).to(tl.int64)
    first = tl.load(first_ptr + here)
    count = (tl.load(first_ptr + here + 1) - first).to(tl.int32)
    total = whole_norm(part_ptr + first, count, ORDER, BLOCK)
    tl.store(tl.load(table_ptr + first * 7 + 5).to(tl.pointer_type(KIND)), total.to(KIND))
