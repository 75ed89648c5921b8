"""Losses that ask for margins between the scores of a row, and their gradients.

A program has ROWS rows. A row with one right class is gone over in blocks; one with labels is held whole.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.rows import sum_by_the_last


@triton.jit
def right_classes(x_ptr, target_ptr, i, inside, width, wide: tl.constexpr):
    """(the right class of each row, whether it is none, its score); one that is none is taken for 0."""
    target = tl.load(target_ptr + i, inside, other=0).to(tl.int64)
    wrong = inside & ((target < 0) | (target >= width))
    target = tl.where(wrong, 0, target)
    return target, wrong, tl.load(x_ptr + i.to(tl.int64) * width + target, inside, other=0.0).to(wide)


def class_margins(
    loss_ptr, total_ptr, partial_ptr, done_ptr, report_ptr, x_ptr, target_ptr, weight_ptr, code, rows, width, margin,
    REDUCTION: tl.constexpr, SQUARE: tl.constexpr, WEIGHT: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Of each row the mean over classes but the right one of max(0, margin - right score + score), or of its SQUARE."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = i < rows
    target, wrong, right = right_classes(x_ptr, target_ptr, i, inside, width, wide)
    tl.store(report_ptr + code + i * 0, wrong.to(tl.int32), wrong)  # same value: that it is so
    level = margin - right
    sums = tl.zeros([ROWS, BLOCK], wide)
    for start in range(0, width, BLOCK):
        c = (start + tl.arange(0, BLOCK))[None, :]
        mask = inside[:, None] & (c < width) & (c != target[:, None])
        x = tl.load(x_ptr + i.to(tl.int64)[:, None] * width + c, mask, other=0.0).to(wide)
        gap = level[:, None] + x
        gap = tl.where(mask & (gap > 0), gap, 0.0)
        sums += gap * gap if SQUARE else gap
    loss = tl.sum(sums, 1)
    if WEIGHT:
        loss = loss * tl.load(weight_ptr + target, inside, other=0.0).to(wide)
    loss = tl.where(inside & (wrong == 0), loss / width, 0.0)
    if REDUCTION == 0:
        tl.store(loss_ptr + i, loss.to(loss_ptr.dtype.element_ty), inside)
    counted = tl.sum(tl.where(inside, 1.0, 0.0).to(wide), 0)
    sum_by_the_last(loss_ptr, total_ptr, partial_ptr, done_ptr, tl.sum(loss, 0), counted, REDUCTION, wide)


def class_margins_gradient(
    out_ptr, g_ptr, x_ptr, target_ptr, weight_ptr, rows, width, step, margin, REDUCTION: tl.constexpr, SQUARE: tl.constexpr,
    WEIGHT: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The slopes, and for the right class less their sum; `step` 0: one gradient of all rows."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = i < rows
    target, wrong, right = right_classes(x_ptr, target_ptr, i, inside, width, wide)
    g = tl.load(g_ptr + i * step, inside, other=0.0).to(wide)
    if REDUCTION == 2:
        g = g / rows
    g = g / width
    if WEIGHT:
        g = g * tl.load(weight_ptr + target, inside, other=0.0).to(wide)
    g = tl.where(wrong, 0.0, g)[:, None]
    level = margin - right
    sums = tl.zeros([ROWS, BLOCK], wide)
    for start in range(0, width, BLOCK):
        c = (start + tl.arange(0, BLOCK))[None, :]
        mask = inside[:, None] & (c < width) & (c != target[:, None])
        place = i.to(tl.int64)[:, None] * width + c
        x = tl.load(x_ptr + place, mask, other=0.0).to(wide)
        gap = level[:, None] + x
        slope = tl.where(mask & (gap > 0), 2.0 * gap * g if SQUARE else g, 0.0)
        sums += slope
        tl.store(out_ptr + place, slope.to(out_ptr.dtype.element_ty), mask)
    total = -tl.sum(sums, 1)
    tl.store(out_ptr + i.to(tl.int64) * width + target, total.to(out_ptr.dtype.element_ty), inside)


@triton.jit
def label_counts(target_ptr, i, inside, width, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """(how many labels each row has, which is what stands before the first negative one; whether one is no class)."""
    c = tl.arange(0, BLOCK)[None, :]
    mask = inside[:, None] & (c < width)
    labels = tl.load(target_ptr + i.to(tl.int64)[:, None] * width + c, mask, other=-1)
    many = tl.min(tl.where(labels < 0, c, BLOCK), 1)
    return many, tl.max(tl.where(mask & (c < many[:, None]) & (labels >= width), 1, 0), 1)


@triton.jit
def label_at(target_ptr, i, j, inside, many, width):
    """The label of each row that is its number j, and whether there is one that is a class."""
    there = inside & (j < many)
    label = tl.load(target_ptr + i.to(tl.int64) * width + j, there, other=0).to(tl.int64)
    return label, there & (label < width)


@triton.jit
def labelled(target_ptr, i, inside, many, width, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Whether each class of a row is one of its labels."""
    c = tl.arange(0, BLOCK)[None, :]
    found = tl.zeros([ROWS, BLOCK], tl.int32)
    for j in range(tl.max(many, 0)):
        label, there = label_at(target_ptr, i, j, inside, many, width)
        found = tl.where((c == label[:, None]) & there[:, None], 1, found)
    return found


def label_margins(
    loss_ptr, total_ptr, partial_ptr, done_ptr, report_ptr, x_ptr, target_ptr, code, rows, width, REDUCTION: tl.constexpr,
    DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of each row the sum over its labels and its other classes of max(0, 1 - label's score + score), over `width`."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = i < rows
    many, wrong = label_counts(target_ptr, i, inside, width, ROWS, BLOCK)
    tl.store(report_ptr + code + i * 0, wrong, wrong != 0)  # same value: that it is so
    c = tl.arange(0, BLOCK)[None, :]
    first = i.to(tl.int64) * width
    x = tl.load(x_ptr + first[:, None] + c, inside[:, None] & (c < width), other=0.0).to(wide)
    other = (c < width) & (labelled(target_ptr, i, inside, many, width, ROWS, BLOCK) == 0)
    sums = tl.zeros([ROWS, BLOCK], wide)
    for j in range(tl.max(many, 0)):
        label, there = label_at(target_ptr, i, j, inside, many, width)
        level = 1.0 - tl.load(x_ptr + first + label, there, other=0.0).to(wide)
        gap = level[:, None] + x
        sums += tl.where(other & there[:, None] & (gap > 0), gap, 0.0)
    loss = tl.sum(sums, 1) / width
    if REDUCTION == 0:
        tl.store(loss_ptr + i, loss.to(loss_ptr.dtype.element_ty), inside)
    counted = tl.sum(tl.where(inside, 1.0, 0.0).to(wide), 0)
    sum_by_the_last(loss_ptr, total_ptr, partial_ptr, done_ptr, tl.sum(loss, 0), counted, REDUCTION, wide)


def label_margins_gradient(
    out_ptr, g_ptr, x_ptr, target_ptr, rows, width, step, REDUCTION: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """How many labels each class comes too near to, and less for each label how many do; `step` 0: one gradient of all rows."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = i < rows
    many, _wrong = label_counts(target_ptr, i, inside, width, ROWS, BLOCK)
    c = tl.arange(0, BLOCK)[None, :]
    first = i.to(tl.int64) * width
    mask = inside[:, None] & (c < width)
    x = tl.load(x_ptr + first[:, None] + c, mask, other=0.0).to(wide)
    other = (c < width) & (labelled(target_ptr, i, inside, many, width, ROWS, BLOCK) == 0)
    counts = tl.zeros([ROWS, BLOCK], wide)
    for j in range(tl.max(many, 0)):
        label, there = label_at(target_ptr, i, j, inside, many, width)
        level = 1.0 - tl.load(x_ptr + first + label, there, other=0.0).to(wide)
        near = tl.where(other & there[:, None] & (level[:, None] + x > 0), 1.0, 0.0).to(wide)
        counts += near - tl.where((c == label[:, None]) & there[:, None], tl.sum(near, 1)[:, None], 0.0)
    g = tl.load(g_ptr + i * step, inside, other=0.0).to(wide)
    if REDUCTION == 2:
        g = g / rows
    slope = tl.where(counts != 0, counts * (g / width)[:, None], 0.0)
    tl.store(out_ptr + first[:, None] + c, slope.to(out_ptr.dtype.element_ty), mask)
