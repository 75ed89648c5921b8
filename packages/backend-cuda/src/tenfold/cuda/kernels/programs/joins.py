"""Several arrays as one, each a block of columns of its rows; and the triangles of matrices."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.tiles import tile_count, tile_of


@triton.jit
def later(tile, end, x_ptr, width, stride, before, begin, next_ptr, next_width, next_stride):
    """From the program `end` on the next part's: where it is, its width and stride, its first program, its first column."""
    begin += tl.where(tile >= end, width, 0)
    if tile >= end:
        x_ptr, width, stride, before = next_ptr, next_width, next_stride, end
    return x_ptr, width, stride, before, begin


def join_rows(
    out_ptr, x0_ptr, x1_ptr, x2_ptr, x3_ptr, x4_ptr, x5_ptr, x6_ptr, x7_ptr, rows, step, w0, w1, w2, w3, w4, w5, w6, w7,
    s0, s1, s2, s3, s4, s5, s6, s7, t0, t1, t2, t3, t4, t5, t6, UNIT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Part k has rows of w columns, s apart, and ends with the program t of the second dimension; lengths in units of UNIT."""
    tile = tl.program_id(1)
    x_ptr, width, stride, before, begin = x0_ptr, w0, s0, t0 * 0, w0 * 0
    x_ptr, width, stride, before, begin = later(tile, t0, x_ptr, width, stride, before, begin, x1_ptr, w1, s1)
    x_ptr, width, stride, before, begin = later(tile, t1, x_ptr, width, stride, before, begin, x2_ptr, w2, s2)
    x_ptr, width, stride, before, begin = later(tile, t2, x_ptr, width, stride, before, begin, x3_ptr, w3, s3)
    x_ptr, width, stride, before, begin = later(tile, t3, x_ptr, width, stride, before, begin, x4_ptr, w4, s4)
    x_ptr, width, stride, before, begin = later(tile, t4, x_ptr, width, stride, before, begin, x5_ptr, w5, s5)
    x_ptr, width, stride, before, begin = later(tile, t5, x_ptr, width, stride, before, begin, x6_ptr, w6, s6)
    x_ptr, width, stride, before, begin = later(tile, t6, x_ptr, width, stride, before, begin, x7_ptr, w7, s7)
    r = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    c = ((tile - before) * BLOCK + tl.arange(0, BLOCK))[None, :]
    mask = (r < rows) & (c < width * UNIT)
    tl.store(out_ptr + (r * step + begin) * UNIT + c, tl.load(x_ptr + r * stride * UNIT + c, mask), mask)


def triangle(
    out_ptr, x_ptr, down, rows, columns, batch_stride, row_stride, column_stride, diagonal, LOWER: tl.constexpr,
    APART: tl.constexpr, UNIT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """What is on one side of a diagonal of each matrix, and zeros; columns and strides in units of UNIT, but of columns APART."""
    column, row = tile_of(tile_count(columns * UNIT, BLOCK))
    batch = row // down
    r = ((row - batch * down).to(rows.dtype) * ROWS + tl.arange(0, ROWS))[:, None]
    c = (column * BLOCK + tl.arange(0, BLOCK))[None, :]
    keep = c <= r + diagonal if LOWER else c >= r + diagonal
    inside = (r < rows) & (c < columns * UNIT)
    place = (batch.to(tl.int64) * batch_stride + r.to(tl.int64) * row_stride) * UNIT
    place += c.to(tl.int64) * column_stride if APART else c
    # Tiles of zeros are not read; a mask with the diagonal in it would be read element by element.
    x = tl.load(x_ptr + place, inside & (tl.max(tl.max(keep.to(tl.int32), 1), 0) > 0), other=0)
    tl.store(out_ptr + (batch.to(tl.int64) * rows + r) * columns * UNIT + c, tl.where(keep, x, 0), inside)
