"""Distances of all pairs of rows, and their gradients: of a tile of pairs the differences are taken a few features at a time.

NORM says which: 0 counts what differs, 1, 2 and 3 (infinity) are what their names say, 4 is any other `p`.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.library import math
from tenfold.cuda.kernels.programs.tiles import tile_count, tile_of


@triton.jit
def place_of_pair(i, j, rows):
    """Where the distance of rows i and j of one matrix is kept: (0, 1), (0, 2), ... after each other."""
    low = tl.minimum(i, j).to(tl.int64)
    high = tl.maximum(i, j)
    return low * (2 * rows - low - 1) // 2 + (high - low - 1)


def distances(
    out_ptr, a_ptr, b_ptr, rows, columns, width, down, across, p, NORM: tl.constexpr, OWN: tl.constexpr, DOUBLE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of ROWS rows of a and COLUMNS rows of b, `down` times `across` tiles of a batch; OWN: of pairs of a's own rows."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    tile = tl.program_id(0)
    batch = tile // (down * across)
    i = (tile // across) % down * ROWS + tl.arange(0, ROWS)
    j = tile % across * COLUMNS + tl.arange(0, COLUMNS)
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    if OWN:
        mask = mask & (i[:, None] < j[None, :])
    end = tl.where(tl.max(tl.max(mask.to(tl.int32), 1), 0) != 0, width, 0)  # tiles below the diagonal have no pairs
    first = (batch.to(tl.int64) * rows + i) * width
    second = (batch.to(tl.int64) * columns + j) * width
    total = tl.zeros([ROWS, COLUMNS, BLOCK], wide)
    for start in range(0, end, BLOCK):
        c = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + first[:, None] + c[None, :], (i < rows)[:, None] & (c < width)[None, :], other=0.0).to(wide)
        b = tl.load(b_ptr + second[:, None] + c[None, :], (j < columns)[:, None] & (c < width)[None, :], other=0.0).to(wide)
        d = tl.abs(a[:, None, :] - b[None, :, :])
        if NORM == 0:
            total += tl.where(d > 0, 1.0, d)
        elif NORM == 1:
            total += d
        elif NORM == 2:
            total += d * d
        elif NORM == 3:
            total = tl.where((d > total) | (d != d) if OWN else d > total, d, total)
        else:
            total += math.pow(d, tl.full([ROWS, COLUMNS, BLOCK], p, wide))
    if NORM == 3:
        found = tl.max(total, 2)
        found = tl.where(tl.max(tl.where(total != total, 1, 0), 2) != 0, float("nan"), found)
    else:
        found = tl.sum(total, 2)
    if NORM == 2:
        found = tl.sqrt(found)
    elif NORM == 4:
        found = math.pow(found, tl.full([ROWS, COLUMNS], 1.0 / p, wide))
    if OWN:
        place = place_of_pair(i[:, None], j[None, :], rows)
    else:
        place = (batch.to(tl.int64) * rows + i)[:, None] * columns + j[None, :]
    tl.store(out_ptr + place, found.to(out_ptr.dtype.element_ty), mask)


def distances_gradient(
    to_ptr, g_ptr, a_ptr, b_ptr, out_ptr, rows, columns, width, down, g_batch, g_i, g_j, out_batch, out_i, out_j, p,
    NORM: tl.constexpr, OWN: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """For a tile of a's rows: the sum over b's rows of what each distance gives."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    column, row = tile_of(tile_count(width, BLOCK))
    batch = row // down
    i = row % down * ROWS + tl.arange(0, ROWS)
    c = column * BLOCK + tl.arange(0, BLOCK)
    here = (i < rows)[:, None] & (c < width)[None, :]
    place = (batch.to(tl.int64) * rows + i)[:, None] * width + c[None, :]
    a = tl.load(a_ptr + place, here, other=0.0).to(wide)
    total = tl.zeros([ROWS, COLUMNS, BLOCK], wide)
    for start in range(0, columns, COLUMNS):
        j = start + tl.arange(0, COLUMNS)
        mask = (i < rows)[:, None] & (j < columns)[None, :]
        if OWN:
            mask = mask & (i[:, None] != j[None, :])
            pair = place_of_pair(i[:, None], j[None, :], rows)
            g = tl.load(g_ptr + pair * g_j, mask, other=0.0).to(wide)
            length = tl.load(out_ptr + pair * out_j, mask, other=0.0).to(wide)
        else:
            k = batch.to(tl.int64) * g_batch + i.to(tl.int64)[:, None] * g_i + j.to(tl.int64)[None, :] * g_j
            g = tl.load(g_ptr + k, mask, other=0.0).to(wide)
            k = batch.to(tl.int64) * out_batch + i.to(tl.int64)[:, None] * out_i + j.to(tl.int64)[None, :] * out_j
            length = tl.load(out_ptr + k, mask, other=0.0).to(wide)
        second = (batch.to(tl.int64) * columns + j)[:, None] * width + c[None, :]
        b = tl.load(b_ptr + second, (j < columns)[:, None] & (c < width)[None, :], other=0.0).to(wide)
        d = a[:, None, :] - b[None, :, :]
        sign = tl.where(d > 0, 1.0, tl.where(d < 0, -1.0, tl.where(d != d, d, 0.0))).to(wide)
        if NORM == 1:
            term = sign * g[:, :, None]
        elif NORM == 2:
            term = tl.where(length == 0, 0.0, g / length)[:, :, None] * d
        elif NORM == 3:
            short = length[:, :, None] - tl.abs(d)  # nan where either is, or both are infinite
            term = tl.where(short == 0, sign, tl.where(short != short, short, 0.0)) * g[:, :, None]
        else:
            power = tl.full([ROWS, COLUMNS], p - 1.0, wide)
            share = tl.where(length == 0, 0.0, g / math.pow(length, power))[:, :, None]
            powers = math.pow(tl.abs(d), tl.full([ROWS, COLUMNS, BLOCK], p - 1.0, wide))
            term = tl.where(d == 0, 0.0, sign * powers) * share
        total += tl.where(mask[:, :, None], term, 0.0)
    tl.store(to_ptr + place, tl.sum(total, 1).to(to_ptr.dtype.element_ty), here)


def squares_of_rows(out_ptr, x_ptr, rows, width, DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The sums of the squares of rows."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS, BLOCK], wide)
    for start in range(0, width, BLOCK):
        c = (start + tl.arange(0, BLOCK))[None, :]
        x = tl.load(x_ptr + i.to(tl.int64)[:, None] * width + c, (i < rows)[:, None] & (c < width), other=0.0).to(wide)
        total += x * x
    tl.store(out_ptr + i, tl.sum(total, 1), i < rows)


def distances_of_products(out_ptr, product_ptr, a_ptr, b_ptr, count, rows, columns, DOUBLE: tl.constexpr, BLOCK: tl.constexpr):
    """sqrt(a_i + b_j - 2 product_ij), 0 where rounding would leave a negative square."""
    k = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = k < count
    i = k // columns
    a = tl.load(a_ptr + i, mask, other=0.0)
    b = tl.load(b_ptr + (i // rows * columns + k % columns), mask, other=0.0)
    x = tl.load(product_ptr + k, mask, other=0.0)
    square = a + b - 2.0 * x
    square = tl.where(square <= 0, 0.0, square)
    tl.store(out_ptr + k, tl.sqrt(square), mask)


def shares_of_distances(
    share_ptr, sum_ptr, g_ptr, out_ptr, rows, columns, g_batch, g_i, g_j, out_batch, out_i, out_j, DOUBLE: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """-g / distance, 0 where that is 0, row-major; and less the sums of its rows. A program has ROWS rows of a batch."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    batch = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS, BLOCK], wide)
    for start in range(0, columns, BLOCK):
        j = (start + tl.arange(0, BLOCK))[None, :]
        mask = (i < rows)[:, None] & (j < columns)
        g = tl.load(g_ptr + batch * g_batch + i.to(tl.int64)[:, None] * g_i + j.to(tl.int64) * g_j, mask, other=0.0)
        place = batch * out_batch + i.to(tl.int64)[:, None] * out_i + j.to(tl.int64) * out_j
        length = tl.load(out_ptr + place, mask, other=0.0).to(wide)
        share = tl.where(length == 0, 0.0, g.to(wide) / length)
        total += share
        tl.store(share_ptr + (batch * rows + i)[:, None] * columns + j, -share, mask)
    tl.store(sum_ptr + batch * rows + i, tl.sum(total, 1), i < rows)
