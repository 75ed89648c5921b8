"""Selection by rank, binary search, and runs of equal elements, on the ordered keys of sorting.py.

Source: Alabi, Blanchard, Gordon and Steinbach, "Fast k-selection algorithms for graphics processing units", 2012.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.sorting import give, ordered_key


@triton.jit
def keys_of(
    x_ptr, index_ptr, c, end, xc, INDEXED: tl.constexpr, KIND: tl.constexpr, INF: tl.constexpr, BITS: tl.constexpr,
    DESCENDING: tl.constexpr,
):  # fmt: skip
    """The keys of a row's elements c."""
    place = c
    if INDEXED:
        place = tl.load(index_ptr + c, c < end, other=0)
    return ordered_key(tl.load(x_ptr + place * xc, c < end, other=0), KIND, INF, BITS, DESCENDING)


def select_rows(
    values_ptr, places_ptr, x_ptr, index_ptr, width, parts, inner, xo, xi, xc, oo, oi, oc, wanted, RANK: tl.constexpr,
    INDEXED: tl.constexpr, KIND: tl.constexpr, INF: tl.constexpr, BITS: tl.constexpr, DESCENDING: tl.constexpr,
    UNIT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of a part of a row, the positions of the `wanted` first elements in order, as they lie.

    The key of the last of them is found digit by digit, each by a histogram of the elements that have the digits before it.
    RANK 1: only the element of that rank and its position; 2: the lower median's, which is a NaN where there is one; 3: the
    median's of what is no NaN.
    """
    KEY: tl.constexpr = tl.uint64 if BITS == 64 else tl.uint32
    FULL: tl.constexpr = (1 << BITS) - 1
    row = tl.program_id(0) // parts
    part = (tl.program_id(0) % parts).to(tl.int64)
    begin = part * width // parts
    end = (part + 1) * width // parts
    outer = (row // inner).to(tl.int64)
    within = (row % inner).to(tl.int64)
    x = x_ptr + outer * xo + within * xi
    index = index_ptr + row.to(tl.int64) * width
    step = 1 if UNIT else xc
    lane = tl.arange(0, BLOCK).to(tl.int64)
    left = wanted.to(tl.int64)
    if RANK > 1:
        left = (end - begin - 1) // 2 + 1
        if KIND == 2:
            missing = tl.zeros([BLOCK], tl.int32)
            for start in range(begin, end, BLOCK):
                c = start + lane
                key = keys_of(x, index, c, end, step, INDEXED, KIND, INF, BITS, DESCENDING)
                missing += ((c < end) & (key == FULL)).to(tl.int32)
            lost = tl.sum(missing, 0).to(tl.int64)
            if RANK == 2:
                left = tl.where(lost > 0, end - begin - lost + 1, left)
            else:
                left = tl.maximum(end - begin - lost - 1, 0) // 2 + 1
    found = tl.zeros([1], KEY)
    bins = tl.arange(0, 256)
    for digit in range(BITS // 8):
        shift = BITS - 8 - 8 * digit
        counts = tl.zeros([256], tl.int32)
        for start in range(begin, end, BLOCK):
            c = start + lane
            key = keys_of(x, index, c, end, step, INDEXED, KIND, INF, BITS, DESCENDING) >> shift
            member = (c < end) & ((key >> 8) == found)
            counts += tl.histogram((key & 255).to(tl.int32), 256, mask=member)
        upto = tl.cumsum(counts, 0)
        chosen = tl.sum((upto < left).to(tl.int32), 0)
        left -= tl.sum(tl.where(bins < chosen, counts, 0), 0)
        found = (found << 8) | chosen.to(KEY)
    # Of the elements that have this key, the first `left` in order belong to the wanted ones.
    seen = tl.zeros([1], tl.int64)
    equals = tl.zeros([1], tl.int64)
    for start in range(begin, end, BLOCK):
        c = start + lane
        key = keys_of(x, index, c, end, step, INDEXED, KIND, INF, BITS, DESCENDING)
        equal = ((c < end) & (key == found)).to(tl.int32)
        ordinal = tl.cumsum(equal, 0) + equals
        equals += tl.sum(equal, 0)
        if RANK > 0:
            kept = (equal != 0) & (ordinal == left)
            give(values_ptr, places_ptr, x, index, 0, 0, outer * oo + within * oi, c * 0, c, kept, step, oc, INDEXED)
        else:
            kept = ((c < end) & (key < found)) | ((equal != 0) & (ordinal <= left))
            one = kept.to(tl.int32)
            place = c
            if INDEXED:
                place = tl.load(index + c, kept, other=0)
            slot = tl.cumsum(one, 0) - 1 + seen
            tl.store(places_ptr + tl.program_id(0).to(tl.int64) * wanted + slot, place, kept)
            seen += tl.sum(one, 0)


def search_rows(
    out_ptr, rows_ptr, x_ptr, count, each, width, steps, RIGHT: tl.constexpr, BATCHED: tl.constexpr, WIDE: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Where elements would be put into rows that are in order; `each` elements to a row where BATCHED, else one row for all.

    A NaN is behind everything, as no comparison with it holds.
    """
    real: tl.constexpr = rows_ptr.dtype.element_ty
    wide: tl.constexpr = tl.float32 if real.is_floating() and real.primitive_bitwidth == 16 else real
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    x = tl.load(x_ptr + i, mask, other=0).to(wide)
    row = rows_ptr
    if BATCHED:
        row = rows_ptr + i // each * width
    low = tl.zeros([BLOCK], tl.int64 if WIDE else tl.int32)
    high = low + width
    for _ in range(steps):
        open_ = mask & (low < high)
        half = low + (high - low) // 2
        found = tl.load(row + half, open_, other=0).to(wide)
        if RIGHT:
            behind = open_ & ((found > x) == 0)
        else:
            behind = open_ & ((found >= x) == 0)
        low = tl.where(behind, half + 1, low)
        high = tl.where(open_ & (behind == 0), half, high)
    tl.store(out_ptr + i, low.to(out_ptr.dtype.element_ty), mask)


@triton.jit
def starts_run(x_ptr, i, first, mask, KIND: tl.constexpr, INF: tl.constexpr, BITS: tl.constexpr, SAME: tl.constexpr):
    """Whether an element is the `first` one or differs from the one before it, as NaN does from all, unless they are the SAME."""
    key = ordered_key(tl.load(x_ptr + i, mask, other=0), KIND, INF, BITS, 0)
    last = ordered_key(tl.load(x_ptr + i - 1, mask & (i > 0), other=0), KIND, INF, BITS, 0)
    differs = first | (key != last)
    if KIND == 2 and not SAME:
        differs = differs | (key == (1 << BITS) - 1)
    return differs


def mark_runs(
    out_ptr, x_ptr, count, width, KIND: tl.constexpr, INF: tl.constexpr, BITS: tl.constexpr, SAME: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """1 where a run of equal elements begins in a row, 0 elsewhere."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    starts = starts_run(x_ptr, i, i % width == 0, mask, KIND, INF, BITS, SAME)
    tl.store(out_ptr + i, starts.to(out_ptr.dtype.element_ty), mask)


def place_runs(first_ptr, inverse_ptr, runs_ptr, place_ptr, count, total, ORDERED: tl.constexpr, BLOCK: tl.constexpr):
    """Of elements in order with the ordinals of their runs: where each run begins, and each element's run.

    Without ORDERED the elements come from the positions `place`.
    """
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    run = tl.load(runs_ptr + i, mask, other=0).to(tl.int64)
    last = tl.load(runs_ptr + i - 1, mask & (i > 0), other=0).to(tl.int64)
    place = i
    if not ORDERED:
        place = tl.load(place_ptr + i, mask, other=0)
    tl.store(inverse_ptr + place, run - 1, mask)
    tl.store(first_ptr + run - 1, i, mask & (run != last))
    tl.store(first_ptr + total + i * 0, i + 1, mask & (i == count - 1))


def rank_rows(out_ptr, runs_ptr, place_ptr, count, width, BLOCK: tl.constexpr):
    """Each element's rank among the different ones of its row, from the ordinals of runs over all rows."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    base = i // width * width
    rank = tl.load(runs_ptr + i, mask, other=0) - tl.load(runs_ptr + base, mask, other=0)
    tl.store(out_ptr + base + tl.load(place_ptr + i, mask, other=0), rank.to(tl.int64), mask)


def middle_of_rows(
    values_ptr, places_ptr, x_ptr, place_ptr, width, steps, SKIP: tl.constexpr, KIND: tl.constexpr, INF: tl.constexpr,
    BITS: tl.constexpr,
):  # fmt: skip
    """The lower median of a sorted row: a NaN where there is one, or with SKIP that of what is no NaN."""
    row = tl.program_id(0).to(tl.int64)
    x = x_ptr + row * width
    one = tl.arange(0, 1).to(tl.int64)
    rank = one + (width - 1) // 2
    if KIND == 2:
        low = one
        high = one + width
        for _ in range(steps):  # for the first NaN
            half = (low + high) // 2
            key = ordered_key(tl.load(x + half, low < high, other=0), KIND, INF, BITS, 0)
            behind = (low < high) & (key != (1 << BITS) - 1)
            high = tl.where(behind, high, tl.where(low < high, half, high))
            low = tl.where(behind, half + 1, low)
        if SKIP:
            rank = tl.maximum(low - 1, 0) // 2
        else:
            rank = tl.where(low < width, low, rank)
    tl.store(values_ptr + row + one, tl.load(x + rank))
    tl.store(places_ptr + row + one, tl.load(place_ptr + row * width + rank))


@triton.jit
def later(a, b):
    """The greater of two numbers, for scans."""
    return tl.maximum(a, b)


def mode_rows(
    values_ptr, places_ptr, x_ptr, place_ptr, width, KIND: tl.constexpr, INF: tl.constexpr, BITS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """The last of the elements that occur most often in a sorted row, of several the least ones."""
    row = tl.program_id(0).to(tl.int64)
    x = x_ptr + row * width
    lane = tl.arange(0, BLOCK)
    begun = tl.zeros([1], tl.int32)  # where the run at the end of the block before began
    longest = tl.zeros([1], tl.int64)  # its length above, its last element below, from the end: the greatest is the answer
    for start in range(0, width, BLOCK):
        i = start + lane
        mask = i < width
        starts = starts_run(x, i, i == 0, mask, KIND, INF, BITS, 0)
        first = tl.maximum(tl.associative_scan(tl.where(starts, i, 0), 0, later), begun)
        score = ((i - first + 1).to(tl.int64) << 32) | (width - 1 - i).to(tl.int64)
        longest = tl.maximum(longest, tl.max(tl.where(mask, score, 0), 0))
        begun = tl.maximum(begun, tl.max(tl.where(mask, first, 0), 0))
    chosen = width - 1 - (longest & 0xFFFFFFFF)
    one = tl.arange(0, 1)
    tl.store(values_ptr + row + one, tl.load(x + chosen))
    tl.store(places_ptr + row + one, tl.load(place_ptr + row * width + chosen))
