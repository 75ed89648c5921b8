"""Cosines and distances of pairs of rows, and their gradients, for which each row has two numbers.

A program has ROWS rows, which it goes over in blocks.
"""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl


def row_pairs(
    out_ptr, lengths_ptr, a_ptr, b_ptr, rows, width, eps, COSINE: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """COSINE: a b / (max(|a|, eps) max(|b|, eps)), lengths |a| and then |b|; else |a - b + eps|, which is the length, too.

    COSINE 2: eps is added to the squares of the lengths instead.
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
        else:
            d = tl.where(mask, a - b + eps, 0.0)
            first += d * d
    more = eps if COSINE == 2 else 0.0
    length = tl.sqrt(tl.sum(first, 1) + more)
    tl.store(lengths_ptr + r, length, r < rows)
    result = length
    if COSINE:
        other = tl.sqrt(tl.sum(second, 1) + more)
        tl.store(lengths_ptr + rows + r, other, r < rows)
        least = tl.where(length < eps, eps, length) * tl.where(other < eps, eps, other)
        result = tl.sum(products, 1) / least
    tl.store(out_ptr + r, result.to(out_ptr.dtype.element_ty), r < rows)


def row_pairs_gradient(
    to_a_ptr, to_b_ptr, g_ptr, a_ptr, b_ptr, out_ptr, lengths_ptr, rows, width, eps, COSINE: tl.constexpr, DOUBLE: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
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
        to_a = tl.where(length == 0, 0.0, g / length) * (a - b + eps)
        to_b = -to_a
    tl.store(to_a_ptr + place, to_a.to(to_a_ptr.dtype.element_ty), mask)
    tl.store(to_b_ptr + place, to_b.to(to_b_ptr.dtype.element_ty), mask)
