"""Rows scaled by what their norms say, and the gradient. A program has ROWS rows, which it goes over twice in blocks.

Elements of a row lie `x_c` apart; row r begins at r // inner * x_n + r % inner * x_l. NORM is 1, 2, 3 for infinity, or 0 for any
other `p`.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.folding import disordered, ordered
from tenfold.cuda.kernels.programs.library import math


@triton.jit
def power_of(x, p, NORM: tl.constexpr, wide: tl.constexpr):
    """|x|^p."""
    if NORM == 2:
        return x * x
    if NORM == 1:
        return tl.abs(x)
    return math.pow(tl.abs(x), tl.full(x.shape, p, wide))


@triton.jit
def norm_of(total, p, NORM: tl.constexpr, wide: tl.constexpr):
    """The norms of rows: of lanes' sums of powers, or of their largest sizes, NaN above all."""
    if NORM == 3:
        return disordered(tl.max(ordered(total, 0, 0, 0), 1), wide, 0, 0)
    norm = tl.sum(total, 1)
    if NORM == 2:
        norm = tl.sqrt(norm)
    elif NORM == 0:
        norm = math.pow(norm, tl.full(norm.shape, 1.0 / p, wide))
    return norm


@triton.jit
def norm_slope(x, norm, ties, p, NORM: tl.constexpr, wide: tl.constexpr):
    """What norms, a column, change by with each element: 0 in rows of zeros; of the largest sizes in equal parts (`ties`)."""
    sign = tl.where(x > 0, 1.0, tl.where(x < 0, -1.0, 0.0)).to(wide)
    if NORM == 1:
        return sign
    if NORM == 3:
        return tl.where(tl.abs(x) == norm, sign / ties, 0.0)
    slope = tl.where(norm == 0, 0.0, x / norm)
    if NORM == 0:
        slope = tl.where(slope == 0, 0.0, sign * math.pow(tl.abs(slope), tl.full(x.shape, p - 1.0, wide)))
    return slope


@triton.jit
def starts(r, inner, n, middle):
    """Where rows begin."""
    return ((r // inner).to(tl.int64) * n + (r % inner).to(tl.int64) * middle)[:, None]


def scaled_rows(
    out_ptr, norms_ptr, x_ptr, rows, width, inner, out_n, out_l, out_c, x_n, x_l, x_c, bound, p, NORM: tl.constexpr,
    LIMIT: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """x / max(norm, bound); with LIMIT x bound / (norm + 1e-7) of rows whose norm is above it."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    first = starts(r, inner, x_n, x_l)
    total = tl.zeros([ROWS, BLOCK], wide)
    for start in range(0, width, BLOCK):
        c = (start + tl.arange(0, BLOCK))[None, :]
        x = tl.load(x_ptr + first + c.to(tl.int64) * x_c, (r < rows)[:, None] & (c < width), other=0.0).to(wide)
        if NORM == 3:
            size = tl.abs(x)
            total = tl.where((size > total) | (size != size), size, total)
        else:
            total += power_of(x, p, NORM, wide)
    norm = norm_of(total, p, NORM, wide)
    tl.store(norms_ptr + r, norm, r < rows)
    if LIMIT:
        factor = tl.where(norm > bound, bound / (norm + 1e-7), 1.0)[:, None]
    else:
        factor = tl.where(norm < bound, bound, norm)[:, None]
    to = starts(r, inner, out_n, out_l)
    for start in range(0, width, BLOCK):
        c = (start + tl.arange(0, BLOCK))[None, :]
        mask = (r < rows)[:, None] & (c < width)
        x = tl.load(x_ptr + first + c.to(tl.int64) * x_c, mask, other=0.0).to(wide)
        y = x * factor if LIMIT else x / factor
        tl.store(out_ptr + to + c.to(tl.int64) * out_c, y.to(out_ptr.dtype.element_ty), mask)


def scaled_rows_gradient(
    to_ptr, g_ptr, x_ptr, norms_ptr, rows, width, inner, to_n, to_l, to_c, g_n, g_l, g_c, x_n, x_l, x_c, bound, p,
    NORM: tl.constexpr, LIMIT: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """(g - (sum of g x / divisor) slope) / divisor, the slope of the norm, where it counts; everything in shares of the norm."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    from_g, from_x = starts(r, inner, g_n, g_l), starts(r, inner, x_n, x_l)
    norm = tl.load(norms_ptr + r, r < rows, other=1.0).to(wide)
    divisor = norm
    if LIMIT == 0:
        divisor = tl.where(norm < bound, bound, norm)
    total = tl.zeros([ROWS, BLOCK], wide)
    attained = tl.zeros([ROWS, BLOCK], wide)
    for start in range(0, width, BLOCK):
        c = (start + tl.arange(0, BLOCK))[None, :]
        mask = (r < rows)[:, None] & (c < width)
        x = tl.load(x_ptr + from_x + c.to(tl.int64) * x_c, mask, other=0.0).to(wide)
        g = tl.load(g_ptr + from_g + c.to(tl.int64) * g_c, mask, other=0.0).to(wide)
        total += tl.where(mask, g * (x / divisor[:, None]), 0.0)
        if NORM == 3:
            attained += tl.where(mask & (tl.abs(x) == norm[:, None]), 1.0, 0.0)
    along = tl.sum(total, 1)
    ties = tl.sum(attained, 1)[:, None] if NORM == 3 else 1.0
    if LIMIT:
        moves = norm > bound
        factor = tl.where(moves, bound / (norm + 1e-7), 1.0)[:, None]
        along = along * tl.where(norm == float("inf"), 1.0, norm / (norm + 1e-7))  # of finite numbers, whose factor is 0
    else:
        moves = norm >= bound
        factor = divisor[:, None]
    to = starts(r, inner, to_n, to_l)
    for start in range(0, width, BLOCK):
        c = (start + tl.arange(0, BLOCK))[None, :]
        mask = (r < rows)[:, None] & (c < width)
        x = tl.load(x_ptr + from_x + c.to(tl.int64) * x_c, mask, other=0.0).to(wide)
        g = tl.load(g_ptr + from_g + c.to(tl.int64) * g_c, mask, other=0.0).to(wide)
        slope = norm_slope(x, norm[:, None], ties, p, NORM, wide)
        slope = g - tl.where(moves[:, None], along[:, None] * slope, 0.0)
        slope = slope * factor if LIMIT else slope / factor
        tl.store(to_ptr + to + c.to(tl.int64) * to_c, slope.to(to_ptr.dtype.element_ty), mask)


def response_norm(
    out_ptr, scales_ptr, x_ptr, count, length, channels, size, share, beta, k, DOUBLE: tl.constexpr, BLOCK: tl.constexpr
):
    """x / scale^beta, the scale being k and `share` times the squares of `size` neighbouring channels."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    channel = (i // length) % channels
    total = tl.zeros([BLOCK], wide)
    for j in range(size):
        step = j - size // 2
        there = mask & (channel + step >= 0) & (channel + step < channels)
        x = tl.load(x_ptr + i + step * length, there, other=0.0).to(wide)
        total += x * x
    x = tl.load(x_ptr + i, mask, other=0.0).to(wide)
    scale = total * share + k
    tl.store(scales_ptr + i, scale, mask)
    y = x / math.pow(scale, tl.full([BLOCK], beta, wide))
    tl.store(out_ptr + i, y.to(out_ptr.dtype.element_ty), mask)


def response_norm_gradient(
    to_ptr, g_ptr, x_ptr, scales_ptr, count, length, channels, size, share, beta, DOUBLE: tl.constexpr, BLOCK: tl.constexpr
):
    """g / scale^beta, less what each channel adds to the scales of its neighbours."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    channel = (i // length) % channels
    power = tl.full([BLOCK], beta, wide)
    total = tl.zeros([BLOCK], wide)
    for j in range(size):
        step = j - (size - 1) // 2
        there = mask & (channel + step >= 0) & (channel + step < channels)
        place = i + step * length
        x = tl.load(x_ptr + place, there, other=0.0).to(wide)
        g = tl.load(g_ptr + place, there, other=0.0).to(wide)
        scale = tl.load(scales_ptr + place, there, other=1.0).to(wide)
        total += tl.where(there, g * x / (math.pow(scale, power) * scale), 0.0)
    x = tl.load(x_ptr + i, mask, other=0.0).to(wide)
    g = tl.load(g_ptr + i, mask, other=0.0).to(wide)
    scale = tl.load(scales_ptr + i, mask, other=1.0).to(wide)
    slope = g / math.pow(scale, power) - 2.0 * share * beta * x * total
    tl.store(to_ptr + i, slope.to(to_ptr.dtype.element_ty), mask)
