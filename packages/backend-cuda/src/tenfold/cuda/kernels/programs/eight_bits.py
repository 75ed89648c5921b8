"""Products of matrices of 8-bit floating numbers with scales of blocks, and how such numbers become half precision.

Every float8 is a float16, up to a power of two that sums take back: products are exact on every GPU, also on those that
have no instructions for 8 bits, and are summed in float32.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.hints import sixteens
from tenfold.cuda.kernels.programs.tiles import tile_count, tile_of

FOUR = tl.constexpr(1)  # float8_e4m3fn, whose exponent is 8 less in float16's place; float8_e5m2 is the upper byte of a float16


@triton.jit
def halves(x, KIND: tl.constexpr):
    """Bytes as float16; those of float8_e4m3fn 256 times too small."""
    wide = x.to(tl.int16)
    if KIND == FOUR:
        size = wide & 127
        bits = tl.where(size == 127, 0x7E00, size << 7) | ((wide & 128) << 8)
    else:
        bits = wide << 8
    return bits.to(tl.int16).to(tl.float16, bitcast=True)


@triton.jit
def undone(A_KIND: tl.constexpr, B_KIND: tl.constexpr):
    """What products of `halves` of two kinds are multiplied by."""
    return (256.0 if A_KIND == FOUR else 1.0) * (256.0 if B_KIND == FOUR else 1.0)


def scaled_blocks(
    out_ptr, a_ptr, b_ptr, a_scales_ptr, b_scales_ptr, bias_ptr, rows, inner, columns, a_m, a_k, b_k, b_n, s_m, s_k, t_k, t_n,
    A_UNIT: tl.constexpr, B_UNIT: tl.constexpr, ALIGNED: tl.constexpr, A_KIND: tl.constexpr, B_KIND: tl.constexpr,
    A_HIGH: tl.constexpr, B_WIDE: tl.constexpr, BIASED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
    INNER: tl.constexpr,
):  # fmt: skip
    """out = the sum over blocks k of INNER columns of a @ b, times their scales at (m // A_HIGH, k) and (k, n // B_WIDE).

    UNIT, ALIGNED as in `grouped_rows`.
    """
    if ALIGNED:
        inner, columns = sixteens(inner), sixteens(columns)
        if A_UNIT == 1:
            a_m = sixteens(a_m)
        if B_UNIT == 1:
            b_n = sixteens(b_n)
    if A_UNIT == 1:
        a_k = 1
    if B_UNIT == 1:
        b_k = 1
    row, column = tile_of(tile_count(rows, ROWS))
    m = row * ROWS + tl.arange(0, ROWS)
    n = column * COLUMNS + tl.arange(0, COLUMNS)
    a_rows = a_ptr + m.to(tl.int64)[:, None] * a_m
    b_columns = b_ptr + n.to(tl.int64)[None, :] * b_n
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for block in range((inner + INNER - 1) // INNER):
        k = block * INNER + tl.arange(0, INNER)
        a = tl.load(a_rows + k.to(tl.int64)[None, :] * a_k, (m < rows)[:, None] & (k < inner)[None, :], other=0)
        b = tl.load(b_columns + k.to(tl.int64)[:, None] * b_k, (k < inner)[:, None] & (n < columns)[None, :], other=0)
        part = tl.dot(halves(a, A_KIND), halves(b, B_KIND)) * undone(A_KIND, B_KIND)
        left = tl.load(a_scales_ptr + (m // A_HIGH).to(tl.int64) * s_m + block * s_k, m < rows, other=0.0)
        right = tl.load(b_scales_ptr + (n // B_WIDE).to(tl.int64) * t_n + block * t_k, n < columns, other=0.0)
        total += part * left[:, None] * right[None, :]
    if BIASED:
        total += tl.load(bias_ptr + n, n < columns, other=0.0).to(tl.float32)[None, :]
    out = out_ptr + m.to(tl.int64)[:, None] * columns + n[None, :]
    tl.store(out, total.to(out_ptr.dtype.element_ty), (m < rows)[:, None] & (n < columns)[None, :])
