"""Rows held in registers, and checks of indices.

A row kernel gives each program a few whole rows, so that data is read once and written once. What a constant named in
capitals chooses is decided when the kernel is compiled. Arithmetic is in float32, in float64 where DOUBLE is set.

Sources: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018 (why one pass is enough); Ba, Kiros and
Hinton, "Layer Normalization", 2016.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl


def check_indices(report_ptr, index_ptr, code, low, high, count, BLOCK: tl.constexpr):
    """Reports an index that is not in low <= index < high."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    index = tl.load(index_ptr + i, mask, other=0).to(tl.int64)
    wrong = mask & ((index < low) | (index >= high))
    tl.store(report_ptr + code + (i * 0), wrong.to(tl.int32), wrong)


def softmax_rows(out_ptr, x_ptr, rows, width, LOG: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, BLOCK)[None, :]
    mask = (r < rows) & (c < width)
    place = r.to(tl.int64) * width + c
    x = tl.load(x_ptr + place, mask, other=float("-inf")).to(tl.float64 if DOUBLE else tl.float32)
    shifted = x - tl.max(x, 1)[:, None]
    powers = tl.exp(shifted)
    total = tl.sum(powers, 1)[:, None]
    result = shifted - tl.log(total) if LOG else powers / total
    tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), mask)


def softmax_gradient_rows(
    out_ptr, g_ptr, y_ptr, rows, width, LOG: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, BLOCK)[None, :]
    mask = (r < rows) & (c < width)
    place = r.to(tl.int64) * width + c
    g = tl.load(g_ptr + place, mask, other=0.0).to(tl.float64 if DOUBLE else tl.float32)
    y = tl.load(y_ptr + place, mask, other=0.0).to(tl.float64 if DOUBLE else tl.float32)
    result = g - tl.exp(y) * tl.sum(g, 1)[:, None] if LOG else (g - tl.sum(g * y, 1)[:, None]) * y
    tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), mask)


def norm_rows(
    out_ptr, mean_ptr, rstd_ptr, x_ptr, weight_ptr, bias_ptr, rows, width, eps, CENTERED: tl.constexpr, WEIGHT: tl.constexpr,
    BIAS: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Layer norm; without CENTERED the root-mean-square norm, which has no mean."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, BLOCK)[None, :]
    mask = (r < rows) & (c < width)
    place = r.to(tl.int64) * width + c
    x = tl.load(x_ptr + place, mask, other=0.0).to(wide)
    if CENTERED:
        mean = tl.sum(x, 1)[:, None] / width
        centered = tl.where(mask, x - mean, 0.0)
        left = tl.sum(centered, 1)[:, None] / width  # what rounding the mean leaves over: of a constant row nothing must be left
        x = tl.where(mask, centered - left, 0.0)
        tl.store(mean_ptr + r, mean + left, r < rows)
    rstd = 1.0 / tl.sqrt(tl.sum(x * x, 1)[:, None] / width + eps)
    tl.store(rstd_ptr + r, rstd, r < rows)
    result = x * rstd
    if WEIGHT:
        result = result * tl.load(weight_ptr + c, c < width, other=0.0).to(wide)
    if BIAS:
        result = result + tl.load(bias_ptr + c, c < width, other=0.0).to(wide)
    tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), mask)


@triton.jit
def norm_slope(g, x, weight, mean, rstd, mask, width, CENTERED: tl.constexpr, WEIGHT: tl.constexpr):
    """(the rows' gradient (h - mean(h) - y mean(h y)) rstd, y): h is the gradient of y = (x - mean) rstd."""
    h = g * weight if WEIGHT else g
    if CENTERED:
        x = tl.where(mask, x - mean, 0.0)
    y = x * rstd
    result = h - y * (tl.sum(h * y, 1)[:, None] / width)
    if CENTERED:
        result = result - tl.sum(h, 1)[:, None] / width
    return result * rstd, y


def norm_gradients(
    out_ptr, weights_ptr, biases_ptr, g_ptr, x_ptr, mean_ptr, rstd_ptr, weight_ptr, rows, width, share, CENTERED: tl.constexpr,
    WEIGHT: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The gradients of `share` rows, and what these leave of the gradients of weight and bias: a row of each, in one reading."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    c = tl.arange(0, BLOCK)[None, :]
    columns = c < width
    first = tl.program_id(0) * share
    last = tl.minimum(rows, first + share)
    of_weight = tl.zeros([ROWS, BLOCK], wide)
    of_bias = tl.zeros([ROWS, BLOCK], wide)
    weight = tl.load(weight_ptr + c, columns, other=0.0).to(wide) if WEIGHT else 1.0
    for start in range(first, last, ROWS):
        r = start + tl.arange(0, ROWS)[:, None]
        there = r < last
        mask = there & columns
        place = r.to(tl.int64) * width + c
        g = tl.load(g_ptr + place, mask, other=0.0).to(wide)
        x = tl.load(x_ptr + place, mask, other=0.0).to(wide)
        rstd = tl.load(rstd_ptr + r, there, other=0.0).to(wide)
        mean = tl.load(mean_ptr + r, there, other=0.0).to(wide) if CENTERED else rstd
        result, y = norm_slope(g, x, weight, mean, rstd, mask, width, CENTERED, WEIGHT)
        tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), mask)
        of_weight += g * y
        if CENTERED:
            of_bias += g
    place = tl.program_id(0).to(tl.int64) * width + c
    tl.store(weights_ptr + place, tl.sum(of_weight, 0)[None, :].to(weights_ptr.dtype.element_ty), columns)
    if CENTERED:
        tl.store(biases_ptr + place, tl.sum(of_bias, 0)[None, :].to(biases_ptr.dtype.element_ty), columns)


def norm_parameters(
    weight_ptr, bias_ptr, g_ptr, x_ptr, mean_ptr, rstd_ptr, rows, width, share, CENTERED: tl.constexpr, DOUBLE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Sums over `share` rows of the gradients of weight and bias: one row of the results for each such group of rows."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    first = tl.program_id(1) * share
    of_weight = tl.zeros([ROWS, COLUMNS], wide)
    of_bias = tl.zeros([ROWS, COLUMNS], wide)
    for start in range(0, share, ROWS):
        r = first + start + tl.arange(0, ROWS)[:, None]
        mask = (r < rows) & (r < first + share) & (c < width)
        place = r.to(tl.int64) * width + c
        g = tl.load(g_ptr + place, mask, other=0.0).to(wide)
        x = tl.load(x_ptr + place, mask, other=0.0).to(wide)
        rstd = tl.load(rstd_ptr + r, r < rows, other=0.0).to(wide)
        if CENTERED:
            x = tl.where(mask, x - tl.load(mean_ptr + r, r < rows, other=0.0).to(wide), 0.0)
        of_weight += g * x * rstd
        of_bias += g
    place = tl.program_id(1) * width + c
    tl.store(weight_ptr + place, tl.sum(of_weight, 0)[None, :], c < width)
    if CENTERED:
        tl.store(bias_ptr + place, tl.sum(of_bias, 0)[None, :], c < width)


@triton.jit
def sum_by_the_last(loss_ptr, total_ptr, partial_ptr, done_ptr, loss, share, REDUCTION: tl.constexpr, wide: tl.constexpr):
    """Sums of all programs' losses and weights, by the one that is done last; REDUCTION 1: the sum, 2: the mean."""
    here = tl.program_id(0)
    programs = tl.num_programs(0)
    tl.store(partial_ptr + 2 * here.to(tl.int64), loss)
    tl.store(partial_ptr + 2 * here.to(tl.int64) + 1, share)
    tl.debug_barrier()  # all of this program's stores come before it says that it is done
    before = tl.atomic_add(done_ptr, 1, sem="acq_rel")
    if before == programs - 1:
        losses = tl.zeros([256], wide)
        shares = tl.zeros([256], wide)
        for start in range(0, programs, 256):
            k = start + tl.arange(0, 256).to(tl.int64)
            losses += tl.load(partial_ptr + 2 * k, k < programs, other=0.0, volatile=True)
            shares += tl.load(partial_ptr + 2 * k + 1, k < programs, other=0.0, volatile=True)
        weights = tl.sum(shares, 0)
        tl.store(total_ptr, weights.to(total_ptr.dtype.element_ty))
        if REDUCTION == 1:
            tl.store(loss_ptr, tl.sum(losses, 0).to(loss_ptr.dtype.element_ty))
        if REDUCTION == 2:
            tl.store(loss_ptr, (tl.sum(losses, 0) / weights).to(loss_ptr.dtype.element_ty))
        tl.store(done_ptr, 0)  # for the next launch on this stream


def cross_entropy_rows(
    loss_ptr, total_ptr, top_ptr, log_sum_ptr, partial_ptr, done_ptr, report_ptr, x_ptr, target_ptr, weight_ptr, code, rows,
    width, ignored, smoothing, REDUCTION: tl.constexpr, WEIGHT: tl.constexpr, SMOOTH: tl.constexpr, DOUBLE: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Losses of rows of logits with class indices; the program that is last sums them all (REDUCTION 1: sum, 2: mean).

    SMOOTH: the part `smoothing` of a target is shared out to all classes.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    r = i[:, None]
    c = tl.arange(0, BLOCK)[None, :]
    mask = (r < rows) & (c < width)
    x = tl.load(x_ptr + r.to(tl.int64) * width + c, mask, other=float("-inf")).to(wide)
    target = tl.load(target_ptr + i, i < rows, other=0).to(tl.int64)
    kept = (i < rows) & (target != ignored)
    wrong = kept & ((target < 0) | (target >= width))
    tl.store(report_ptr + code + i * 0, wrong.to(tl.int32), wrong)
    chosen = tl.where(kept & (wrong == 0), target, 0)
    top = tl.max(x, 1)
    log_sum = tl.log(tl.sum(tl.exp(x - top[:, None]), 1))
    picked = tl.sum(tl.where(c == chosen[:, None], x, 0.0), 1)
    share = tl.where(kept, 1.0, 0.0).to(wide)
    if WEIGHT:
        share = share * tl.load(weight_ptr + chosen, kept, other=0.0).to(wide)
    loss = (log_sum - (picked - top)) * share
    if SMOOTH:
        losses = log_sum[:, None] - (x - top[:, None])
        if WEIGHT:
            losses = losses * tl.load(weight_ptr + c, c < width, other=0.0).to(wide)
        loss = loss * (1.0 - smoothing) + tl.sum(tl.where(mask, losses, 0.0), 1) * (smoothing / width)
    loss = tl.where(kept, loss, 0.0)
    tl.store(top_ptr + i, top.to(top_ptr.dtype.element_ty), i < rows)
    tl.store(log_sum_ptr + i, log_sum.to(log_sum_ptr.dtype.element_ty), i < rows)
    if REDUCTION == 0:
        tl.store(loss_ptr + i, loss.to(loss_ptr.dtype.element_ty), i < rows)
    sum_by_the_last(loss_ptr, total_ptr, partial_ptr, done_ptr, tl.sum(loss, 0), tl.sum(share, 0), REDUCTION, wide)


def cross_entropy_gradient(
    out_ptr, g_ptr, x_ptr, target_ptr, weight_ptr, total_ptr, top_ptr, log_sum_ptr, rows, width, ignored, step, smoothing,
    REDUCTION: tl.constexpr, WEIGHT: tl.constexpr, SMOOTH: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """(softmax(x) - one at the target) times the row's share of the gradient; `step` is 0 for one gradient of all rows.

    A row is shared out to several programs where it is longer than BLOCK.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    r = i[:, None]
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (r < rows) & (c < width)
    place = r.to(tl.int64) * width + c
    target = tl.load(target_ptr + i, i < rows, other=0).to(tl.int64)
    kept = (i < rows) & (target != ignored)
    chosen = tl.where(kept & (target >= 0) & (target < width), target, 0)
    share = tl.load(g_ptr + i * step, i < rows, other=0.0).to(wide)
    if REDUCTION == 2:
        share = share / tl.load(total_ptr).to(wide)
    share = tl.where(kept, share, 0.0)[:, None]
    hard = share
    if WEIGHT:
        hard = hard * tl.load(weight_ptr + chosen, kept, other=0.0).to(wide)[:, None]
    x = tl.load(x_ptr + place, mask, other=float("-inf")).to(wide)
    top = tl.load(top_ptr + i, i < rows, other=0.0).to(wide)[:, None]
    log_sum = tl.load(log_sum_ptr + i, i < rows, other=0.0).to(wide)[:, None]
    power = tl.exp(x - top - log_sum)
    hot = tl.where(c == chosen[:, None], 1.0, 0.0)
    if SMOOTH:
        soft = share * (smoothing / width)
        hard = hard * (1.0 - smoothing)
        each = tl.full([1, BLOCK], 1.0, wide)
        if WEIGHT:
            each = tl.load(weight_ptr + c, c < width, other=0.0).to(wide)
            lanes = tl.zeros([BLOCK], wide)
            for start in range(0, width, BLOCK):
                k = start + tl.arange(0, BLOCK)
                lanes += tl.load(weight_ptr + k, k < width, other=0.0).to(wide)
            weights = tl.sum(lanes, 0)
        else:
            weights = tl.cast(width, wide)
        result = power * (hard + soft * weights) - soft * each - hard * hot
    else:
        result = (power - hot) * hard
    tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), mask)
