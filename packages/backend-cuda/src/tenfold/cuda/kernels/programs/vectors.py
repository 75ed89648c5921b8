"""Products of vectors, and which matrices of a stack are finite."""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl

from tenfold.cuda.kernels.programs.library import math


def cross_products(
    out_ptr, x_ptr, y_ptr, count, inner, x_outer, x_step, x_inner, y_outer, y_step, y_inner, DOUBLE: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Of `count` vectors whose components lie `inner` apart in the result; x_step is from one to the next component of x.

    Products are rounded, as the difference of equal ones is 0.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    outer = i // inner
    rest = i - outer * inner
    x_ptr += outer * x_outer + rest * x_inner
    y_ptr += outer * y_outer + rest * y_inner
    for k in tl.static_range(3):
        one = (k + 1) % 3
        other = (k + 2) % 3
        a = tl.load(x_ptr + one * x_step, mask, other=0).to(wide)
        b = tl.load(y_ptr + other * y_step, mask, other=0).to(wide)
        c = tl.load(x_ptr + other * x_step, mask, other=0).to(wide)
        d = tl.load(y_ptr + one * y_step, mask, other=0).to(wide)
        found = math.mul_rn(a, b) - math.mul_rn(c, d)
        tl.store(out_ptr + outer * 3 * inner + k * inner + rest, found.to(out_ptr.dtype.element_ty), mask)


def finite_matrices(
    out_ptr, code_ptr, x_ptr, rows, columns, wrong, TRIANGLE: tl.constexpr, ACROSS: tl.constexpr, BLOCK: tl.constexpr
):
    """Copies of matrices for LAPACK, each column by column, or row by row where ACROSS; program (matrix).

    Of one with infinities or NaN zeros, and its code `wrong`, otherwise 0. TRIANGLE 1: the lower one alone, 2: the upper one;
    what is beside it is not looked at, and zeros in the copy.
    """
    here = tl.program_id(0).to(tl.int64)
    size = rows * columns
    x_ptr += here * size
    out_ptr += here * size
    worst = tl.zeros([BLOCK], tl.int32)
    for start in range(0, size, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, i < size, other=0)
        r = i // columns
        c = i - r * columns
        bad = tl.where(tl.abs(x) < float("inf"), 0, 1)
        if TRIANGLE == 1:
            bad = tl.where(c <= r, bad, 0)
        if TRIANGLE == 2:
            bad = tl.where(c >= r, bad, 0)
        worst = tl.maximum(worst, bad)
    found = tl.max(worst, 0)
    tl.store(code_ptr + here, tl.where(found > 0, wrong, 0))
    for start in range(0, size, BLOCK):
        i = start + tl.arange(0, BLOCK)
        if ACROSS:
            r = i // columns
            c = i - r * columns
        else:  # in the order of what is written
            c = i // rows
            r = i - c * rows
        kept = (i < size) & (found == 0)
        if TRIANGLE == 1:
            kept = kept & (c <= r)
        if TRIANGLE == 2:
            kept = kept & (c >= r)
        tl.store(out_ptr + i, tl.load(x_ptr + r * columns + c, kept, other=0), i < size)
