"""Bags of a table's rows: sums, means and maxima, and the gradients of the table and of the rows' factors.

A program has BAGS bags, whose indices it takes ROWS at a time, and BLOCK columns. Without OFFSETS all bags have `each` indices;
the last bag ends at the last offset (ENDS) or with the indices.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl


@triton.jit
def span_of_bag(offsets_ptr, s, count, length, each, OFFSETS: tl.constexpr, ENDS: tl.constexpr):
    """(where each bag begins, where it ends, whether its offsets are none)."""
    inside = s < count
    if OFFSETS:
        begin = tl.load(offsets_ptr + s, inside, other=0).to(tl.int64)
        more = inside & (s + 1 < count + ENDS)
        end = tl.where(more, tl.load(offsets_ptr + s + 1, more, other=0).to(tl.int64), length)
        wrong = inside & (((s == 0) & (begin != 0)) | (begin < 0) | (begin > length) | (end > length))
    else:
        begin = s.to(tl.int64) * each
        end = begin + each
        wrong = s < 0
    begin = tl.maximum(begin, 0)
    return begin, tl.where(inside, tl.minimum(end, length), begin), wrong


@triton.jit
def indices_of_bag(index_ptr, row, inside, table, skipped):
    """(the table's row of each index, whether it counts, whether it is none)."""
    t = tl.load(index_ptr + row, inside, other=0).to(tl.int64)
    kept = inside & (t != skipped)
    wrong = kept & ((t < 0) | (t >= table))
    return t, kept & (wrong == 0), wrong


def bags(
    out_ptr, sizes_ptr, places_ptr, report_ptr, weight_ptr, index_ptr, offsets_ptr, factors_ptr, code, code_of_offsets, count,
    length, each, table, width, skipped, MODE: tl.constexpr, OFFSETS: tl.constexpr, ENDS: tl.constexpr, FACTORS: tl.constexpr,
    DOUBLE: tl.constexpr, BAGS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """MODE 0: sums, 1: means, 2: maxima with the table's rows that they come from, the first of equal ones.

    NaN counts only where it comes first in its bag: nothing is above it, and it is above nothing.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    s = tl.program_id(0) * BAGS + tl.arange(0, BAGS)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    begin, end, wrong = span_of_bag(offsets_ptr, s, count, length, each, OFFSETS, ENDS)
    if OFFSETS:
        tl.store(report_ptr + code_of_offsets + s * 0, wrong.to(tl.int32), wrong)  # same value: that it is so
    total = tl.zeros([BAGS, ROWS, BLOCK], wide)
    many = tl.zeros([BAGS, ROWS], tl.int64)
    if MODE == 2:
        where = tl.full([BAGS, ROWS, BLOCK], -1, tl.int64)  # the index that it comes from
        leads = tl.zeros([BAGS, ROWS], tl.int64) + length
    for start in range(0, tl.max(end - begin, 0), ROWS):
        row = begin[:, None] + start + tl.arange(0, ROWS)[None, :]
        t, kept, bad = indices_of_bag(index_ptr, row, row < end[:, None], table, skipped)
        tl.store(report_ptr + code + row * 0, bad.to(tl.int32), bad)  # same value: that it is so
        mask = kept[:, :, None] & (c < width)[None, None, :]
        x = tl.load(weight_ptr + t[:, :, None] * width + c[None, None, :], mask, other=0.0).to(wide)
        if FACTORS:
            x = x * tl.load(factors_ptr + row, kept, other=0.0).to(wide)[:, :, None]
        many += kept.to(tl.int64)
        if MODE == 2:
            x = tl.where(x == x, x, float("-inf"))
            better = mask & ((where < 0) | (x > total))
            leads = tl.minimum(leads, tl.where(kept, row, length))
            total = tl.where(better, x, total)
            where = tl.where(better, row[:, :, None] + tl.zeros([BAGS, ROWS, BLOCK], tl.int64), where)
        else:
            total += tl.where(mask, x, 0.0)
    size = tl.sum(many, 1)
    tl.store(sizes_ptr + s, size, (s < count) & (tl.program_id(1) == 0))
    place = s.to(tl.int64)[:, None] * width + c[None, :]
    mask = (s < count)[:, None] & (c < width)[None, :]
    if MODE == 2:
        none = where < 0
        found = tl.max(tl.where(none, float("-inf"), total), 1)
        holds = (total == found[:, None, :]) & (none == 0)
        first = tl.min(tl.where(holds, where, length), 1)
        some = mask & (first < length)
        lead = tl.min(leads, 1)
        t = tl.load(index_ptr + lead, lead < length, other=0).to(tl.int64)
        x = tl.load(weight_ptr + t[:, None] * width + c[None, :], mask & (lead < length)[:, None], other=0.0).to(wide)
        if FACTORS:
            x = x * tl.load(factors_ptr + lead, lead < length, other=1.0).to(wide)[:, None]
        broken = x != x
        first = tl.where(broken, lead[:, None], first)
        found = tl.where(broken, float("nan"), tl.where(some, found, 0.0))
        tl.store(places_ptr + place, tl.load(index_ptr + tl.where(some, first, 0), some, other=-1).to(tl.int64), mask)
    else:
        found = tl.sum(total, 1)
        if MODE == 1:
            found = found / tl.maximum(size, 1).to(wide)[:, None]
    tl.store(out_ptr + place, found.to(out_ptr.dtype.element_ty), mask)


def bags_gradient(
    table_ptr, g_ptr, sizes_ptr, often_ptr, index_ptr, offsets_ptr, factors_ptr, count, length, each, table, width, skipped,
    MODE: tl.constexpr, OFFSETS: tl.constexpr, ENDS: tl.constexpr, FACTORS: tl.constexpr, OFTEN: tl.constexpr,
    DOUBLE: tl.constexpr, BAGS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Adds what each bag gives to its rows; OFTEN: over how often the row is looked up."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    s = tl.program_id(0) * BAGS + tl.arange(0, BAGS)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    begin, end, _none = span_of_bag(offsets_ptr, s, count, length, each, OFFSETS, ENDS)
    inside = (s < count)[:, None] & (c < width)[None, :]
    g = tl.load(g_ptr + s.to(tl.int64)[:, None] * width + c[None, :], inside, other=0.0).to(wide)
    if MODE == 1:
        g = g / tl.maximum(tl.load(sizes_ptr + s, s < count, other=1), 1).to(wide)[:, None]
    for start in range(0, tl.max(end - begin, 0), ROWS):
        row = begin[:, None] + start + tl.arange(0, ROWS)[None, :]
        t, kept, _bad = indices_of_bag(index_ptr, row, row < end[:, None], table, skipped)
        y = g[:, None, :] + tl.zeros([BAGS, ROWS, BLOCK], wide)
        if FACTORS:
            y = y * tl.load(factors_ptr + row, kept, other=0.0).to(wide)[:, :, None]
        if OFTEN:
            y = y / tl.load(often_ptr + t, kept, other=1).to(wide)[:, :, None]
        mask = kept[:, :, None] & (c < width)[None, None, :]
        tl.atomic_add(table_ptr + t[:, :, None] * width + c[None, None, :], y, mask, sem="relaxed")


def bag_maxima_gradient(table_ptr, g_ptr, places_ptr, size, width, DOUBLE: tl.constexpr, BLOCK: tl.constexpr):
    """Adds what each largest element gives to the table's row that it comes from."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    k = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    t = tl.load(places_ptr + k, k < size, other=-1)
    g = tl.load(g_ptr + k, k < size, other=0.0).to(wide)
    tl.atomic_add(table_ptr + t * width + k % width, g, t >= 0, sem="relaxed")


def bag_factors_gradient(
    out_ptr, g_ptr, weight_ptr, index_ptr, offsets_ptr, count, length, each, table, width, skipped, OFFSETS: tl.constexpr,
    ENDS: tl.constexpr, DOUBLE: tl.constexpr, BAGS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of each index that counts the product of its table's row and its bag's gradient."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    s = tl.program_id(0) * BAGS + tl.arange(0, BAGS)
    begin, end, _none = span_of_bag(offsets_ptr, s, count, length, each, OFFSETS, ENDS)
    for start in range(0, tl.max(end - begin, 0), ROWS):
        row = begin[:, None] + start + tl.arange(0, ROWS)[None, :]
        t, kept, _bad = indices_of_bag(index_ptr, row, row < end[:, None], table, skipped)
        total = tl.zeros([BAGS, ROWS, BLOCK], wide)
        for first in range(0, width, BLOCK):
            c = first + tl.arange(0, BLOCK)
            inside = (s < count)[:, None] & (c < width)[None, :]
            g = tl.load(g_ptr + s.to(tl.int64)[:, None] * width + c[None, :], inside, other=0.0).to(wide)
            mask = kept[:, :, None] & (c < width)[None, None, :]
            x = tl.load(weight_ptr + t[:, :, None] * width + c[None, None, :], mask, other=0.0).to(wide)
            total += tl.where(mask, g[:, None, :] * x, 0.0)
        tl.store(out_ptr + row, tl.sum(total, 2).to(out_ptr.dtype.element_ty), kept)
