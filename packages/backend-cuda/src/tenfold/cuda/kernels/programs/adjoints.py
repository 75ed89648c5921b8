"""What gradients are made by that take more steps otherwise: of views, of masks, of complex sizes, of cumulative products."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.library import math


@triton.jit
def step(rest, found, seen, turn, size, stride, own, turns):
    """One dimension of a region: what is left of a place, the element's place so far, whether there is one, what is left of k."""
    at = tl.minimum(rest // stride, size - 1) - turn % turns
    return rest - at * stride, found + at * own, seen & (at >= 0), turn // turns


def sums_of_regions(
    out_ptr, x_ptr, count, offset, turns, n0, n1, n2, n3, n4, s0, s1, s2, s3, s4, x0, x1, x2, x3, x4, t0, t1, t2, t3, t4,
    DIMS: tl.constexpr, WIDE: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Each result is the sum of what a region, of sizes n and strides s in falling order, has at its place.

    Where windows overlap, the place is taken apart in as many ways, `turns`, as there may be windows over it.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    whole: tl.constexpr = tl.int64 if WIDE else tl.int32
    i = tl.program_id(0).to(whole) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    total = tl.zeros([BLOCK], wide)
    for k in range(turns):
        rest, found, seen, turn = i - offset, tl.zeros([BLOCK], whole), mask & (i >= offset), k
        rest, found, seen, turn = step(rest, found, seen, turn, n0, s0, x0, t0)
        if DIMS > 1:
            rest, found, seen, turn = step(rest, found, seen, turn, n1, s1, x1, t1)
        if DIMS > 2:
            rest, found, seen, turn = step(rest, found, seen, turn, n2, s2, x2, t2)
        if DIMS > 3:
            rest, found, seen, turn = step(rest, found, seen, turn, n3, s3, x3, t3)
        if DIMS > 4:
            rest, found, seen, turn = step(rest, found, seen, turn, n4, s4, x4, t4)
        total += tl.load(x_ptr + found, seen & (rest == 0), other=0).to(wide)
    tl.store(out_ptr + i, total.to(out_ptr.dtype.element_ty), mask)


def elements_of_mask(out_ptr, g_ptr, mask_ptr, ends_ptr, count, inner, BLOCK: tl.constexpr):
    """Where the mask of rows holds the next row of `g`, elsewhere 0; `ends` counts where it held up to and with a row."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    row = i // inner
    chosen = inside & (tl.load(mask_ptr + row, inside, other=0) != 0)
    place = tl.load(ends_ptr + row, chosen, other=1) - 1
    tl.store(out_ptr + i, tl.load(g_ptr + place * inner + i % inner, chosen, other=0), inside)


def signs_of_pairs(out_ptr, x_ptr, g_ptr, count, GRAD: tl.constexpr, BLOCK: tl.constexpr):
    """Complex numbers over their absolute values, 0 for 0; with GRAD times a real number each."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    a = tl.load(x_ptr + 2 * i, inside, other=0)
    b = tl.load(x_ptr + 2 * i + 1, inside, other=0)
    larger = tl.maximum(tl.abs(a), tl.abs(b))
    none = larger == 0
    lost = (a != a) | (b != b) | ((tl.abs(a) == float("inf")) & (tl.abs(b) == float("inf")))
    larger = tl.where(none, 1.0, larger)
    a = tl.where(tl.abs(a) == larger, tl.where(a < 0, -1.0, 1.0), math.div_rn(a, larger))  # whose squares are no 0 and finite
    b = tl.where(tl.abs(b) == larger, tl.where(b < 0, -1.0, 1.0), math.div_rn(b, larger))
    length = tl.where(none, 1.0, math.sqrt_rn(a * a + b * b))
    a = tl.where(lost, float("nan"), math.div_rn(a, length)).to(out_ptr.dtype.element_ty)
    b = tl.where(lost, float("nan"), math.div_rn(b, length)).to(out_ptr.dtype.element_ty)
    if GRAD:
        g = tl.load(g_ptr + i, inside, other=0)
        a = g * a
        b = g * b
    tl.store(out_ptr + 2 * i, a, inside)
    tl.store(out_ptr + 2 * i + 1, b, inside)


@triton.jit
def multiply(a, b):
    return a * b


def slopes_of_products(
    out_ptr, g_ptr, x_ptr, rows, length, inner, DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Of cumulative products of lines of `length` elements, `inner` apart: what comes behind over x; a first zero is left out.

    Behind a first zero every product is 0: only the products up to it, or without it, have a part in a gradient.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (j < length)[None, :]
    at = ((row // inner) * length * inner + row % inner)[:, None] + (j * inner)[None, :]
    x = tl.load(x_ptr + at, inside, other=1).to(wide)
    g = tl.load(g_ptr + at, inside, other=0).to(wide)
    zeros = tl.cumsum((x == 0).to(tl.int32), 1)
    first = (x == 0) & (zeros == 1)
    parts = g * tl.associative_scan(tl.where(first, 1.0, x), 1, multiply)
    ahead = tl.cumsum(tl.where(zeros == 0, parts, 0.0), 1, reverse=True)
    through = tl.sum(tl.where((zeros == 1) & inside, parts, 0.0), 1)[:, None]
    slope = tl.where(zeros == 0, math.div_rn(ahead, x), tl.where(first, through, 0.0))
    tl.store(out_ptr + at, slope.to(out_ptr.dtype.element_ty), inside)


@triton.jit
def back(rest, found, stride, size, moved):
    """One dimension, the inner ones first: what is left of a place, where its element comes from, the next one's stride."""
    at = rest % size - moved
    return rest // size, found + tl.where(at < 0, at + size, at) * stride, stride * size


def rolled(
    out_ptr, x_ptr, count, n0, n1, n2, n3, n4, m0, m1, m2, m3, m4, DIMS: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Elements moved on by m along dimensions of sizes n, from the inner ones, around the end."""
    whole: tl.constexpr = tl.int64 if WIDE else tl.int32
    i = tl.program_id(0).to(whole) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    rest, found, stride = back(i, tl.zeros([BLOCK], whole), 1, n0, m0)
    if DIMS > 1:
        rest, found, stride = back(rest, found, stride, n1, m1)
    if DIMS > 2:
        rest, found, stride = back(rest, found, stride, n2, m2)
    if DIMS > 3:
        rest, found, stride = back(rest, found, stride, n3, m3)
    if DIMS > 4:
        rest, found, stride = back(rest, found, stride, n4, m4)
    tl.store(out_ptr + i, tl.load(x_ptr + found, mask), mask)
