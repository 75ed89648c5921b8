"""Reductions of segments, which are rows that follow one another in memory or in a given order; and histograms."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.tiles import tile_count, tile_of


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def combined(a, b, REDUCE: tl.constexpr):
    """One more term; a NaN stays."""
    if REDUCE == "amax":
        return tl.where((b > a) | (b != b), b, a)
    if REDUCE == "amin":
        return tl.where((b < a) | (b != b), b, a)
    if REDUCE == "prod":
        return a * b
    return a + b


def segments_reduced(
    out_ptr, x_ptr, order_ptr, offsets_ptr, segments, count, length, columns, initial, neutral, REDUCE: tl.constexpr,
    KIND: tl.constexpr, ORDERED: tl.constexpr, START: tl.constexpr, DOUBLE: tl.constexpr, UNIT: tl.constexpr,
    SEGMENTS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of each segment, from one offset to the next, the REDUCE of its rows: of `count` segments of a batch of `length` rows.

    A row has `columns` times UNIT elements; UNIT 0 is a row of one. ORDERED: rows are taken in the order that `order` has.
    START: 0 nothing, and an empty segment is `initial`; 1 `initial` takes part; 2 the result's own value does; 3 it does not,
    but an empty segment keeps it. Sums are of KIND; `neutral` changes no result.
    """
    width = columns * UNIT if UNIT else 1
    column, segment = tile_of(tile_count(width, BLOCK))
    s = segment.to(tl.int64) * SEGMENTS + tl.arange(0, SEGMENTS)
    batch = s // count
    at = offsets_ptr + batch * (count + 1) + (s - batch * count)
    begin = tl.maximum(tl.load(at, s < segments, other=0).to(tl.int64), 0)
    end = tl.minimum(tl.load(at + 1, s < segments, other=0).to(tl.int64), length)
    c = column * BLOCK + tl.arange(0, BLOCK)
    j = tl.arange(0, ROWS)
    total = tl.zeros([SEGMENTS, ROWS, BLOCK], KIND) + neutral.to(KIND)
    longest = tl.max(end - begin, 0)
    for start in range(0, longest, ROWS):
        row = begin[:, None] + start + j[None, :]
        inside = row < end[:, None]
        if ORDERED:
            row = tl.load(order_ptr + row, inside, other=0)
        else:
            row += batch[:, None] * length
        mask = inside[:, :, None] & (c < width)[None, None, :]
        place = row[:, :, None] * width + c[None, None, :] if UNIT else row[:, :, None]
        x = tl.load(x_ptr + place, mask, other=0).to(KIND)
        total = tl.where(mask, combined(total, x, REDUCE), total)
    if REDUCE == "amax" or REDUCE == "amin":
        found = tl.max(total, 1) if REDUCE == "amax" else tl.min(total, 1)
        if tl.float32 == KIND or tl.float64 == KIND:
            found = tl.where(tl.max(tl.where(total != total, 1, 0), 1) != 0, float("nan"), found)
    elif REDUCE == "prod":
        found = tl.reduce(total, 1, times)
    else:
        found = tl.sum(total, 1)
    size = (tl.maximum(end - begin, 0))[:, None]
    at = out_ptr + s[:, None] * width + c[None, :]
    mask = (s < segments)[:, None] & (c < width)[None, :]
    if START == 1:
        found = combined(found, initial.to(KIND), REDUCE)
    if START >= 2:
        own = tl.load(at, mask, other=0).to(KIND)
    if START == 2:
        found = combined(found, own, REDUCE)
    if REDUCE == "mean":
        many = size + 1 if START == 2 else size
        found = found / tl.maximum(many, 1).to(KIND)
    if START == 3:
        found = tl.where(size > 0, found, own)
    elif START != 2:
        found = tl.where(size > 0, found, initial.to(KIND))
    tl.store(at, found.to(out_ptr.dtype.element_ty), mask)


def segments_multiplied(
    out_ptr, x_ptr, order_ptr, offsets_ptr, segments, columns, OWN: tl.constexpr, SEGMENTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Products of complex numbers, which are pairs, row by row: of each segment, from one offset to the next, of `order`.

    OWN: the result's own value takes part; without it an empty segment keeps it.
    """
    column, segment = tile_of(tile_count(columns, BLOCK))
    s = segment.to(tl.int64) * SEGMENTS + tl.arange(0, SEGMENTS)
    c = column * BLOCK + tl.arange(0, BLOCK)
    begin = tl.load(offsets_ptr + s, s < segments, other=0)
    end = tl.load(offsets_ptr + s + 1, s < segments, other=0)
    own = (s < segments)[:, None] & (c < columns)[None, :]
    at = out_ptr + 2 * (s[:, None] * columns + c[None, :])
    real = tl.load(at, own, other=0)
    imag = tl.load(at + 1, own, other=0)
    if not OWN:
        taken = (end > begin)[:, None]
        real, imag = tl.where(taken, 1.0, real), tl.where(taken, 0.0, imag)
    for row in range(tl.max(end - begin, 0)):
        inside = begin + row < end
        place = tl.load(order_ptr + begin + row, inside, other=0)
        mask = inside[:, None] & own
        x = x_ptr + 2 * (place[:, None] * columns + c[None, :])
        a = tl.load(x, mask, other=0)
        b = tl.load(x + 1, mask, other=0)
        product = real * a - imag * b
        imag = tl.where(mask, real * b + imag * a, imag)
        real = tl.where(mask, product, real)
    tl.store(at, real, own)
    tl.store(at + 1, imag, own)


def histogram(
    out_ptr, x_ptr, range_ptr, report_ptr, code, count, bins, share, RANGE: tl.constexpr, SPARE: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Counts of whole numbers below `bins`, or with RANGE of numbers in `bins` equal parts from range[0] to range[1].

    A program counts `share` blocks by itself and then adds what it has; without SPARE (bins, and places for what is in none)
    it adds each element.
    """
    if RANGE:
        low = tl.load(range_ptr).to(tl.float64)
        high = tl.load(range_ptr + 1).to(tl.float64)
        same = low == high
        low, high = tl.where(same, low - 1.0, low), tl.where(same, high + 1.0, high)
        bad = (tl.abs(low) < float("inf")) & (tl.abs(high) < float("inf"))
        tl.store(report_ptr + code, 1, bad == 0)
        width = (high - low) / bins
    first = tl.program_id(0).to(tl.int64) * BLOCK * share
    if SPARE:
        counts = tl.zeros([SPARE], tl.int32)
    for block in range(share):
        i = first + block * BLOCK + tl.arange(0, BLOCK)
        mask = i < count
        x = tl.load(x_ptr + i, mask, other=0)
        if RANGE:
            x = x.to(tl.float64)
            mask = mask & (x >= low) & (x <= high)
            place = tl.where(mask, (x - low) / width, 0.0).to(tl.int64)
            place = tl.minimum(place, bins - 1)
        else:
            place = x.to(tl.int64)
            mask = mask & (place >= 0) & (place < bins)
        if SPARE:
            counts += tl.histogram(tl.where(mask, place, bins).to(tl.int32), SPARE)
        else:
            tl.atomic_add(out_ptr + place, 1, mask, sem="relaxed")
    if SPARE:
        k = tl.arange(0, SPARE)
        tl.atomic_add(out_ptr + k, counts.to(tl.int64), (k < bins) & (counts > 0), sem="relaxed")
