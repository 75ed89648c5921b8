"""Attention without the matrix of scores: blocks of it are made, used and forgotten, also for the gradients.

Programs of a head follow each other in the grid's first dimension, for the others end at 65,535. A forward program has a block
of queries and goes over the keys with a running maximum and sum. The gradients' scores come from the kept logarithms of the sums:
one pass has blocks of queries, another blocks of keys, so that nothing is added to twice.
`group` heads of queries in a row have one head of keys and values.
MASK 0: none; 1: of truth values, which keep; 2: of numbers, which are added. Causal: query t sees keys up to t.
DROPS: a weight stays, times `keep`, where its 24 bits are `threshold` at least. Bits are those of Philox for the seed and the
first counter at words_ptr: four weights in a row have a counter, so that all passes find the same ones.

Sources: Dao et al., "FlashAttention", 2022; Dao, "FlashAttention-2", 2023; Milakov and Gimelshein, "Online normalizer
calculation for softmax", 2018; Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.hints import sixteens


@triton.jit
def stays(words_ptr, threshold, row, first, keys, COLUMNS: tl.constexpr):
    """Which weights of these rows, from the key `first` on, are kept: (rows, COLUMNS)."""
    quads = (keys + 3) // 4
    place = row[:, None] * quads + (first // 4 + tl.arange(0, COLUMNS // 4))[None, :]
    a, b, c, d = tl.randint4x(tl.load(words_ptr), (tl.load(words_ptr + 1) + place).to(tl.uint64))
    words = tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), (row.shape[0], COLUMNS))
    return (words.to(tl.uint32, bitcast=True) >> 8).to(tl.int32) >= threshold


def attend(
    out_ptr, sums_ptr, q_ptr, k_ptr, v_ptr, mask_ptr, words_ptr,
    queries, keys, heads, group, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, m_b, m_h, m_t, m_s, scale, threshold, keep,
    CAUSAL: tl.constexpr, MASK: tl.constexpr, DROPS: tl.constexpr, ALIGNED: tl.constexpr, PRECISION: tl.constexpr,
    E: tl.constexpr, V: tl.constexpr, WIDE_E: tl.constexpr, WIDE_V: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The weighted values (out), and the logarithms of the sums of exponentials, of a block of queries of one head."""
    blocks = (queries + ROWS - 1) // ROWS
    block = tl.program_id(0) % blocks
    head = (tl.program_id(0) // blocks).to(tl.int64)
    b = head // heads
    h = head % heads
    if ALIGNED:
        q_b, q_h, q_t = sixteens(q_b), sixteens(q_h), sixteens(q_t)
        k_b, k_h, k_s = sixteens(k_b), sixteens(k_h), sixteens(k_s)
        v_b, v_h, v_s = sixteens(v_b), sixteens(v_h), sixteens(v_s)
    far_q = q_t.to(tl.int64)  # from block to block; inside of one 32 bits are enough
    far_k = k_s.to(tl.int64)
    far_v = v_s.to(tl.int64)
    m_t = m_t.to(tl.int64)
    m_s = m_s.to(tl.int64)
    i = tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    t = block * ROWS + i
    e = tl.arange(0, WIDE_E)
    c = tl.arange(0, WIDE_V)
    rows = t < queries
    q_ptr += b * q_b + h * q_h + block * ROWS * far_q
    q = tl.load(q_ptr + i[:, None] * q_t + e[None, :], rows[:, None] & (e < E)[None, :], other=0.0)
    k_ptr += b * k_b + h // group * k_h
    v_ptr += b * v_b + h // group * v_h
    mask_ptr += b * m_b + h * m_h
    top = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    values = tl.zeros([ROWS, WIDE_V], tl.float32)
    end = tl.minimum(keys, (block + 1) * ROWS) if CAUSAL else keys
    for first in range(0, end, COLUMNS):
        s = first + j
        k = tl.load(k_ptr + first * far_k + j[None, :] * k_s + e[:, None], (s < keys)[None, :] & (e < E)[:, None], other=0.0)
        scores = tl.dot(q, k, input_precision=PRECISION) * scale
        seen = (s < keys)[None, :] & rows[:, None]
        if CAUSAL:
            seen = seen & (s[None, :] <= t[:, None])
        if MASK != 0:
            given = tl.load(mask_ptr + t[:, None] * m_t + s[None, :] * m_s, seen, other=0)
            if MASK == 1:
                seen = seen & (given != 0)
            else:
                scores += given.to(tl.float32)
        scores = tl.where(seen, scores, float("-inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        level = tl.where(higher == float("-inf"), 0.0, higher)  # of a query that has seen no key yet
        p = tl.exp(scores - level[:, None])
        less = tl.exp(top - level)
        total = total * less + tl.sum(p, 1)
        if DROPS:
            p = tl.where(stays(words_ptr, threshold, head * queries + t, first, keys, COLUMNS), p, 0.0)
        v = tl.load(v_ptr + first * far_v + j[:, None] * v_s + c[None, :], (s < keys)[:, None] & (c < V)[None, :], other=0.0)
        values = tl.dot(p.to(v.dtype), v, values * less[:, None], input_precision=PRECISION)
        top = higher
    level = tl.where(top == float("-inf"), 0.0, top)
    values = values / tl.where(total == 0.0, 1.0, total)[:, None]
    if DROPS:
        values = values * keep
    out = out_ptr + (head * queries + t)[:, None] * V + c[None, :]
    tl.store(out, values.to(out_ptr.dtype.element_ty), rows[:, None] & (c < V)[None, :])
    tl.store(sums_ptr + head * queries + t, level + tl.log(total), rows)


def attention_slopes(slope_ptr, g_ptr, out_ptr, count, V: tl.constexpr, WIDE_V: tl.constexpr, ROWS: tl.constexpr):
    """The sum over the last dimension of g times out."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, WIDE_V)
    mask = (r < count)[:, None] & (c < V)[None, :]
    place = r[:, None] * V + c[None, :]
    g = tl.load(g_ptr + place, mask, other=0.0).to(tl.float32)
    out = tl.load(out_ptr + place, mask, other=0.0).to(tl.float32)
    tl.store(slope_ptr + r, tl.sum(g * out, 1), r < count)


def attention_to_queries(
    out_ptr, g_ptr, q_ptr, k_ptr, v_ptr, mask_ptr, words_ptr, sums_ptr, slope_ptr,
    queries, keys, heads, group, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, m_b, m_h, m_t, m_s, scale, threshold, keep,
    CAUSAL: tl.constexpr, MASK: tl.constexpr, DROPS: tl.constexpr, ALIGNED: tl.constexpr, PRECISION: tl.constexpr,
    E: tl.constexpr, V: tl.constexpr, WIDE_E: tl.constexpr, WIDE_V: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The gradient of a block of queries: over all keys that it sees."""
    blocks = (queries + ROWS - 1) // ROWS
    block = tl.program_id(0) % blocks
    head = (tl.program_id(0) // blocks).to(tl.int64)
    b = head // heads
    h = head % heads
    if ALIGNED:
        q_b, q_h, q_t = sixteens(q_b), sixteens(q_h), sixteens(q_t)
        k_b, k_h, k_s = sixteens(k_b), sixteens(k_h), sixteens(k_s)
        v_b, v_h, v_s = sixteens(v_b), sixteens(v_h), sixteens(v_s)
    far_q = q_t.to(tl.int64)  # from block to block; inside of one 32 bits are enough
    far_k = k_s.to(tl.int64)
    far_v = v_s.to(tl.int64)
    m_t = m_t.to(tl.int64)
    m_s = m_s.to(tl.int64)
    i = tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    t = block * ROWS + i
    e = tl.arange(0, WIDE_E)
    c = tl.arange(0, WIDE_V)
    rows = t < queries
    q_ptr += b * q_b + h * q_h + block * ROWS * far_q
    q = tl.load(q_ptr + i[:, None] * q_t + e[None, :], rows[:, None] & (e < E)[None, :], other=0.0)
    g = tl.load(g_ptr + (head * queries + t)[:, None] * V + c[None, :], rows[:, None] & (c < V)[None, :], other=0.0)
    level = tl.load(sums_ptr + head * queries + t, rows, other=float("inf"))
    level = tl.where(level == float("-inf"), float("inf"), level)
    slope = tl.load(slope_ptr + head * queries + t, rows, other=0.0)
    k_ptr += b * k_b + h // group * k_h
    v_ptr += b * v_b + h // group * v_h
    mask_ptr += b * m_b + h * m_h
    total = tl.zeros([ROWS, WIDE_E], tl.float32)
    end = tl.minimum(keys, (block + 1) * ROWS) if CAUSAL else keys
    for first in range(0, end, COLUMNS):
        s = first + j
        k = tl.load(k_ptr + first * far_k + j[:, None] * k_s + e[None, :], (s < keys)[:, None] & (e < E)[None, :], other=0.0)
        v = tl.load(v_ptr + first * far_v + j[None, :] * v_s + c[:, None], (s < keys)[None, :] & (c < V)[:, None], other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * scale
        seen = (s < keys)[None, :] & rows[:, None]
        if CAUSAL:
            seen = seen & (s[None, :] <= t[:, None])
        if MASK != 0:
            given = tl.load(mask_ptr + t[:, None] * m_t + s[None, :] * m_s, seen, other=0)
            if MASK == 1:
                seen = seen & (given != 0)
            else:
                scores += given.to(tl.float32)
        p = tl.exp(tl.where(seen, scores, float("-inf")) - level[:, None])
        change = tl.dot(g, v, input_precision=PRECISION)
        if DROPS:
            change = tl.where(stays(words_ptr, threshold, head * queries + t, first, keys, COLUMNS), change * keep, 0.0)
        change = p * (change - slope[:, None]) * scale
        total = tl.dot(change.to(k.dtype), k, total, input_precision=PRECISION)
    out = out_ptr + (head * queries + t)[:, None] * E + e[None, :]
    tl.store(out, total.to(out_ptr.dtype.element_ty), rows[:, None] & (e < E)[None, :])


def attention_to_keys(
    k_out_ptr, v_out_ptr, g_ptr, q_ptr, k_ptr, v_ptr, mask_ptr, words_ptr, sums_ptr, slope_ptr,
    queries, keys, heads, group, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, m_b, m_h, m_t, m_s, scale, threshold, keep,
    CAUSAL: tl.constexpr, MASK: tl.constexpr, DROPS: tl.constexpr, ALIGNED: tl.constexpr, PRECISION: tl.constexpr,
    E: tl.constexpr, V: tl.constexpr, WIDE_E: tl.constexpr, WIDE_V: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The gradients of a block of keys and of their values: over all queries that see it. ROWS are those of queries."""
    blocks = (keys + COLUMNS - 1) // COLUMNS
    block = tl.program_id(0) % blocks
    head = (tl.program_id(0) // blocks).to(tl.int64)
    b = head // heads
    h = head % heads
    if ALIGNED:
        q_b, q_h, q_t = sixteens(q_b), sixteens(q_h), sixteens(q_t)
        k_b, k_h, k_s = sixteens(k_b), sixteens(k_h), sixteens(k_s)
        v_b, v_h, v_s = sixteens(v_b), sixteens(v_h), sixteens(v_s)
    far_q = q_t.to(tl.int64)  # from block to block; inside of one 32 bits are enough
    far_k = k_s.to(tl.int64)
    far_v = v_s.to(tl.int64)
    m_t = m_t.to(tl.int64)
    m_s = m_s.to(tl.int64)
    i = tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    s = block * COLUMNS + j
    e = tl.arange(0, WIDE_E)
    c = tl.arange(0, WIDE_V)
    columns = s < keys
    k_ptr += b * k_b + h // group * k_h + block * COLUMNS * far_k
    v_ptr += b * v_b + h // group * v_h + block * COLUMNS * far_v
    k = tl.load(k_ptr + j[:, None] * k_s + e[None, :], columns[:, None] & (e < E)[None, :], other=0.0)
    v = tl.load(v_ptr + j[:, None] * v_s + c[None, :], columns[:, None] & (c < V)[None, :], other=0.0)
    q_ptr += b * q_b + h * q_h
    mask_ptr += b * m_b + h * m_h
    to_k = tl.zeros([COLUMNS, WIDE_E], tl.float32)
    to_v = tl.zeros([COLUMNS, WIDE_V], tl.float32)
    begin = block * COLUMNS // ROWS * ROWS if CAUSAL else 0
    for first in range(begin, queries, ROWS):
        t = first + i
        rows = t < queries
        q = tl.load(q_ptr + first * far_q + i[:, None] * q_t + e[None, :], rows[:, None] & (e < E)[None, :], other=0.0)
        g = tl.load(g_ptr + (head * queries + t)[:, None] * V + c[None, :], rows[:, None] & (c < V)[None, :], other=0.0)
        level = tl.load(sums_ptr + head * queries + t, rows, other=float("inf"))
        level = tl.where(level == float("-inf"), float("inf"), level)
        slope = tl.load(slope_ptr + head * queries + t, rows, other=0.0)
        scores = tl.dot(k, tl.trans(q), input_precision=PRECISION) * scale  # (keys, queries)
        seen = columns[:, None] & rows[None, :]
        if CAUSAL:
            seen = seen & (s[:, None] <= t[None, :])
        if MASK != 0:
            given = tl.load(mask_ptr + t[None, :] * m_t + s[:, None] * m_s, seen, other=0)
            if MASK == 1:
                seen = seen & (given != 0)
            else:
                scores += given.to(tl.float32)
        p = tl.exp(tl.where(seen, scores, float("-inf")) - level[None, :])
        change = tl.dot(v, tl.trans(g), input_precision=PRECISION)
        used = p
        if DROPS:
            there = stays(words_ptr, threshold, head * queries + t, block * COLUMNS, keys, COLUMNS)
            factor = tl.trans(tl.where(there, keep, 0.0))
            used = p * factor
            change = change * factor
        to_v = tl.dot(used.to(g.dtype), g, to_v, input_precision=PRECISION)
        change = p * (change - slope[None, :]) * scale
        to_k = tl.dot(change.to(q.dtype), q, to_k, input_precision=PRECISION)
    place = (head * keys + s)[:, None]
    tl.store(k_out_ptr + place * E + e[None, :], to_k.to(k_out_ptr.dtype.element_ty), columns[:, None] & (e < E)[None, :])
    tl.store(v_out_ptr + place * V + c[None, :], to_v.to(v_out_ptr.dtype.element_ty), columns[:, None] & (c < V)[None, :])
