"""Rows too long for registers, such as a vocabulary: a program goes over one row in blocks, with running maxima and sums.

Every lane has a maximum and a sum of its own, put together when the row is at its end.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.rows import sum_by_the_last


@triton.jit
def top_and_total(x_ptr, width, wide: tl.constexpr, BLOCK: tl.constexpr):
    """The largest number of a row, and the sum of the exponentials of what each is less than that."""
    tops = tl.full([BLOCK], float("-inf"), wide)
    totals = tl.zeros([BLOCK], wide)
    for start in range(0, width, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + c, c < width, other=float("-inf")).to(wide)
        higher = tl.maximum(tops, x)
        level = tl.where(higher == float("-inf"), 0.0, higher)
        totals = totals * tl.exp(tops - level) + tl.exp(x - level)
        tops = higher
    top = tl.max(tops, 0)
    return top, tl.sum(totals * tl.exp(tops - top), 0)


def softmax_long(out_ptr, x_ptr, rows, width, LOG: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr):
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    row = tl.program_id(0).to(tl.int64) * width
    top, total = top_and_total(x_ptr + row, width, wide, BLOCK)
    for start in range(0, width, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row + c, c < width, other=float("-inf")).to(wide)
        result = x - top - tl.log(total) if LOG else tl.exp(x - top) / total
        tl.store(out_ptr + row + c, result.to(out_ptr.dtype.element_ty), c < width)


def softmax_gradient_long(out_ptr, g_ptr, y_ptr, rows, width, LOG: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr):
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    row = tl.program_id(0).to(tl.int64) * width
    sums = tl.zeros([BLOCK], wide)
    for start in range(0, width, BLOCK):
        c = start + tl.arange(0, BLOCK)
        g = tl.load(g_ptr + row + c, c < width, other=0.0).to(wide)
        if LOG:
            sums += g
        else:
            sums += g * tl.load(y_ptr + row + c, c < width, other=0.0).to(wide)
    total = tl.sum(sums, 0)
    for start in range(0, width, BLOCK):
        c = start + tl.arange(0, BLOCK)
        g = tl.load(g_ptr + row + c, c < width, other=0.0).to(wide)
        y = tl.load(y_ptr + row + c, c < width, other=0.0).to(wide)
        result = g - tl.exp(y) * total if LOG else (g - total) * y
        tl.store(out_ptr + row + c, result.to(out_ptr.dtype.element_ty), c < width)


def cross_entropy_long(
    loss_ptr, total_ptr, top_ptr, log_sum_ptr, partial_ptr, done_ptr, report_ptr, x_ptr, target_ptr, weight_ptr, code, rows,
    width, ignored, smoothing, REDUCTION: tl.constexpr, WEIGHT: tl.constexpr, SMOOTH: tl.constexpr, DOUBLE: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """What `cross_entropy_rows` computes, of one row."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0)
    row = i.to(tl.int64) * width
    target = tl.load(target_ptr + i).to(tl.int64)
    kept = target != ignored
    wrong = kept & ((target < 0) | (target >= width))
    tl.store(report_ptr + code, wrong.to(tl.int32), wrong)
    chosen = tl.where(kept & (wrong == 0), target, 0)
    top, powers = top_and_total(x_ptr + row, width, wide, BLOCK)
    log_sum = tl.log(powers)
    share = tl.where(kept, 1.0, 0.0).to(wide)
    if WEIGHT:
        share = share * tl.load(weight_ptr + chosen, kept, other=0.0).to(wide)
    picked = tl.load(x_ptr + row + chosen).to(wide)
    loss = (log_sum - (picked - top)) * share
    if SMOOTH:
        losses = tl.zeros([BLOCK], wide)
        for start in range(0, width, BLOCK):
            c = start + tl.arange(0, BLOCK)
            x = log_sum - (tl.load(x_ptr + row + c, c < width, other=0.0).to(wide) - top)
            if WEIGHT:
                x = x * tl.load(weight_ptr + c, c < width, other=0.0).to(wide)
            losses += tl.where(c < width, x, 0.0)
        loss = loss * (1.0 - smoothing) + tl.sum(losses, 0) * (smoothing / width)
    loss = tl.where(kept, loss, 0.0)
    tl.store(top_ptr + i, top.to(top_ptr.dtype.element_ty))
    tl.store(log_sum_ptr + i, log_sum.to(log_sum_ptr.dtype.element_ty))
    if REDUCTION == 0:
        tl.store(loss_ptr + i, loss.to(loss_ptr.dtype.element_ty))
    sum_by_the_last(loss_ptr, total_ptr, partial_ptr, done_ptr, loss, share, REDUCTION, wide)
