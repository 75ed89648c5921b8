"""Products of slices of a matrix: which slice a tile of rows belongs to is found on the device, so that nobody waits for it.

Slices are given by where each ends; what lies behind the last one is a slice of its own, of which nothing is multiplied.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.eight_bits import halves, undone
from tenfold.cuda.kernels.programs.hints import sixteens
from tenfold.cuda.kernels.programs.tiles import tile_count, tile_of


@triton.jit
def slice_of(offs_ptr, tile, groups, size, ROWS: tl.constexpr, GROUPS: tl.constexpr):
    """(the slice that a tile of rows belongs to, the tile's first row, where the slice ends), tiles counted slice by slice."""
    g = tl.arange(0, GROUPS)
    begin = tl.load(offs_ptr + g - 1, (g > 0) & (g <= groups), other=0)
    end = tl.load(offs_ptr + g, g < groups, other=0)
    begin = tl.minimum(tl.maximum(begin, 0), size)
    end = tl.where(g == groups, size, tl.minimum(tl.maximum(end, 0), size))
    tiles = tl.where(g <= groups, (tl.maximum(end - begin, 0) + ROWS - 1) // ROWS, 0)
    through = tl.cumsum(tiles, 0)
    group = tl.sum((through <= tile).to(tl.int32), 0)
    here = g == group
    first = tl.sum(tl.where(here, begin + (tile - through + tiles) * ROWS, 0), 0)
    last = tl.sum(tl.where(here, end, 0), 0)
    return group, first, last


@triton.jit
def steps(first, second, UNIT: tl.constexpr, ALIGNED: tl.constexpr):
    """Two steps in memory, as the compiler is to know them: 1 for the one that UNIT names, multiples of 16 where it is so."""
    if ALIGNED:
        first, second = sixteens(first), sixteens(second)
    if UNIT == 1:
        first = 1
    if UNIT == 2:
        second = 1
    return first, second


def grouped_rows(
    out_ptr, a_ptr, b_ptr, offs_ptr, row_scales_ptr, scales_ptr, groups, size, inner, columns, a_m, a_k, b_g, b_k, b_n, o_m, o_n,
    A_UNIT: tl.constexpr, B_UNIT: tl.constexpr, O_UNIT: tl.constexpr, ALIGNED: tl.constexpr, EIGHT: tl.constexpr,
    PRECISION: tl.constexpr, GROUPS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr,
):  # fmt: skip
    """out[m] = a[m] @ b[the slice that m is in]; programs are as many tiles of rows as any slices need, for each tile of columns.

    UNIT says which neighbours are neighbours in memory: of a and b those that are summed over (1), or the result's (2); of out
    its columns (1) or its rows (2). ALIGNED: all else lies at multiples of 16 elements. EIGHT: elements are bytes of
    float8_e4m3fn, and each row of a and each column of each b has a scale.
    """
    if ALIGNED:
        inner, columns, b_g = sixteens(inner), sixteens(columns), sixteens(b_g)
    a_k, a_m = steps(a_k, a_m, A_UNIT, ALIGNED)
    b_k, b_n = steps(b_k, b_n, B_UNIT, ALIGNED)
    o_n, o_m = steps(o_n, o_m, O_UNIT, ALIGNED)
    row, column = tile_of(size // ROWS + groups + 1)
    group, first, last = slice_of(offs_ptr, row, groups, size, ROWS, GROUPS)
    m = first + tl.arange(0, ROWS)
    n = column * COLUMNS + tl.arange(0, COLUMNS)
    a_rows = a_ptr + m.to(tl.int64)[:, None] * a_m
    b_columns = b_ptr + group.to(tl.int64) * b_g + n.to(tl.int64)[None, :] * b_n
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    end = tl.where(group < groups, inner, 0)
    for start in range(0, end, INNER):
        k = start + tl.arange(0, INNER)
        a = tl.load(a_rows + k[None, :] * a_k, (m < last)[:, None] & (k < inner)[None, :], other=0.0)
        b = tl.load(b_columns + k[:, None] * b_k, (k < inner)[:, None] & (n < columns)[None, :], other=0.0)
        if EIGHT:
            a, b = halves(a, 1), halves(b, 1)
        total = tl.dot(a, b, total, input_precision=PRECISION)
    if EIGHT:
        total *= undone(1, 1) * tl.load(row_scales_ptr + m, m < last, other=0.0)[:, None]
        scales = scales_ptr + group.to(tl.int64) * columns + n
        total *= tl.load(scales, (n < columns) & (group < groups), other=0.0)[None, :]
    out = out_ptr + m.to(tl.int64)[:, None] * o_m + n.to(tl.int64)[None, :] * o_n
    tl.store(out, total.to(out_ptr.dtype.element_ty), (m < last)[:, None] & (n < columns)[None, :])


def grouped_sums(
    out_ptr, a_ptr, b_ptr, offs_ptr, row_scales_ptr, scales_ptr, rows, inner, columns, a_m, a_k, b_k, b_n, A_UNIT: tl.constexpr,
    B_UNIT: tl.constexpr, ALIGNED: tl.constexpr, EIGHT: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr, INNER: tl.constexpr,
):  # fmt: skip
    """out[g] = a[:, slice g] @ b[slice g]; program (tile, g). UNIT, ALIGNED, EIGHT as in `grouped_rows`,
    with scales of the rows and columns of each slice."""
    if ALIGNED:
        rows, columns = sixteens(rows), sixteens(columns)
    a_k, a_m = steps(a_k, a_m, A_UNIT, ALIGNED)
    b_k, b_n = steps(b_k, b_n, B_UNIT, ALIGNED)
    row, column = tile_of(tile_count(rows, ROWS))
    g = tl.program_id(1)
    m = row * ROWS + tl.arange(0, ROWS)
    n = column * COLUMNS + tl.arange(0, COLUMNS)
    begin = tl.minimum(tl.maximum(tl.load(offs_ptr + g - 1, g > 0, other=0), 0), inner)
    end = tl.minimum(tl.load(offs_ptr + g), inner)
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in range(begin, end, INNER):
        k = start + tl.arange(0, INNER)
        there = k < end
        far = k.to(tl.int64)
        a = tl.load(a_ptr + m.to(tl.int64)[:, None] * a_m + far[None, :] * a_k, (m < rows)[:, None] & there[None, :], other=0.0)
        b = tl.load(b_ptr + far[:, None] * b_k + n[None, :] * b_n, there[:, None] & (n < columns)[None, :], other=0.0)
        if EIGHT:
            a, b = halves(a, 1), halves(b, 1)
        total = tl.dot(a, b, total, input_precision=PRECISION)
    if EIGHT:
        total *= undone(1, 1) * tl.load(row_scales_ptr + g.to(tl.int64) * rows + m, m < rows, other=0.0)[:, None]
        total *= tl.load(scales_ptr + g.to(tl.int64) * columns + n, n < columns, other=0.0)[None, :]
    out = out_ptr + (g.to(tl.int64) * rows + m)[:, None] * columns + n[None, :]
    tl.store(out, total.to(out_ptr.dtype.element_ty), (m < rows)[:, None] & (n < columns)[None, :])
