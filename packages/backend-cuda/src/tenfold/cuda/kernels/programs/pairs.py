"""Cosines and distances of pairs of rows, and their gradients, for which each row has two numbers.

A program has ROWS rows, which it goes over in blocks.
"""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl

from tenfold.cuda.kernels.programs.scaling import norm_of, norm_slope, power_of


def row_pairs(
    out_ptr, lengths_ptr, a_ptr, b_ptr, rows, width, eps, p, COSINE: tl.constexpr, NORM: tl.constexpr, DOUBLE: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """COSINE: a b / (max(|a|, eps) max(|b|, eps)), lengths |a| and then |b|; else |a - b + eps|, which is the length, too.

    COSINE 2: eps is added to the squares of the lengths instead. NORM: that of the distance, as scaling.py names it; behind
    lengths by the largest size stands in how many elements a row has it.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    products = tl.zeros([ROWS, BLOCK], wide)
    first = tl.zeros([ROWS, BLOCK], wide)
    second = tl.zeros([ROWS, BLOCK], wide)
    for start in range(0, width, BLOCK):
        c = start + tl.arange(0, BLOCK)
        mask = (r < rows)[:, None] & (c < width)[None, :]
        place = r.to(tl.int64)[:, None] * width + c[None, :]
        a = tl.load(a_ptr + place, mask, other=0.0).to(wide)
        b = tl.load(b_ptr + place, mask, other=0.0).to(wide)
        if COSINE:
            products += a * b
            first += a * a
            second += b * b
        elif NORM == 3:
            size = tl.abs(a - b + eps)
            larger = mask & ((size > first) | (size != size))
            second = tl.where(larger, 1.0, second + tl.where(mask & (size == first), 1.0, 0.0))
            first = tl.where(larger, size, first)
        else:
            first += power_of(tl.where(mask, a - b + eps, 0.0), p, NORM, wide)
    more = eps if COSINE == 2 else 0.0
    if COSINE:
        length = tl.sqrt(tl.sum(first, 1) + more)
    else:
        length = norm_of(first, p, NORM, wide)
    tl.store(lengths_ptr + r, length, r < rows)
    result = length
    if COSINE == 0 and NORM == 3:
        tl.store(lengths_ptr + rows + r, tl.sum(tl.where(first == length[:, None], second, 0.0), 1), r < rows)
    if COSINE:
        other = tl.sqrt(tl.sum(second, 1) + more)
        tl.store(lengths_ptr + rows + r, other, r < rows)
        least = tl.where(length < eps, eps, length) * tl.where(other < eps, eps, other)
        result = tl.sum(products, 1) / least
    tl.store(out_ptr + r, result.to(out_ptr.dtype.element_ty), r < rows)


def row_pairs_gradient(
    to_a_ptr, to_b_ptr, g_ptr, a_ptr, b_ptr, out_ptr, lengths_ptr, rows, width, eps, p, COSINE: tl.constexpr, NORM: tl.constexpr,
    DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Both gradients; of a row whose length is 0 the length's slope is taken for 0."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (r < rows) & (c < width)
    place = r.to(tl.int64) * width + c
    a = tl.load(a_ptr + place, mask, other=0.0).to(wide)
    b = tl.load(b_ptr + place, mask, other=0.0).to(wide)
    g = tl.load(g_ptr + r, r < rows, other=0.0).to(wide)
    length = tl.load(lengths_ptr + r, r < rows, other=0.0).to(wide)
    if COSINE:
        other = tl.load(lengths_ptr + rows + r, r < rows, other=0.0).to(wide)
        cut = tl.where(length < eps, eps, length)
        other_cut = tl.where(other < eps, eps, other)
        share = g / (cut * other_cut)
        cosine = g * tl.load(out_ptr + r, r < rows, other=0.0).to(wide)
        to_a = share * b - tl.where(length == 0, 0.0, cosine / (cut * length)) * a
        to_b = share * a - tl.where(other == 0, 0.0, cosine / (other_cut * other)) * b
    else:
        ties = tl.load(lengths_ptr + rows + r, r < rows, other=1.0).to(wide) if NORM == 3 else 1.0
        to_a = g * norm_slope(a - b + eps, length, ties, p, NORM, wide)
        to_b = -to_a
    tl.store(to_a_ptr + place, to_a.to(to_a_ptr.dtype.element_ty), mask)
    tl.store(to_b_ptr + place, to_b.to(to_b_ptr.dtype.element_ty), mask)
