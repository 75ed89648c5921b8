"""Cross entropy of rows of logits with rows of probabilities, and its gradient.

A program has ROWS rows, which it goes over twice in blocks: what the first way has read is in the cache.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.rows import sum_by_the_last
from tenfold.cuda.kernels.programs.tiles import tile_count, tile_of


@triton.jit
def share_of_classes(
    target_ptr, weight_ptr, place, c, mask, width, smoothing, WEIGHT: tl.constexpr, SMOOTH: tl.constexpr, wide: tl.constexpr
):
    """What each class of a tile counts."""
    q = tl.load(target_ptr + place, mask, other=0.0).to(wide)
    if SMOOTH:
        q = q * (1.0 - smoothing) + smoothing / width
    if WEIGHT:
        q = q * tl.load(weight_ptr + c, c < width, other=0.0).to(wide)
    return q


def soft_cross_entropy(
    loss_ptr, total_ptr, saved_ptr, partial_ptr, done_ptr, x_ptr, target_ptr, weight_ptr, rows, width, smoothing,
    REDUCTION: tl.constexpr, WEIGHT: tl.constexpr, SMOOTH: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Losses; of each row the largest logit, log(sum(exp(x - it))) and the sum of shares, which lie after each other."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    r = i[:, None]
    tops = tl.full([ROWS, BLOCK], float("-inf"), wide)
    totals = tl.zeros([ROWS, BLOCK], wide)
    for start in range(0, width, BLOCK):
        c = start + tl.arange(0, BLOCK)[None, :]
        x = tl.load(x_ptr + r.to(tl.int64) * width + c, (r < rows) & (c < width), other=float("-inf")).to(wide)
        higher = tl.maximum(tops, x)
        level = tl.where(higher == float("-inf"), 0.0, higher)
        totals = totals * tl.exp(tops - level) + tl.exp(x - level)
        tops = higher
    top = tl.max(tops, 1)
    log_sum = tl.log(tl.sum(totals * tl.exp(tops - top[:, None]), 1))
    losses = tl.zeros([ROWS, BLOCK], wide)
    shares = tl.zeros([ROWS, BLOCK], wide)
    for start in range(0, width, BLOCK):
        c = start + tl.arange(0, BLOCK)[None, :]
        mask = (r < rows) & (c < width)
        place = r.to(tl.int64) * width + c
        x = tl.load(x_ptr + place, mask, other=0.0).to(wide)
        q = share_of_classes(target_ptr, weight_ptr, place, c, mask, width, smoothing, WEIGHT, SMOOTH, wide)
        losses += tl.where(mask, (log_sum[:, None] - (x - top[:, None])) * q, 0.0)
        shares += tl.where(mask, q, 0.0)
    loss = tl.where(i < rows, tl.sum(losses, 1), 0.0)
    k = i.to(tl.int64)
    tl.store(saved_ptr + k, top, i < rows)
    tl.store(saved_ptr + (k + rows), log_sum, i < rows)
    tl.store(saved_ptr + (k + rows + rows), tl.sum(shares, 1), i < rows)
    if REDUCTION == 0:
        tl.store(loss_ptr + i, loss.to(loss_ptr.dtype.element_ty), i < rows)
    counted = tl.sum(tl.where(i < rows, 1.0, 0.0).to(wide), 0)
    sum_by_the_last(loss_ptr, total_ptr, partial_ptr, done_ptr, tl.sum(loss, 0), counted, REDUCTION, wide)


def soft_cross_entropy_gradient(
    out_ptr, g_ptr, x_ptr, target_ptr, weight_ptr, saved_ptr, rows, width, step, smoothing, REDUCTION: tl.constexpr,
    WEIGHT: tl.constexpr, SMOOTH: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """(softmax(x) times the sum of shares, less the shares) times the row's gradient; `step` 0: one gradient of all rows."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    column, row = tile_of(tile_count(width, BLOCK))
    i = row * ROWS + tl.arange(0, ROWS)
    r = i[:, None]
    c = column * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (r < rows) & (c < width)
    place = r.to(tl.int64) * width + c
    g = tl.load(g_ptr + i * step, i < rows, other=0.0).to(wide)[:, None]
    if REDUCTION == 2:
        g = g / rows
    k = i.to(tl.int64)
    top = tl.load(saved_ptr + k, i < rows, other=0.0).to(wide)[:, None]
    log_sum = tl.load(saved_ptr + (k + rows), i < rows, other=0.0).to(wide)[:, None]
    shares = tl.load(saved_ptr + (k + rows + rows), i < rows, other=0.0).to(wide)[:, None]
    x = tl.load(x_ptr + place, mask, other=float("-inf")).to(wide)
    q = share_of_classes(target_ptr, weight_ptr, place, c, mask, width, smoothing, WEIGHT, SMOOTH, wide)
    result = (tl.exp(x - top - log_sum) * shares - q) * g
    tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), mask)
