"""Connectionist temporal classification: alpha and beta down the steps of a sample, a program each, and the classes' gradients.

The lanes of a program are the places of a path: the labels with a blank around each. A step reads what the last one left in
memory, as lanes cannot see their neighbours'.

Source: Graves et al., "Connectionist Temporal Classification", 2006, equations 6 to 11 and 16.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl


@triton.jit
def path_of(label_ptr, report_ptr, code, s, size, labels, classes, blank):
    """(the classes at places s of a path, whether the blank before a place may be left out); a label that is no class is told."""
    named = (s % 2 == 1) & (s < 2 * size)
    label = tl.load(label_ptr + s // 2, named, other=blank).to(tl.int32)
    before = tl.load(label_ptr + s // 2 - 1, named & (s > 2), other=blank).to(tl.int32)
    wrong = named & ((label < 0) | (label >= classes))
    tl.store(report_ptr + code + s * 0, wrong.to(tl.int32), wrong)  # same value: that it is so
    return tl.where(wrong, blank, label), named & (s > 2) & (label != before)


@triton.jit
def log_sum(a, b, c):
    """log(exp(a) + exp(b) + exp(c))."""
    top = tl.maximum(tl.maximum(a, b), c)
    top = tl.where(top == float("-inf"), 0.0, top)
    return tl.log(tl.exp(a - top) + tl.exp(b - top) + tl.exp(c - top)) + top


def ctc_alpha(
    loss_ptr, alpha_ptr, report_ptr, x_ptr, label_ptr, steps_ptr, size_ptr, code, length, labels, classes, blank, x_t, x_n, x_c,
    ZERO_INFINITY: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """alpha[n, t, s], -inf beyond a sample's steps and its path, and -log of the probability of its alignments."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    n = tl.program_id(0).to(tl.int64)
    steps = tl.load(steps_ptr + n).to(tl.int32)
    size = tl.load(size_ptr + n).to(tl.int32)
    s, width = tl.arange(0, BLOCK), 2 * labels + 1
    inside, never = s <= 2 * size, tl.full([BLOCK], float("-inf"), wide)
    label, skip = path_of(label_ptr + n * labels, report_ptr, code, s, size, labels, classes, blank)
    scores = x_ptr + n * x_n + label.to(tl.int64) * x_c
    row = alpha_ptr + n * length * width + s
    a = tl.where(inside & (s < 2) & (steps > 0), tl.load(scores, inside & (steps > 0), other=0.0), never)
    tl.store(row, a, s < width)
    for t in range(1, length):
        tl.debug_barrier()
        scores += x_t
        x = tl.load(scores, inside & (t < steps), other=0.0)
        one = tl.load(row - 1, inside & (s > 0), other=float("-inf"))
        two = tl.load(row - 2, inside & skip, other=float("-inf"))
        a = tl.where(inside & (t < steps), log_sum(a, one, two) + x, never)
        row += width
        tl.store(row, a, s < width)
    tl.debug_barrier()
    last = alpha_ptr + n * length * width + (steps - 1).to(tl.int64) * width
    ends = tl.load(last + 2 * size, steps > 0, other=float("-inf"))
    before = tl.load(last + 2 * size - 1, (steps > 0) & (size > 0), other=float("-inf"))
    loss = -log_sum(ends, before, float("-inf"))
    loss = tl.where((steps == 0) & (size == 0), 0.0, loss)
    if ZERO_INFINITY:
        loss = tl.where(loss == float("inf"), 0.0, loss)
    tl.store(loss_ptr + n, loss)


def ctc_posterior(
    out_ptr, beta_ptr, report_ptr, alpha_ptr, loss_ptr, x_ptr, label_ptr, steps_ptr, size_ptr, code, length, labels, classes,
    blank, x_t, x_n, x_c, DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of each step the share of a sample's alignments that are at place s then; kept of beta is the step behind it."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    n = tl.program_id(0).to(tl.int64)
    steps = tl.load(steps_ptr + n).to(tl.int32)
    size = tl.load(size_ptr + n).to(tl.int32)
    loss = tl.load(loss_ptr + n)
    s, width = tl.arange(0, BLOCK), 2 * labels + 1
    inside, ending = s <= 2 * size, (s == 2 * size) | (s == 2 * size - 1)
    never = tl.full([BLOCK], float("-inf"), wide)
    label, _ = path_of(label_ptr + n * labels, report_ptr, code, s, size, labels, classes, blank)
    # Whether the blank behind a place may be left out: what holds of the place two behind it.
    _, skip = path_of(label_ptr + n * labels, report_ptr, code, s + 2, size, labels, classes, blank)
    scores = x_ptr + n * x_n + label.to(tl.int64) * x_c
    kept = beta_ptr + n * 2 * width + s
    b = never
    for back in range(steps):
        t = (steps - 1 - back).to(tl.int64)
        x = tl.load(scores + t * x_t, inside, other=0.0)
        a = tl.load(alpha_ptr + (n * length + t) * width + s, inside, other=float("-inf"))
        behind = kept + (back % 2) * width
        one = tl.load(behind + 1, (s < 2 * size) & (back > 0), other=float("-inf"))
        two = tl.load(behind + 2, skip & (back > 0), other=float("-inf"))
        on = log_sum(b, one, two) + x
        b = tl.where(inside, tl.where(back == 0, tl.where(ending, x, never), on), never)
        tl.store(kept + (1 - back % 2) * width, b, s < width)
        meets = (a != float("-inf")) & (b != float("-inf"))
        share = tl.where(meets, tl.exp(tl.where(meets, a + b - x + loss, 0.0)), 0.0)
        tl.store(out_ptr + (n * length + t) * width + s, share, s < width)
        tl.debug_barrier()


def ctc_gradient(
    out_ptr, g_ptr, share_ptr, alpha_ptr, loss_ptr, x_ptr, label_ptr, steps_ptr, size_ptr, samples, length, labels, classes,
    blank, x_t, x_n, x_c, ZERO_INFINITY: tl.constexpr, DOUBLE: tl.constexpr, LABELS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """grad (exp(score) - the shares of a class), which are added in their order; program (step, sample)."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    t, n = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    steps = tl.load(steps_ptr + n).to(tl.int32)
    size = tl.load(size_ptr + n).to(tl.int32)
    loss, g = tl.load(loss_ptr + n), tl.load(g_ptr + n).to(wide)
    width = 2 * labels + 1
    last = alpha_ptr + n * length * width + (steps - 1).to(tl.int64) * width + 2 * size
    ends = tl.load(last, steps > 0, other=0.0)
    before = tl.load(last - 1, (steps > 0) & (size > 0), other=float("-inf"))
    none = (ends == float("-inf")) & (before == float("-inf"))  # it cannot be aligned
    unknown = loss != loss
    row, made = x_ptr + t * x_t + n * x_n, out_ptr + (t * samples + n) * classes
    for start in range(0, classes, BLOCK):
        c = start + tl.arange(0, BLOCK)
        slope = tl.exp(tl.load(row + c.to(tl.int64) * x_c, c < classes, other=0.0)) * g
        slope = tl.where(none, 0.0 if ZERO_INFINITY else float("nan"), slope)
        slope = tl.where(unknown, float("nan"), slope)
        tl.store(made + c, tl.where(t < steps, slope, 0.0), c < classes)
    tl.debug_barrier()
    shares = share_ptr + (n * length + t) * width
    i = tl.arange(0, LABELS)
    named = (i < size) & (t < steps) & (none == 0) & (unknown == 0)
    label = tl.load(label_ptr + n * labels + i, named, other=-1).to(tl.int32)
    named = named & (label >= 0) & (label < classes)
    total = tl.zeros([LABELS], wide)
    count = tl.where((t < steps) & (none == 0) & (unknown == 0), size, 0)
    empty = tl.load(shares, t < steps, other=0.0)
    for j in range(count):
        other = tl.load(label_ptr + n * labels + j).to(tl.int32)
        total += tl.where(label == other, tl.load(shares + 2 * j + 1), 0.0)
        empty += tl.load(shares + 2 * j + 2)
    x = tl.load(row + label.to(tl.int64) * x_c, named, other=0.0)
    tl.store(made + label, (tl.exp(x) - total) * g, named)  # each place of a class writes the same
    told = (t < steps) & (none == 0) & (unknown == 0)
    x = tl.load(row + blank * x_c)
    tl.store(made + blank, (tl.exp(x) - empty) * g, told)
