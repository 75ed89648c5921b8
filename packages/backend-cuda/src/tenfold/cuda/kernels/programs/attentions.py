"""Attention without the matrix of scores: blocks of it are made, used and forgotten, also for the gradients.

Programs of a head follow each other in the grid's first dimension, for the others end at 65,535. A forward program has a block
of queries and goes over the keys with a running maximum and sum, in powers of 2; which pairs count is asked at the diagonal and
at the end alone. Gradients are in attention_gradients.py.
`group` heads of queries in a row have one head of keys and values.
MASK 0: none; 1: of truth values, which keep; 2: of numbers, which are added. Causal: query t sees keys up to t; of a head the
last queries, which see the most, are begun first.
The row of a query (b, h, t) is b o_b + h o_h + t o_t, in results as in what lies as they do.
DROPS: a weight stays, times `keep`, where its 24 bits are `threshold` at least. Bits are those of Philox for the seed and the
first counter at words_ptr: four weights in a row have a counter, so that all passes find the same ones.
TABLE: sequences of different lengths lie one behind the other, (T, heads, E), and take the place of the batch. The table has
their starts and lengths; `queries` and `keys` are those of the longest, and programs beyond a sequence's end return. Query t
stands at key t + keys - queries; `right` behind it counts with CAUSAL, `left` before it with BEHIND.

Sources: Dao et al., "FlashAttention", 2022; Dao, "FlashAttention-2", 2023; Milakov and Gimelshein, "Online normalizer
calculation for softmax", 2018; Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.hints import sixteens

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)


@triton.jit
def stays(words_ptr, threshold, row, first, keys, COLUMNS: tl.constexpr):
    """Which weights of these rows, from the key `first` on, are kept: (rows, COLUMNS)."""
    quads = (keys + 3) // 4
    place = row[:, None] * quads + (first // 4 + tl.arange(0, COLUMNS // 4))[None, :]
    a, b, c, d = tl.randint4x(tl.load(words_ptr), (tl.load(words_ptr + 1) + place).to(tl.uint64))
    words = tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), (row.shape[0], COLUMNS))
    return (words.to(tl.uint32, bitcast=True) >> 8).to(tl.int32) >= threshold


def sequence_table(
    table_ptr, report_ptr, q_starts_ptr, k_starts_ptr, used_ptr, code, count, all_queries, all_keys, queries, keys,
    USED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """(first query, queries, first key, keys) of each sequence, and of what belongs to none: inside of the arrays in any case.

    Reports starts that do not begin at 0, fall or go too far, and sequences longer than `queries` and `keys`. USED: a number of
    keys counts of each sequence; 2: they lie in pages, with room for `all_keys`.
    """
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    first_q, queries_of_it, wrong = part(q_starts_ptr, i, count, all_queries, queries)
    if USED == 2:
        first_k = 0 * i
        keys_of_it = tl.where(i < count, all_keys, 0)
    else:
        first_k, keys_of_it, wrong_k = part(k_starts_ptr, i, count, all_keys, keys)
        wrong = wrong | wrong_k
    if USED:
        used = tl.load(used_ptr + i, i < count, other=0).to(tl.int32)
        wrong = wrong | ((i < count) & ((used < 0) | (used > keys_of_it)))
        keys_of_it = tl.where(i < count, tl.minimum(tl.maximum(used, 0), keys_of_it), keys_of_it)
    place = table_ptr + 4 * i
    tl.store(place, first_q, i <= count)
    tl.store(place + 1, queries_of_it, i <= count)
    tl.store(place + 2, first_k, i <= count)
    tl.store(place + 3, keys_of_it, i <= count)
    tl.store(report_ptr + code + i * 0, wrong.to(tl.int32), wrong)


@triton.jit
def part(starts_ptr, i, count, everything, most):
    """(first row, rows, whether the starts are wrong there) of sequence i; behind the last one that of the rest."""
    first = tl.load(starts_ptr + i, i <= count, other=0).to(tl.int32)
    last = tl.load(starts_ptr + i + 1, i < count, other=0).to(tl.int32)
    last = tl.where(i < count, last, everything)
    begin = tl.minimum(tl.maximum(first, 0), everything)
    length = tl.minimum(tl.maximum(last, begin), everything) - begin
    wrong = (first != begin) | (last != begin + length) | ((i < count) & (length > most)) | ((i == 0) & (first != 0))
    return begin, length, wrong & (i <= count)


@triton.jit
def sequence(table_ptr, b):
    """(first query, queries, first key, keys) of a sequence."""
    place = table_ptr + 4 * b
    return tl.load(place), tl.load(place + 1), tl.load(place + 2), tl.load(place + 3)


@triton.jit
def of_head(
    q_ptr, k_ptr, v_ptr, b, h, group, first_q, first_k, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, ALIGNED: tl.constexpr
):  # fmt: skip
    """(where queries, keys and values of a head of a sequence begin, the distances from one of them to the next)."""
    if ALIGNED:
        q_b, q_h, q_t = sixteens(q_b), sixteens(q_h), sixteens(q_t)
        k_b, k_h, k_s = sixteens(k_b), sixteens(k_h), sixteens(k_s)
        v_b, v_h, v_s = sixteens(v_b), sixteens(v_h), sixteens(v_s)
    q_ptr += b * q_b + h * q_h + first_q * q_t.to(tl.int64)
    k_ptr += b * k_b + h // group * k_h + first_k * k_s.to(tl.int64)
    v_ptr += b * v_b + h // group * v_h + first_k * v_s.to(tl.int64)
    return q_ptr, k_ptr, v_ptr, q_t, k_s, v_s


@triton.jit
def clear(
    ptr, value, table_ptr, b, block, blocks, heads, h,
    KEYS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Fill what belongs to no sequence, of queries or of keys of one head, block by block: the last sequence's programs do."""
    is_last = (b + 1) * heads * blocks >= tl.num_programs(0)
    place = table_ptr + 4 * (b + 1) + 2 * KEYS
    first = tl.load(place, is_last, other=0)
    count = tl.load(place + 1, is_last, other=0)
    c = tl.arange(0, WIDE)
    for begin in range(block * ROWS, count, blocks * ROWS):
        i = begin + tl.arange(0, ROWS)
        row = (first + i).to(tl.int64) * heads + h
        filled = tl.full([ROWS, WIDE], value, ptr.dtype.element_ty)
        tl.store(ptr + row[:, None] * WIDTH + c[None, :], filled, (i < count)[:, None] & (c < WIDTH)[None, :])


@triton.jit
def few(ptr, there, inside, WIDTH: tl.constexpr, WIDE: tl.constexpr, WHOLE: tl.constexpr):
    """A block of rows or columns of features: which of them are there is asked only where some may not be."""
    if WHOLE and WIDTH == WIDE:
        found = tl.load(ptr)
    elif WHOLE:
        found = tl.load(ptr, inside, other=0.0)
    elif WIDTH == WIDE:
        found = tl.load(ptr, there, other=0.0)
    else:
        found = tl.load(ptr, there & inside, other=0.0)
    return found


@triton.jit
def seen_of(
    scores, t, s, queries, keys, low, high, mask_ptr, m_t, m_s, CAUSAL: tl.constexpr, BEHIND: tl.constexpr, MASK: tl.constexpr
):
    """(scores with the mask's numbers added, which of them count); t and s along their dimensions of the block."""
    seen = (t < queries) & (s < keys)
    if CAUSAL:
        seen = seen & (s <= t + high)
    if BEHIND:
        seen = seen & (s >= t + low)
    if MASK != 0:
        given = tl.load(mask_ptr + t * m_t + s * m_s, seen, other=0)
        if MASK == 1:
            seen = seen & (given != 0)
        else:
            scores += given.to(tl.float32) * LOG2E
    return scores, seen


@triton.jit
def over_keys(
    values, top, total, q, k_ptr, v_ptr, mask_ptr, words_ptr, t, drawn, begin, end, keys, low, high, factor, k_s, v_s,
    m_t, m_s, queries, threshold, WHOLE: tl.constexpr, CAUSAL: tl.constexpr, BEHIND: tl.constexpr, MASK: tl.constexpr,
    DROPS: tl.constexpr, PRECISION: tl.constexpr, E: tl.constexpr, V: tl.constexpr, WIDE_E: tl.constexpr, WIDE_V: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """(values, maximum, sum) after the keys from `begin` on; scores are powers of 2. WHOLE: every query sees all of these."""
    j = tl.arange(0, COLUMNS)
    e = tl.arange(0, WIDE_E)
    c = tl.arange(0, WIDE_V)
    far_k = k_s.to(tl.int64)  # from block to block; inside of one 32 bits are enough
    far_v = v_s.to(tl.int64)
    for first in range(begin, end, COLUMNS):
        s = first + j
        there = s < keys
        k = few(k_ptr + first * far_k + j[None, :] * k_s + e[:, None], there[None, :], (e < E)[:, None], E, WIDE_E, WHOLE)
        scores = tl.dot(q, k, input_precision=PRECISION)
        if WHOLE:
            higher = tl.maximum(top, tl.max(scores, 1) * factor)
        else:
            scores, seen = seen_of(
                scores * factor, t[:, None], s[None, :], queries, keys, low, high, mask_ptr, m_t, m_s, CAUSAL, BEHIND, MASK
            )
            scores = tl.where(seen, scores, float("-inf"))
            higher = tl.maximum(top, tl.max(scores, 1))
        level = tl.where(higher == float("-inf"), 0.0, higher)  # of a query that has seen no key yet
        if WHOLE:
            p = tl.exp2(scores * factor - level[:, None])
        else:
            p = tl.exp2(scores - level[:, None])
        less = tl.exp2(top - level)
        total = total * less + tl.sum(p, 1)
        if DROPS:
            p = tl.where(stays(words_ptr, threshold, drawn, first, keys, COLUMNS), p, 0.0)
        v = few(v_ptr + first * far_v + j[:, None] * v_s + c[None, :], there[:, None], (c < V)[None, :], V, WIDE_V, WHOLE)
        values = tl.dot(p.to(v.dtype), v, values * less[:, None], input_precision=PRECISION)
        top = higher
    return values, top, total


def attend(
    out_ptr, sums_ptr, q_ptr, k_ptr, v_ptr, mask_ptr, words_ptr, table_ptr,
    queries, keys, heads, group, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, m_b, m_h, m_t, m_s, scale, threshold, keep,
    left, right, o_b, o_h, o_t, TABLE: tl.constexpr, CAUSAL: tl.constexpr, BEHIND: tl.constexpr, MASK: tl.constexpr,
    DROPS: tl.constexpr, ALIGNED: tl.constexpr, PRECISION: tl.constexpr,
    E: tl.constexpr, V: tl.constexpr, WIDE_E: tl.constexpr, WIDE_V: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The weighted values (out), and the logarithms of the sums of exponentials, of a block of queries of one head."""
    blocks = (queries + ROWS - 1) // ROWS
    block = blocks - 1 - tl.program_id(0) % blocks if CAUSAL else tl.program_id(0) % blocks
    head = (tl.program_id(0) // blocks).to(tl.int64)
    b = head // heads
    h = head % heads
    first_q, first_k, low, high = 0, 0, 0, 0
    if TABLE:
        clear(out_ptr, 0.0, table_ptr, b, block, blocks, heads, h, 0, ROWS, V, WIDE_V)
        clear(sums_ptr, float("-inf"), table_ptr, b, block, blocks, heads, h, 0, ROWS, 1, 1)
        first_q, queries, first_k, keys = sequence(table_ptr, b)
        low = keys - queries - left  # query t sees keys t + low to t + high
        high = keys - queries + right
        if block * ROWS >= queries:
            return
    q_ptr, k_ptr, v_ptr, q_t, k_s, v_s = of_head(
        q_ptr, k_ptr, v_ptr, b, h, group, first_q, first_k, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, ALIGNED
    )
    if MASK != 0:
        m_t = m_t.to(tl.int64)
        m_s = m_s.to(tl.int64)
        mask_ptr += b * m_b + h * m_h
    i = tl.arange(0, ROWS)
    t = block * ROWS + i
    row = b * o_b + h * o_h + (first_q + t).to(tl.int64) * o_t
    drawn = head * queries + t
    e = tl.arange(0, WIDE_E)
    c = tl.arange(0, WIDE_V)
    rows = t < queries
    q_ptr += block * ROWS * q_t.to(tl.int64)
    q = tl.load(q_ptr + i[:, None] * q_t + e[None, :], rows[:, None] & (e < E)[None, :], other=0.0)
    # The first product's sign goes into the queries: what is left of the scale keeps the order of the scores.
    q = tl.where(scale < 0, -q, q)
    factor = tl.abs(scale) * LOG2E
    top = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    values = tl.zeros([ROWS, WIDE_V], tl.float32)
    begin = tl.maximum(0, block * ROWS + low) // COLUMNS * COLUMNS if BEHIND else 0
    end = tl.minimum(keys, (block + 1) * ROWS + high) if CAUSAL else keys
    if MASK == 0 and not BEHIND:
        whole = tl.minimum(keys, block * ROWS + high + 1) if CAUSAL else keys
        whole = tl.maximum(whole, 0) // COLUMNS * COLUMNS
        values, top, total = over_keys(
            values, top, total, q, k_ptr, v_ptr, mask_ptr, words_ptr, t, drawn, begin, whole, keys, low, high, factor,
            k_s, v_s, m_t, m_s, queries, threshold, 1, CAUSAL, BEHIND, MASK, DROPS, PRECISION, E, V, WIDE_E, WIDE_V, COLUMNS,
        )  # fmt: skip
        begin = whole
    values, top, total = over_keys(
        values, top, total, q, k_ptr, v_ptr, mask_ptr, words_ptr, t, drawn, begin, end, keys, low, high, factor,
        k_s, v_s, m_t, m_s, queries, threshold, 0, CAUSAL, BEHIND, MASK, DROPS, PRECISION, E, V, WIDE_E, WIDE_V, COLUMNS,
    )  # fmt: skip
    level = tl.where(top == float("-inf"), 0.0, top)
    values = values / tl.where(total == 0.0, 1.0, total)[:, None]
    if DROPS:
        values = values * keep
    out = out_ptr + row[:, None] * V + c[None, :]
    tl.store(out, values.to(out_ptr.dtype.element_ty), rows[:, None] & (c < V)[None, :])
    tl.store(sums_ptr + row, (level + tl.log2(total)) / LOG2E, rows)
