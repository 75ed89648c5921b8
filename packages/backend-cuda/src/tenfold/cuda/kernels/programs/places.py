"""Elements and rows at places that arrays of indices name: read, written, added, or the greatest kept.

Two sides take part. The near one is walked in order: a result that is gathered, or values that are scattered. Of the far one
the indices say the place. An index that is out of bounds is reported; nothing is read or written for it.
MODE is "take" (far to near), "set", "add", "max" (near to far; of "max" the far side holds keys) or "where" (the place
itself goes to near, -1 for none).
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl


@triton.jit
def distance(report_ptr, index_ptr, offset, mask, code, size, step, WRAP: tl.constexpr):
    """(how far the element of an index is from the first one, whether there is one)."""
    index = tl.load(index_ptr + offset, mask, other=0).to(tl.int64)
    low = -size if WRAP else 0
    found = mask & (index >= low) & (index < size)
    wrong = mask & ((index < low) | (index >= size))
    tl.store(report_ptr + code + offset * 0, wrong.to(tl.int32), wrong)
    if WRAP:
        index = tl.where(index < 0, index + size, index)
    return tl.where(found, index, 0) * step, found


@triton.jit
def key_of(x, LEAST: tl.constexpr, key_type: tl.constexpr):
    """A whole number in the order of the numbers, with LEAST in the reverse one; NaN is the greatest in both."""
    if x.dtype.is_floating():
        top: tl.constexpr = 0x7FFFFFFFFFFFFFFF if key_type == tl.int64 else 0x7FFFFFFF
        x = x.to(tl.float64 if key_type == tl.int64 else tl.float32)
        key = x.to(key_type, bitcast=True)
        key = tl.where(key < 0, key ^ top, key)
        if LEAST:
            key = ~key
        key = tl.where(x != x, top, key)
    else:
        key = ~x.to(key_type) if LEAST else x.to(key_type)
    return key


@triton.jit
def coordinate(i, n, MORE: tl.constexpr):
    """(the position in the innermost dimension, of n elements, and that in what is around it); all is one without MORE."""
    if MORE:
        rest = i // n
        return (i - rest * n).to(tl.int64), rest
    return i.to(tl.int64), i * 0


def rows_at(
    report_ptr, near_ptr, far_ptr, index0_ptr, index1_ptr, index2_ptr, code, rows, places, columns, near_batch, near_row,
    far_batch, size0, size1, size2, step0, step1, step2, stride0, stride1, stride2, skipped, MODE: tl.constexpr,
    ARRAYS: tl.constexpr, WRAP: tl.constexpr, PAD: tl.constexpr, FLAT: tl.constexpr, SPREAD: tl.constexpr,
    LEAST: tl.constexpr, UNIT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Whole rows: `places` of them in each batch, all lengths and steps in units of UNIT elements.

    FLAT: there is one batch. SPREAD: a near row has one element, which is for all columns. PAD: the index `skipped` is left out.
    """
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = r < rows
    batch = r * 0 if FLAT else r // places
    m = r if FLAT else r - batch * places
    place, found = distance(report_ptr, index0_ptr, m.to(tl.int64) * stride0, inside, code, size0, step0, WRAP)
    if PAD:
        found = found & (place != skipped.to(tl.int64) * step0)
    if ARRAYS > 1:
        more, known = distance(report_ptr, index1_ptr, m.to(tl.int64) * stride1, inside, code, size1, step1, WRAP)
        place, found = place + more, found & known
    if ARRAYS > 2:
        more, known = distance(report_ptr, index2_ptr, m.to(tl.int64) * stride2, inside, code, size2, step2, WRAP)
        place, found = place + more, found & known
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    near = (m.to(tl.int64) * near_row + batch.to(tl.int64) * near_batch) * UNIT
    near = near[:, None] + (c * 0 if SPREAD else c)
    far = ((place + batch.to(tl.int64) * far_batch) * UNIT)[:, None] + c
    within = c < columns * UNIT
    mask = found[:, None] & within
    if MODE == "take":
        tl.store(near_ptr + near, tl.load(far_ptr + far, mask, other=0), inside[:, None] & within)
    else:
        value = tl.load(near_ptr + near, mask, other=0)
        if MODE == "set":
            tl.store(far_ptr + far, value, mask)
        if MODE == "add":
            tl.atomic_add(far_ptr + far, value.to(far_ptr.dtype.element_ty), mask, sem="relaxed")
        if MODE == "max":
            key = key_of(value, LEAST, far_ptr.dtype.element_ty)
            tl.atomic_max(far_ptr + far, key, mask, sem="relaxed")


def places_at(
    report_ptr, near_ptr, far_ptr, index0_ptr, index1_ptr, index2_ptr, code, count, n0, n1, n2, a0, a1, a2, a3, b0, b1, b2, b3,
    p0, p1, p2, p3, q0, q1, q2, q3, s0, s1, s2, s3, size0, size1, size2, step0, step1, step2, MODE: tl.constexpr,
    ARRAYS: tl.constexpr, WRAP: tl.constexpr, DIMS: tl.constexpr, LEAST: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Element by element over DIMS dimensions, the innermost first: strides of near, far and the indices in elements."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    if not WIDE:
        i = i.to(tl.int32)
    c0, i = coordinate(i, n0, DIMS > 1)
    c1, i = coordinate(i, n1, DIMS > 2)
    c2, c3 = coordinate(i, n2, DIMS > 3)
    near = c0 * a0 + c1 * a1 + c2 * a2 + c3.to(tl.int64) * a3
    far = c0 * b0 + c1 * b1 + c2 * b2 + c3.to(tl.int64) * b3
    at0 = c0 * p0 + c1 * p1 + c2 * p2 + c3.to(tl.int64) * p3
    at1 = c0 * q0 + c1 * q1 + c2 * q2 + c3.to(tl.int64) * q3
    at2 = c0 * s0 + c1 * s1 + c2 * s2 + c3.to(tl.int64) * s3
    place, found = distance(report_ptr, index0_ptr, at0, mask, code, size0, step0, WRAP)
    if ARRAYS > 1:
        more, known = distance(report_ptr, index1_ptr, at1, mask, code, size1, step1, WRAP)
        place, found = place + more, found & known
    if ARRAYS > 2:
        more, known = distance(report_ptr, index2_ptr, at2, mask, code, size2, step2, WRAP)
        place, found = place + more, found & known
    far += place
    if MODE == "where":
        tl.store(near_ptr + near, tl.where(found, far, -1), mask)
    elif MODE == "take":
        tl.store(near_ptr + near, tl.load(far_ptr + far, found, other=0), mask)
    else:
        value = tl.load(near_ptr + near, found, other=0)
        if MODE == "set":
            tl.store(far_ptr + far, value, found)
        if MODE == "add":
            tl.atomic_add(far_ptr + far, value.to(far_ptr.dtype.element_ty), found, sem="relaxed")
        if MODE == "max":
            key = key_of(value, LEAST, far_ptr.dtype.element_ty)
            tl.atomic_max(far_ptr + far, key, found, sem="relaxed")


def keys_of_numbers(key_ptr, x_ptr, count, BACK: tl.constexpr, LEAST: tl.constexpr, BLOCK: tl.constexpr):
    """Keys whose order is that of numbers (`key_of`), of 64 bits for float64 and long integers; BACK: numbers from keys."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    kind: tl.constexpr = x_ptr.dtype.element_ty
    key_type: tl.constexpr = key_ptr.dtype.element_ty
    if not BACK:
        tl.store(key_ptr + i, key_of(tl.load(x_ptr + i, mask, other=0), LEAST, key_type), mask)
    else:
        key = tl.load(key_ptr + i, mask, other=0)
        whole = ~key if LEAST else key
        if kind.is_floating():
            top: tl.constexpr = 0x7FFFFFFFFFFFFFFF if key_type == tl.int64 else 0x7FFFFFFF
            bits = tl.where(whole < 0, whole ^ top, whole)
            number = bits.to(tl.float64 if key_type == tl.int64 else tl.float32, bitcast=True)
            tl.store(x_ptr + i, tl.where(key == top, float("nan"), number).to(kind), mask)
        else:
            tl.store(x_ptr + i, whole.to(kind), mask)
