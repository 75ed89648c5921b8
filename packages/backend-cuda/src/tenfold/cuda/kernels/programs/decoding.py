"""Attention of a few queries to many keys, as a model that speaks has it: keys are dealt out, and what came of them is merged.

All heads of queries that share a head of keys are rows of one block, so that keys are read once: row r of a sequence and a head
of keys is query r // group of head r % group. Program ((sequence, head of keys, block of rows), share of the keys).
TABLE: as in attentions.py; its last line has the queries that belong to no sequence, whose result is 0.
PAGED: keys lie in pages of `page` rows, and row b of the table of pages names those of sequence b in their order.
FINAL: there is one share, and its result is the whole one.

Sources: Dao et al., "Flash-Decoding for long-context inference", 2023; Kwon et al., "PagedAttention", 2023.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl

from tenfold.cuda.kernels.programs.attentions import sequence
from tenfold.cuda.kernels.programs.hints import sixteens


def attend_share(
    out_ptr, sums_ptr, q_ptr, k_ptr, v_ptr, mask_ptr, table_ptr, pages_ptr, report_ptr,
    queries, keys, heads, group, share, rows_of_all, page, pages, pages_b, code,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, m_b, m_h, m_t, m_s, scale, left, right,
    TABLE: tl.constexpr, PAGED: tl.constexpr, FINAL: tl.constexpr, CAUSAL: tl.constexpr, BEHIND: tl.constexpr,
    MASK: tl.constexpr, ALIGNED: tl.constexpr, PRECISION: tl.constexpr,
    E: tl.constexpr, V: tl.constexpr, WIDE_E: tl.constexpr, WIDE_V: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The weighted values of a share of the keys and the logarithms of the sums of exponentials, of a block of rows."""
    blocks = (queries * group + ROWS - 1) // ROWS
    block = tl.program_id(0) % blocks
    head = (tl.program_id(0) // blocks).to(tl.int64)
    b = head // heads
    h = head % heads
    first_q, first_k, low, high = 0, 0, 0, 0
    if TABLE:
        first_q, queries, first_k, keys = sequence(table_ptr, b)
        low = keys - queries - left  # query t sees keys t + low to t + high
        high = keys - queries + right
        if block * ROWS >= queries * group:
            return
    if ALIGNED:
        q_b, q_h, q_t = sixteens(q_b), sixteens(q_h), sixteens(q_t)
        k_b, k_h, k_s = sixteens(k_b), sixteens(k_h), sixteens(k_s)
        v_b, v_h, v_s = sixteens(v_b), sixteens(v_h), sixteens(v_s)
    j = tl.arange(0, COLUMNS)
    e = tl.arange(0, WIDE_E)
    c = tl.arange(0, WIDE_V)
    r = block * ROWS + tl.arange(0, ROWS)
    t = r // group
    own = h * group + r % group  # the head of the row's query
    rows = t < queries
    row = (first_q + t).to(tl.int64) * (heads * group) + own if TABLE else (b * heads * group + own) * queries + t
    q_place = (b * q_b + own * q_h + (first_q + t).to(tl.int64) * q_t)[:, None] + e[None, :]
    q = tl.load(q_ptr + q_place, rows[:, None] & (e < E)[None, :], other=0.0)
    far_k = k_s.to(tl.int64)
    far_v = v_s.to(tl.int64)
    k_ptr += h * k_h
    v_ptr += h * v_h
    if not PAGED:
        k_ptr += b * k_b + first_k * far_k
        v_ptr += b * v_b + first_k * far_v
    if MASK != 0:
        mask_place = b * m_b + own * m_h + t.to(tl.int64) * m_t
    top = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    values = tl.zeros([ROWS, WIDE_V], tl.float32)
    begin = tl.program_id(1) * share
    end = tl.where(tl.program_id(1) + 1 == tl.num_programs(1), keys, tl.minimum(keys, begin + share))
    begin = tl.maximum(begin, tl.maximum(0, block * ROWS // group + low) // COLUMNS * COLUMNS) if BEHIND else begin
    end = tl.minimum(end, ((block + 1) * ROWS - 1) // group + 1 + high) if CAUSAL else end
    for first in range(begin, end, COLUMNS):
        s = first + j
        there = s < end
        if PAGED:
            number = tl.load(pages_ptr + b * pages_b + s // page, there, other=0)
            wrong = there & ((number < 0) | (number >= pages))
            tl.store(report_ptr + code + j * 0, wrong.to(tl.int32), wrong)
            number = tl.minimum(tl.maximum(number, 0), pages - 1).to(tl.int64)
            k_place = number * k_b + s % page * far_k
            v_place = number * v_b + s % page * far_v
        else:
            k_place = s * far_k
            v_place = s * far_v
        k = tl.load(k_ptr + k_place[None, :] + e[:, None], there[None, :] & (e < E)[:, None], other=0.0)
        scores = tl.dot(q, k, input_precision=PRECISION) * scale
        seen = there[None, :] & rows[:, None]
        if CAUSAL:
            seen = seen & (s[None, :] <= t[:, None] + high)
        if BEHIND:
            seen = seen & (s[None, :] >= t[:, None] + low)
        if MASK != 0:
            given = tl.load(mask_ptr + mask_place[:, None] + s[None, :].to(tl.int64) * m_s, seen, other=0)
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
        v = tl.load(v_ptr + v_place[:, None] + c[None, :], there[:, None] & (c < V)[None, :], other=0.0)
        values = tl.dot(p.to(v.dtype), v, values * less[:, None], input_precision=PRECISION)
        top = higher
    level = tl.where(top == float("-inf"), 0.0, top)
    values = values / tl.where(total == 0.0, 1.0, total)[:, None]
    part = 0 if FINAL else tl.program_id(1).to(tl.int64) * rows_of_all
    out = out_ptr + (part + row)[:, None] * V + c[None, :]
    tl.store(out, values.to(out_ptr.dtype.element_ty), rows[:, None] & (c < V)[None, :])
    tl.store(sums_ptr + part + row, level + tl.log(total), rows)


def merge_shares(
    out_ptr, sums_ptr, parts_ptr, part_sums_ptr, table_ptr, sequences, heads, most, shares, rows_of_all,
    TABLE: tl.constexpr, V: tl.constexpr, WIDE_V: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Means of what came of the shares of the keys, weighted by their sums; program (sequence or rest, block of `most` rows)."""
    blocks = (most + ROWS - 1) // ROWS
    b = tl.program_id(0) // blocks
    first, count = 0, rows_of_all
    if TABLE:
        first_q, queries, _, _ = sequence(table_ptr, b)
        first = first_q * heads
        count = queries * heads
    c = tl.arange(0, WIDE_V)
    whole = rows_of_all.to(tl.int64)
    for begin in range(tl.program_id(0) % blocks * ROWS, count, blocks * ROWS):
        i = begin + tl.arange(0, ROWS)
        row = (first + i).to(tl.int64)
        mask = i < count
        used = mask & (b < sequences)  # of the rest nothing was computed
        top = tl.full([ROWS], float("-inf"), tl.float32)
        place = row
        for _ in range(shares):
            top = tl.maximum(top, tl.load(part_sums_ptr + place, used, other=float("-inf")))
            place += whole
        level = tl.where(top == float("-inf"), 0.0, top)
        total = tl.zeros([ROWS], tl.float32)
        values = tl.zeros([ROWS, WIDE_V], tl.float32)
        place = row
        for _ in range(shares):
            weight = tl.exp(tl.load(part_sums_ptr + place, used, other=float("-inf")) - level)
            part = tl.load(parts_ptr + place[:, None] * V + c[None, :], used[:, None] & (c < V)[None, :], other=0.0)
            total += weight
            values += tl.where(weight[:, None] > 0.0, weight[:, None] * part, 0.0)
            place += whole
        values = values / tl.where(total == 0.0, 1.0, total)[:, None]
        out = out_ptr + row[:, None] * V + c[None, :]
        tl.store(out, values.to(out_ptr.dtype.element_ty), mask[:, None] & (c < V)[None, :])
        tl.store(sums_ptr + row, level + tl.log(total), mask)
