"""Softmax along a dimension that is not the last one, without a transposed copy.

An array is (outer, width, inner). A program has COLUMNS of the inner elements, which lie beside each other in memory, and goes
down the width in tiles of ROWS, twice: what the first way has read is in the cache where a program's columns fit it.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.
"""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl


def softmax_columns(
    out_ptr, x_ptr, width, inner, blocks, LOG: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    c = (tl.program_id(0) % blocks) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    first = (tl.program_id(0) // blocks).to(tl.int64) * width * inner + c
    tops = tl.full([ROWS, COLUMNS], float("-inf"), wide)
    totals = tl.zeros([ROWS, COLUMNS], wide)
    for start in range(0, width, ROWS):
        r = start + tl.arange(0, ROWS)[:, None]
        mask = (r < width) & (c < inner)
        x = tl.load(x_ptr + first + r.to(tl.int64) * inner, mask, other=float("-inf")).to(wide)
        higher = tl.maximum(tops, x)
        level = tl.where(higher == float("-inf"), 0.0, higher)
        totals = totals * tl.exp(tops - level) + tl.exp(x - level)
        tops = higher
    top = tl.max(tops, 0)[None, :]
    total = tl.sum(totals * tl.exp(tops - top), 0)[None, :]
    for start in range(0, width, ROWS):
        r = start + tl.arange(0, ROWS)[:, None]
        mask = (r < width) & (c < inner)
        place = first + r.to(tl.int64) * inner
        x = tl.load(x_ptr + place, mask, other=float("-inf")).to(wide)
        result = x - top - tl.log(total) if LOG else tl.exp(x - top) / total
        tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), mask)


def softmax_gradient_columns(
    out_ptr, g_ptr, y_ptr, width, inner, blocks, LOG: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    c = (tl.program_id(0) % blocks) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    first = (tl.program_id(0) // blocks).to(tl.int64) * width * inner + c
    sums = tl.zeros([ROWS, COLUMNS], wide)
    for start in range(0, width, ROWS):
        r = start + tl.arange(0, ROWS)[:, None]
        mask = (r < width) & (c < inner)
        place = first + r.to(tl.int64) * inner
        g = tl.load(g_ptr + place, mask, other=0.0).to(wide)
        if LOG:
            sums += g
        else:
            sums += g * tl.load(y_ptr + place, mask, other=0.0).to(wide)
    total = tl.sum(sums, 0)[None, :]
    for start in range(0, width, ROWS):
        r = start + tl.arange(0, ROWS)[:, None]
        mask = (r < width) & (c < inner)
        place = first + r.to(tl.int64) * inner
        g = tl.load(g_ptr + place, mask, other=0.0).to(wide)
        y = tl.load(y_ptr + place, mask, other=0.0).to(wide)
        result = g - tl.exp(y) * total if LOG else (g - total) * y
        tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), mask)
