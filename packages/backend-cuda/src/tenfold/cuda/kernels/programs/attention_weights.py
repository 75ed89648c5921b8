"""What attention has weighed values with, from the logarithms of the sums that it keeps: scores are made again, block by block.

Sources: those of attentions.py, whose words these are.
"""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl

from tenfold.cuda.kernels.programs.attentions import LOG2E, of_head, seen_of, stays


def attention_weights(
    out_ptr, sums_ptr, q_ptr, k_ptr, v_ptr, mask_ptr, words_ptr, table_ptr,
    queries, keys, heads, group, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, m_b, m_h, m_t, m_s, scale, threshold, keep,
    left, right, o_b, o_h, o_t, AVERAGE: tl.constexpr, TABLE: tl.constexpr, CAUSAL: tl.constexpr, BEHIND: tl.constexpr,
    MASK: tl.constexpr, DROPS: tl.constexpr, ALIGNED: tl.constexpr, PRECISION: tl.constexpr,
    E: tl.constexpr, V: tl.constexpr, WIDE_E: tl.constexpr, WIDE_V: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """What `attend` has weighed values with: a block of queries and keys of one head, or the mean of all heads."""
    across = (keys + COLUMNS - 1) // COLUMNS
    blocks = (queries + ROWS - 1) // ROWS * across
    block = tl.program_id(0) % blocks
    lot = (tl.program_id(0) // blocks).to(tl.int64)
    b = lot if AVERAGE else lot // heads
    begin = 0 if AVERAGE else (lot % heads).to(tl.int32)
    end = heads if AVERAGE else begin + 1
    first = block % across * COLUMNS
    t = block // across * ROWS + tl.arange(0, ROWS)
    s = first + tl.arange(0, COLUMNS)
    e = tl.arange(0, WIDE_E)
    weights = tl.zeros([ROWS, COLUMNS], tl.float32)
    for head in range(begin, end):
        h = tl.cast(head, tl.int64)
        q_at, k_at, _, far_q, far_k, _ = of_head(
            q_ptr, k_ptr, v_ptr, b, h, group, 0, 0, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, ALIGNED
        )
        q_at += t[:, None] * far_q.to(tl.int64) + e[None, :]
        k_at += s[None, :] * far_k.to(tl.int64) + e[:, None]
        q = tl.load(q_at, (t < queries)[:, None] & (e < E)[None, :], other=0.0)
        k = tl.load(k_at, (s < keys)[None, :] & (e < E)[:, None], other=0.0)
        scores = tl.dot(q, k, input_precision=PRECISION) * (scale * LOG2E)
        of_mask = mask_ptr
        if MASK != 0:
            of_mask = mask_ptr + b * m_b + h * m_h
        scores, seen = seen_of(scores, t[:, None], s[None, :], queries, keys, 0, 0, of_mask, m_t, m_s, CAUSAL, BEHIND, MASK)
        row = b * o_b + h * o_h + t.to(tl.int64) * o_t
        level = tl.load(sums_ptr + row, t < queries, other=0.0)[:, None]
        p = tl.where(seen, tl.exp2(scores - level * LOG2E), 0.0)
        if DROPS:
            p = tl.where(stays(words_ptr, threshold, (b * heads + h) * queries + t, first, keys, COLUMNS), p * keep, 0.0)
        weights += tl.where(level == float("-inf"), float("nan"), p)  # of a query that sees nothing
    if AVERAGE:
        weights = weights / heads
    place = (lot * queries + t)[:, None] * keys + s[None, :]
    tl.store(out_ptr + place, weights.to(out_ptr.dtype.element_ty), (t < queries)[:, None] & (s < keys)[None, :])
