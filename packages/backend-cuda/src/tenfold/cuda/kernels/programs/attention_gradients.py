"""The gradients of attention (attentions.py) in two passes, or in one.

Of two passes one has blocks of queries, 3 products, another blocks of keys, 4: nothing is added to twice, and the bits are the
same each time. One pass has blocks of keys and all 5 products: what each makes of the queries is added to float32 by atomic
additions, 16 bytes at a time from capability 9.0 on, and rounded in the end.

Scores come from the kept logarithms of the sums, as powers of 2. Which pairs count is asked where a block may have some that do
not: on the diagonal and at the end, not in the loop over whole blocks. The scale is left to the end.

Source: Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.attentions import LOG2E, clear, few, of_head, seen_of, sequence, stays


def attention_slopes(
    level_ptr, less_ptr, zero_ptr, sums_ptr, g_ptr, out_ptr, count,
    ADDS: tl.constexpr, E: tl.constexpr, V: tl.constexpr, WIDE_E: tl.constexpr, WIDE_V: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """What the passes take of each query: its level, a power of 2, and `less`, minus the sum over features of g times out.

    The level of a query that sees nothing is infinite, and so its weights are 0. ADDS: the memory in which the gradient of
    queries is added up is filled with zeros.
    """
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, WIDE_V)
    mask = (r < count)[:, None] & (c < V)[None, :]
    place = r[:, None] * V + c[None, :]
    g = tl.load(g_ptr + place, mask, other=0.0).to(tl.float32)
    out = tl.load(out_ptr + place, mask, other=0.0).to(tl.float32)
    level = tl.load(sums_ptr + r, r < count, other=0.0)
    tl.store(level_ptr + r, tl.where(level == float("-inf"), float("inf"), level) * LOG2E, r < count)
    tl.store(less_ptr + r, -tl.sum(g * out, 1), r < count)
    if ADDS:
        e = tl.arange(0, WIDE_E)
        zero = tl.zeros([ROWS, WIDE_E], tl.float32)
        tl.store(zero_ptr + r[:, None] * E + e[None, :], zero, (r < count)[:, None] & (e < E)[None, :])


def attention_rounded(out_ptr, sums_ptr, count, scale, BLOCK: tl.constexpr):
    """The gradient of queries in their type: what was added up of it, times the scale."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(sums_ptr + i, i < count, other=0.0)
    tl.store(out_ptr + i, (total * scale).to(out_ptr.dtype.element_ty), i < count)


@triton.jit
def change_of_queries(
    total, q, g, level, less, k_ptr, v_ptr, mask_ptr, words_ptr, t, drawn, begin, end, keys, low, high, scale,
    k_s, v_s, m_t, m_s, queries, threshold, keep, WHOLE: tl.constexpr, CAUSAL: tl.constexpr, BEHIND: tl.constexpr,
    MASK: tl.constexpr, DROPS: tl.constexpr, PRECISION: tl.constexpr, E: tl.constexpr, V: tl.constexpr, WIDE_E: tl.constexpr,
    WIDE_V: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The gradient of queries, but for the scale, after the keys from `begin` on. WHOLE: every query sees all of these."""
    j = tl.arange(0, COLUMNS)
    e = tl.arange(0, WIDE_E)
    c = tl.arange(0, WIDE_V)
    far_k = k_s.to(tl.int64)  # from block to block; inside of one 32 bits are enough
    far_v = v_s.to(tl.int64)
    for first in range(begin, end, COLUMNS):
        s = first + j
        there = s < keys
        k = few(k_ptr + first * far_k + j[:, None] * k_s + e[None, :], there[:, None], (e < E)[None, :], E, WIDE_E, WHOLE)
        v = few(v_ptr + first * far_v + j[None, :] * v_s + c[:, None], there[None, :], (c < V)[:, None], V, WIDE_V, WHOLE)
        scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * (scale * LOG2E)
        if not WHOLE:
            scores, seen = seen_of(
                scores, t[:, None], s[None, :], queries, keys, low, high, mask_ptr, m_t, m_s, CAUSAL, BEHIND, MASK
            )
        p = tl.exp2(scores - level[:, None])
        if not WHOLE:
            p = tl.where(seen, p, 0.0)
        change = tl.dot(g, v, input_precision=PRECISION)
        if DROPS:
            change = tl.where(stays(words_ptr, threshold, drawn, first, keys, COLUMNS), change * keep, 0.0)
        change = p * (change + less[:, None])
        total = tl.dot(change.to(k.dtype), k, total, input_precision=PRECISION)
    return total


def attention_to_queries(
    out_ptr, g_ptr, q_ptr, k_ptr, v_ptr, mask_ptr, words_ptr, table_ptr, level_ptr, less_ptr,
    queries, keys, heads, group, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, m_b, m_h, m_t, m_s, scale, threshold, keep,
    left, right, o_b, o_h, o_t, TABLE: tl.constexpr, CAUSAL: tl.constexpr, BEHIND: tl.constexpr, MASK: tl.constexpr,
    DROPS: tl.constexpr, ALIGNED: tl.constexpr, PRECISION: tl.constexpr,
    E: tl.constexpr, V: tl.constexpr, WIDE_E: tl.constexpr, WIDE_V: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The gradient of a block of queries: over all keys that it sees."""
    blocks = (queries + ROWS - 1) // ROWS
    block = blocks - 1 - tl.program_id(0) % blocks if CAUSAL else tl.program_id(0) % blocks
    head = (tl.program_id(0) // blocks).to(tl.int64)
    b = head // heads
    h = head % heads
    first_q, first_k, low, high = 0, 0, 0, 0
    if TABLE:
        clear(out_ptr, 0.0, table_ptr, b, block, blocks, heads, h, 0, ROWS, E, WIDE_E)
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
    g = tl.load(g_ptr + row[:, None] * V + c[None, :], rows[:, None] & (c < V)[None, :], other=0.0)
    level = tl.load(level_ptr + row, rows, other=float("inf"))
    less = tl.load(less_ptr + row, rows, other=0.0)
    total = tl.zeros([ROWS, WIDE_E], tl.float32)
    begin = tl.maximum(0, block * ROWS + low) // COLUMNS * COLUMNS if BEHIND else 0
    end = tl.minimum(keys, (block + 1) * ROWS + high) if CAUSAL else keys
    if MASK == 0 and not BEHIND:
        whole = tl.minimum(keys, block * ROWS + high + 1) if CAUSAL else keys
        whole = tl.maximum(whole, 0) // COLUMNS * COLUMNS
        total = change_of_queries(
            total, q, g, level, less, k_ptr, v_ptr, mask_ptr, words_ptr, t, drawn, begin, whole, keys, low, high, scale,
            k_s, v_s, m_t, m_s, queries, threshold, keep, 1, CAUSAL, BEHIND, MASK, DROPS, PRECISION, E, V, WIDE_E,
            WIDE_V, COLUMNS,
        )  # fmt: skip
        begin = whole
    total = change_of_queries(
        total, q, g, level, less, k_ptr, v_ptr, mask_ptr, words_ptr, t, drawn, begin, end, keys, low, high, scale,
        k_s, v_s, m_t, m_s, queries, threshold, keep, 0, CAUSAL, BEHIND, MASK, DROPS, PRECISION, E, V, WIDE_E, WIDE_V, COLUMNS,
    )  # fmt: skip
    out = out_ptr + row[:, None] * E + e[None, :]
    tl.store(out, (total * scale).to(out_ptr.dtype.element_ty), rows[:, None] & (e < E)[None, :])


@triton.jit
def change_of_keys(
    to_k, to_v, k, v, add_ptr, q_ptr, g_ptr, mask_ptr, words_ptr, level_ptr, less_ptr, s, block, begin, end, queries, keys,
    head, o_t, low, high, scale, q_t, m_t, m_s, threshold, keep, ADDS: tl.constexpr, WHOLE: tl.constexpr,
    CAUSAL: tl.constexpr, BEHIND: tl.constexpr, MASK: tl.constexpr, DROPS: tl.constexpr,
    PRECISION: tl.constexpr, E: tl.constexpr, V: tl.constexpr, WIDE_E: tl.constexpr, WIDE_V: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """The gradients of keys, but for the scale, and of values after the queries from `begin` on; WHOLE: they see all keys.

    What a query or a key that there is not makes of the others is nothing: its level is infinite, its row is not stored.
    """
    i = tl.arange(0, ROWS)
    e = tl.arange(0, WIDE_E)
    c = tl.arange(0, WIDE_V)
    far_q = q_t.to(tl.int64)  # from block to block; inside of one 32 bits are enough
    for first in range(begin, end, ROWS):
        t = first + i
        row = t.to(tl.int64) * o_t
        rows = t < queries
        q = few(q_ptr + first * far_q + i[:, None] * q_t + e[None, :], rows[:, None], (e < E)[None, :], E, WIDE_E, 0)
        g = few(g_ptr + row[:, None] * V + c[None, :], rows[:, None], (c < V)[None, :], V, WIDE_V, 0)
        level = tl.load(level_ptr + row, rows, other=float("inf"))
        less = tl.load(less_ptr + row, rows, other=0.0)
        scores = tl.dot(k, tl.trans(q), input_precision=PRECISION) * (scale * LOG2E)  # (keys, queries)
        if not WHOLE:
            scores, seen = seen_of(
                scores, t[None, :], s[:, None], queries, keys, low, high, mask_ptr, m_t, m_s, CAUSAL, BEHIND, MASK
            )
        p = tl.exp2(scores - level[None, :])
        if not WHOLE:
            p = tl.where(seen, p, 0.0)
        used = p
        if DROPS:
            there = stays(words_ptr, threshold, head * queries + t, block * COLUMNS, keys, COLUMNS)
            factor = tl.trans(tl.where(there, keep, 0.0))
            used = p * factor
            change = tl.dot(v, tl.trans(g), input_precision=PRECISION) * factor + less[None, :]
        else:  # what is added begins the sum: then it holds no registers of its own
            change = tl.dot(v, tl.trans(g), tl.broadcast_to(less[None, :], (COLUMNS, ROWS)), input_precision=PRECISION)
        to_v = tl.dot(used.to(g.dtype), g, to_v, input_precision=PRECISION)
        change = (p * change).to(q.dtype)
        to_k = tl.dot(change, q, to_k, input_precision=PRECISION)
        if ADDS:
            more = tl.dot(tl.trans(change), k, input_precision=PRECISION)
            if ADDS == 2:
                more = more * scale
            tl.atomic_add(add_ptr + row[:, None] * E + e[None, :], more, rows[:, None] & (e < E)[None, :], sem="relaxed")
    return to_k, to_v


def attention_to_keys(
    k_out_ptr, v_out_ptr, add_ptr, g_ptr, q_ptr, k_ptr, v_ptr, mask_ptr, words_ptr, table_ptr, level_ptr, less_ptr,
    queries, keys, heads, group, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, m_b, m_h, m_t, m_s, scale, threshold, keep,
    left, right, o_b, o_h, o_t, n_b, n_h, n_s, ADDS: tl.constexpr, TABLE: tl.constexpr, CAUSAL: tl.constexpr,
    BEHIND: tl.constexpr, MASK: tl.constexpr, DROPS: tl.constexpr, ALIGNED: tl.constexpr, PRECISION: tl.constexpr,
    E: tl.constexpr, V: tl.constexpr, WIDE_E: tl.constexpr, WIDE_V: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The gradients of a block of keys and of their values: over all queries that see it. ROWS are those of queries.

    ADDS: the gradient of queries is added to as well; 1: of float32, but for the scale; 2: the result itself.
    """
    blocks = (keys + COLUMNS - 1) // COLUMNS
    block = tl.program_id(0) % blocks
    head = (tl.program_id(0) // blocks).to(tl.int64)
    b = head // heads
    h = head % heads
    first_q, first_k, low, high = 0, 0, 0, 0
    if TABLE:
        clear(k_out_ptr, 0.0, table_ptr, b, block, blocks, heads, h, 1, COLUMNS, E, WIDE_E)
        clear(v_out_ptr, 0.0, table_ptr, b, block, blocks, heads, h, 1, COLUMNS, V, WIDE_V)
        first_q, queries, first_k, keys = sequence(table_ptr, b)
        low = keys - queries - left  # query t sees keys t + low to t + high
        high = keys - queries + right
        if block * COLUMNS >= keys:
            return
    q_ptr, k_ptr, v_ptr, q_t, k_s, v_s = of_head(
        q_ptr, k_ptr, v_ptr, b, h, group, first_q, first_k, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, ALIGNED
    )
    if MASK != 0:
        m_t = m_t.to(tl.int64)
        m_s = m_s.to(tl.int64)
        mask_ptr += b * m_b + h * m_h
    j = tl.arange(0, COLUMNS)
    s = block * COLUMNS + j
    e = tl.arange(0, WIDE_E)
    c = tl.arange(0, WIDE_V)
    columns = s < keys
    origin = b * o_b + h * o_h + first_q * o_t.to(tl.int64)
    g_ptr += origin * V
    level_ptr += origin
    less_ptr += origin
    if ADDS:
        add_ptr += origin * E
    k_ptr += block * COLUMNS * k_s.to(tl.int64)
    v_ptr += block * COLUMNS * v_s.to(tl.int64)
    k = tl.load(k_ptr + j[:, None] * k_s + e[None, :], columns[:, None] & (e < E)[None, :], other=0.0)
    v = tl.load(v_ptr + j[:, None] * v_s + c[None, :], columns[:, None] & (c < V)[None, :], other=0.0)
    to_k = tl.zeros([COLUMNS, WIDE_E], tl.float32)
    to_v = tl.zeros([COLUMNS, WIDE_V], tl.float32)
    begin = tl.maximum(0, block * COLUMNS - high) // ROWS * ROWS if CAUSAL else 0
    end = tl.minimum(queries, (block + 1) * COLUMNS - low) if BEHIND else queries
    whole = end  # from which queries on all see the whole block
    if MASK == 0 and not BEHIND:
        whole = tl.maximum(0, (block + 1) * COLUMNS - 1 - high + ROWS - 1) // ROWS * ROWS if CAUSAL else 0
        if ADDS:  # weights of keys that there are not may be infinite: added to queries, times 0 they were not nothing
            whole = tl.where((block + 1) * COLUMNS > keys, end, whole)
    if ADDS or MASK != 0 or CAUSAL or BEHIND:
        to_k, to_v = change_of_keys(
            to_k, to_v, k, v, add_ptr, q_ptr, g_ptr, mask_ptr, words_ptr, level_ptr, less_ptr, s, block, begin,
            tl.minimum(whole, end), queries, keys, head, o_t, low, high, scale, q_t, m_t, m_s, threshold, keep,
            ADDS, 0, CAUSAL, BEHIND, MASK, DROPS, PRECISION, E, V, WIDE_E, WIDE_V, ROWS, COLUMNS,
        )  # fmt: skip
    if MASK == 0 and not BEHIND:
        to_k, to_v = change_of_keys(
            to_k, to_v, k, v, add_ptr, q_ptr, g_ptr, mask_ptr, words_ptr, level_ptr, less_ptr, s, block, whole, end, queries,
            keys, head, o_t, low, high, scale, q_t, m_t, m_s, threshold, keep, ADDS, 1, CAUSAL, BEHIND,
            MASK, DROPS, PRECISION, E, V, WIDE_E, WIDE_V, ROWS, COLUMNS,
        )  # fmt: skip
    place = (b * n_b + h * n_h + (first_k + s).to(tl.int64) * n_s)[:, None]
    tl.store(
        k_out_ptr + place * E + e[None, :], (to_k * scale).to(k_out_ptr.dtype.element_ty), columns[:, None] & (e < E)[None, :]
    )
    tl.store(v_out_ptr + place * V + c[None, :], to_v.to(v_out_ptr.dtype.element_ty), columns[:, None] & (c < V)[None, :])
