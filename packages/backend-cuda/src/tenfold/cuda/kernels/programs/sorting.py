"""Sorting, selection and search on order-preserving integers: kernels see elements as unsigned numbers of their width.

Rows of a tile are sorted by a bitonic network of words, key above and position below, so that equal keys keep their order and
no two words are equal; keys of 64 bits have their positions beside them. Longer rows are sorted in tiles, which are merged.

Sources: Batcher, "Sorting networks and their applications", 1968; Green, McColl and Bader, "GPU merge path", 2012; Alabi,
Blanchard, Gordon and Steinbach, "Fast k-selection algorithms for graphics processing units", 2012.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl


@triton.jit
def ordered_key(bits, KIND: tl.constexpr, INF: tl.constexpr, BITS: tl.constexpr, DESCENDING: tl.constexpr):
    """An unsigned number that is in the order of the elements: -0 with 0, NaN above all.

    KIND 0: the elements are unsigned integers, 1: signed ones, 2: floats, of which INF has the bits of infinity.
    """
    top: tl.constexpr = 1 << (BITS - 1)
    full: tl.constexpr = (1 << BITS) - 1
    key = bits.to(tl.uint64 if BITS == 64 else tl.uint32)
    if KIND == 1:
        key = key ^ top
    if KIND == 2:
        size = key & (top - 1)
        key = tl.where(key >= top, key ^ full, key | top)
        key = tl.where(size == 0, top, key)
        key = tl.where(size > INF, full, key)
    if DESCENDING:
        key = key ^ full
    return key


@triton.jit
def right(dims: tl.constexpr, j: tl.constexpr):
    """Bit j of the index, along its dimension of a hypercube."""
    return tl.reshape(tl.arange(0, 2), [1] * (dims - j - 1) + [2] + [1] * j)


@triton.jit
def opposite(x, axis: tl.constexpr):
    """Of two elements along an axis the other one: their sum, which may wrap around, without the own one."""
    return tl.sum(x, axis, keep_dims=True).to(x.dtype) - x


@triton.jit
def exchange(word, place, flip, dims: tl.constexpr, j: tl.constexpr, PAIRS: tl.constexpr):
    """Puts the elements whose indices differ in bit j alone in order, in reverse where flip is 1."""
    other = opposite(word, dims - 1 - j)
    backwards = (flip ^ right(dims, j)) != 0
    if PAIRS:
        other_place = opposite(place, dims - 1 - j)
        swap = ((word > other) | ((word == other) & (place > other_place))) != backwards
        return tl.where(swap, other, word), tl.where(swap, other_place, place)
    else:
        return tl.where((word > other) != backwards, other, word), place


@triton.jit
def network(word, place, dims: tl.constexpr, LOG: tl.constexpr, PAIRS: tl.constexpr):
    """Sorts runs of 2**LOG elements of a hypercube."""
    for stage in tl.static_range(1, LOG + 1):
        for j in tl.static_range(stage):
            if stage < LOG:
                word, place = exchange(word, place, right(dims, stage), dims, stage - 1 - j, PAIRS)
            else:
                word, place = exchange(word, place, 0, dims, stage - 1 - j, PAIRS)
    return word, place


@triton.jit
def give(
    values_ptr, places_ptr, x_ptr, index_ptr, from_row, from_index, to_row, c, place, mask, xc, oc, INDEXED: tl.constexpr,
):  # fmt: skip
    """Writes the elements at `place` and their positions to the columns c of results."""
    if INDEXED:
        place = tl.load(index_ptr + from_index + place, mask, other=0)
    place = place.to(tl.int64)
    value = tl.load(x_ptr + from_row + place * xc, mask, other=0)
    tl.store(values_ptr + to_row + c * oc, value, mask)
    tl.store(places_ptr + to_row + c * oc, place, mask)


def sort_tiles(
    words_ptr, seats_ptr, values_ptr, places_ptr, x_ptr, index_ptr, rows, width, tiles, inner, xo, xi, xc, oo, oi, oc, first,
    keep, RANK: tl.constexpr, FINAL: tl.constexpr, INDEXED: tl.constexpr, KIND: tl.constexpr, INF: tl.constexpr,
    BITS: tl.constexpr, SHIFT: tl.constexpr, DESCENDING: tl.constexpr, UNIT: tl.constexpr, LOG_ROWS: tl.constexpr,
    LOG: tl.constexpr,
):  # fmt: skip
    """Rows, or tiles of rows, in order. Without FINAL the words are kept for merging, 2**LOG of a row to a program.

    FINAL: elements and positions from the rank `first` on, `keep` of them; RANK 1: from that of the lower median, which is a
    NaN where there is one; RANK 2: from that of the median of what is no NaN. INDEXED: of the elements of a row that a row of
    positions names.
    """
    PAIRS: tl.constexpr = BITS == 64
    WORD: tl.constexpr = tl.uint64 if SHIFT == 32 or PAIRS else tl.uint32
    ROWS: tl.constexpr = 1 << LOG_ROWS
    BLOCK: tl.constexpr = 1 << LOG
    DIMS: tl.constexpr = LOG_ROWS + LOG
    r = tl.program_id(0) // tiles * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.program_id(0) % tiles * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (r < rows) & (c < width)
    outer = (r // inner).to(tl.int64)
    within = (r % inner).to(tl.int64)
    from_row = outer * xo + within * xi
    from_index = r.to(tl.int64) * width
    step = 1 if UNIT else xc
    place = c.to(tl.int64)
    if INDEXED:
        place = tl.load(index_ptr + from_index + c, mask, other=0)
    bits = tl.load(x_ptr + from_row + place * step, mask, other=0)
    key = ordered_key(bits, KIND, INF, BITS, DESCENDING)
    rank = tl.zeros([ROWS, 1], tl.int32) + first
    if RANK > 0:
        rank = tl.zeros([ROWS, 1], tl.int32) + (width - 1) // 2
        if KIND == 2:
            missing = tl.sum((mask & (key == (1 << BITS) - 1)).to(tl.int32), 1)[:, None]
            if RANK == 1:
                rank = tl.where(missing > 0, width - missing, rank)
            else:
                rank = tl.maximum(width - missing - 1, 0) // 2
    seat = tl.zeros([ROWS, BLOCK], tl.uint32) + c.to(tl.uint32)
    if PAIRS:
        word = tl.where(mask, key, (1 << BITS) - 1)
    else:
        word = (key.to(WORD) << SHIFT) | seat.to(WORD)
        word = tl.where(mask, word, tl.full([1, 1], -1, tl.int64).to(WORD))
    word = tl.reshape(word, [2] * DIMS)
    seat = tl.reshape(seat, [2] * DIMS)
    word, seat = network(word, seat, DIMS, LOG, PAIRS)
    word = tl.reshape(word, [ROWS, BLOCK])
    seat = tl.reshape(seat, [ROWS, BLOCK])
    if FINAL:
        if not PAIRS:
            seat = (word & ((1 << SHIFT) - 1)).to(tl.uint32)
        column = c - rank
        kept = (r < rows) & (column >= 0) & (column < keep)
        to_row = outer * oo + within * oi
        give(values_ptr, places_ptr, x_ptr, index_ptr, from_row, from_index, to_row, column.to(tl.int64), seat.to(tl.int64), kept,
             step, oc, INDEXED)  # fmt: skip
    else:
        tl.store(words_ptr + from_index + c, word, mask)
        if PAIRS:
            tl.store(seats_ptr + from_index + c, seat, mask)


@triton.jit
def before(words_ptr, seats_ptr, a, b, PAIRS: tl.constexpr, mask):
    """Whether the element at a is one of those before that at b."""
    x = tl.load(words_ptr + a, mask, other=0)
    y = tl.load(words_ptr + b, mask, other=0)
    if PAIRS:
        p = tl.load(seats_ptr + a, mask, other=0)
        q = tl.load(seats_ptr + b, mask, other=0)
        return (x < y) | ((x == y) & (p < q))
    else:
        return x < y


def merge_tiles(
    words_ptr, seats_ptr, values_ptr, places_ptr, from_words_ptr, from_seats_ptr, x_ptr, index_ptr, width, run, steps, tiles,
    inner, xo, xi, xc, oo, oi, oc, first, keep, FINAL: tl.constexpr, INDEXED: tl.constexpr, BITS: tl.constexpr,
    SHIFT: tl.constexpr, LOG: tl.constexpr,
):  # fmt: skip
    """2**LOG elements of a row of which each two neighbouring runs are merged into one; FINAL: as of `sort_tiles`.

    Where the two runs are cut for them is found by `steps` halvings, for both ends of the piece at a time.
    """
    PAIRS: tl.constexpr = BITS == 64
    BLOCK: tl.constexpr = 1 << LOG
    row = tl.program_id(0) // tiles
    begin = (tl.program_id(0) % tiles).to(tl.int64) * BLOCK
    base = row.to(tl.int64) * width
    both = run.to(tl.int64) * 2
    left = begin // both * both
    middle = tl.minimum(left + run, width)
    end = tl.minimum(left + both, width)
    words = from_words_ptr + base
    seats = from_seats_ptr + base
    # Of the first d elements of both runs, low to high of them are of the first run.
    d = tl.minimum(begin + tl.arange(0, 2).to(tl.int64) * BLOCK, end) - left
    low = tl.maximum(d - (end - middle), 0)
    high = tl.minimum(d, middle - left)
    for _ in range(steps):
        open_ = low < high
        half = (low + high) // 2
        taken = before(words, seats, left + half, middle + d - 1 - half, PAIRS, open_)
        low = tl.where(open_ & taken, half + 1, low)
        high = tl.where(open_ & (taken == 0), half, high)
    which = tl.arange(0, 2)
    start_a = tl.sum(tl.where(which == 0, low, 0), 0)
    count_a = tl.sum(tl.where(which == 0, -low, low), 0)
    start_b = tl.sum(tl.where(which == 0, d, 0), 0) - start_a
    count = tl.sum(tl.where(which == 0, -d, d), 0)
    count_b = count - count_a
    # The first run's piece rises, the second one's falls behind it, nothing is in between: a bitonic sequence.
    c = tl.arange(0, BLOCK)[None, :].to(tl.int64)
    of_a = c < count_a
    of_b = c >= BLOCK - count_b
    source = tl.where(of_a, left + start_a + c, middle + start_b + (BLOCK - 1 - c))
    word = tl.load(words + source, of_a | of_b, other=0)
    word = tl.where(of_a | of_b, word, tl.full([1, 1], -1, tl.int64).to(word.dtype))
    seat = tl.zeros([1, BLOCK], tl.uint32)
    if PAIRS:
        seat = tl.load(seats + source, of_a | of_b, other=0)
        seat = tl.where(of_a | of_b, seat, tl.full([1, 1], -1, tl.int64).to(tl.uint32))
    word = tl.reshape(word, [2] * LOG)
    seat = tl.reshape(seat, [2] * LOG)
    for j in tl.static_range(LOG):
        word, seat = exchange(word, seat, 0, LOG, LOG - 1 - j, PAIRS)
    word = tl.reshape(word, [1, BLOCK])
    seat = tl.reshape(seat, [1, BLOCK])
    column = begin + c
    if FINAL:
        if not PAIRS:
            seat = (word & ((1 << SHIFT) - 1)).to(tl.uint32)
        outer = (row // inner).to(tl.int64)
        within = (row % inner).to(tl.int64)
        kept = (c < count) & (column >= first) & (column < first + keep)
        give(values_ptr, places_ptr, x_ptr, index_ptr, outer * xo + within * xi, base, outer * oo + within * oi, column - first,
             seat.to(tl.int64), kept, xc, oc, INDEXED)  # fmt: skip
    else:
        tl.store(words_ptr + base + column, word, c < count)
        if PAIRS:
            tl.store(seats_ptr + base + column, seat, c < count)
