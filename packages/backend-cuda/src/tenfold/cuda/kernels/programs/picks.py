"""Negative log-likelihood: what each target picks of its row, and what it gives back.

Positions are samples and places, (n, l); classes lie `x_c` apart.
"""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl

from tenfold.cuda.kernels.programs.rows import sum_by_the_last


def pick_losses(
    loss_ptr, total_ptr, partial_ptr, done_ptr, report_ptr, x_ptr, target_ptr, weight_ptr, code, count, share, length, classes,
    ignored, x_n, x_c, x_l, REDUCTION: tl.constexpr, WEIGHT: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """-weight[target] x[target] of `share` positions; REDUCTION 1: their sum, 2: the mean by weight, by the last program."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    losses = tl.zeros([BLOCK], wide)
    shares = tl.zeros([BLOCK], wide)
    for start in range(0, share, BLOCK):
        i = tl.program_id(0) * share + start + tl.arange(0, BLOCK)
        inside = i < count
        target = tl.load(target_ptr + i, inside, other=0).to(tl.int64)
        kept = inside & (target != ignored)
        wrong = kept & ((target < 0) | (target >= classes))
        tl.store(report_ptr + code + i * 0, wrong.to(tl.int32), wrong)
        kept = kept & (wrong == 0)
        chosen = tl.where(kept, target, 0)
        place = (i // length).to(tl.int64) * x_n + (i % length).to(tl.int64) * x_l + chosen * x_c
        weight = tl.where(kept, 1.0, 0.0).to(wide)
        if WEIGHT:
            weight = tl.load(weight_ptr + chosen, kept, other=0.0).to(wide)
        x = tl.load(x_ptr + place, kept, other=0.0).to(wide)
        loss = tl.where(kept, -x * weight, 0.0)
        if REDUCTION == 0:
            tl.store(loss_ptr + i, loss.to(loss_ptr.dtype.element_ty), inside)
        losses += loss
        shares += weight
    sum_by_the_last(loss_ptr, total_ptr, partial_ptr, done_ptr, tl.sum(losses, 0), tl.sum(shares, 0), REDUCTION, wide)


def pick_gradient(
    out_ptr, g_ptr, target_ptr, weight_ptr, total_ptr, count, length, classes, ignored, step, REDUCTION: tl.constexpr,
    WEIGHT: tl.constexpr, DOUBLE: tl.constexpr, BIG: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """All of the input's gradient, row-major (n, c, l): -weight[target] times the position's share at its class, else 0."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0).to(tl.int64 if BIG else tl.int32) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    rest = i // length
    position = (rest // classes) * length + i % length
    target = tl.load(target_ptr + position, inside, other=0).to(tl.int64)
    hit = inside & (target == rest % classes) & (target != ignored)
    share = tl.load(g_ptr + position * step, hit, other=0.0).to(wide)
    if REDUCTION == 2:
        share = share / tl.load(total_ptr).to(wide)
    if WEIGHT:
        share = share * tl.load(weight_ptr + target, hit, other=0.0).to(wide)
    tl.store(out_ptr + i, tl.where(hit, -share, 0.0).to(out_ptr.dtype.element_ty), inside)
