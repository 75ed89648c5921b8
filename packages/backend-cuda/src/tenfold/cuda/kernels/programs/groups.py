"""Group norm: moments of groups come from channels.py, shared out; here they are put together and used. And norms of long rows.

A group is a row of `each` channels of `length` places; a program of it has `block` elements.

Sources: Wu and He, "Group Normalization", 2018; Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for
computing sample variances", 1979.
"""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl


def group_norm(
    out_ptr, mean_ptr, rstd_ptr, x_ptr, weight_ptr, bias_ptr, means_ptr, squares_ptr, size, share, shares, block, rows, groups,
    each, length, eps, WEIGHT: tl.constexpr, BIAS: tl.constexpr, DOUBLE: tl.constexpr, SHARES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """(x - mean) rstd weight + bias of a part of a row; program (row, part)."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    r = tl.program_id(0)
    k = tl.arange(0, SHARES)
    number = tl.where(k < shares, tl.minimum(size - k * share, share), 0).to(wide)
    means = tl.load(means_ptr + k.to(tl.int64) * rows + r, k < shares, other=0.0)
    squares = tl.load(squares_ptr + k.to(tl.int64) * rows + r, k < shares, other=0.0)
    origin = tl.load(means_ptr + r)  # of the first share, which all threads round alike
    mean = origin + tl.sum(tl.where(k < shares, means - origin, 0.0) * number, 0) / size
    apart = tl.where(k < shares, means - mean, 0.0)
    rstd = 1.0 / tl.sqrt((tl.sum(squares, 0) + tl.sum(apart * apart * number, 0)) / size + eps)
    if tl.program_id(1) == 0:
        tl.store(mean_ptr + r, mean)
        tl.store(rstd_ptr + r, rstd)
    row = r.to(tl.int64) * size
    first = tl.program_id(1) * block
    for start in range(0, block, BLOCK):
        j = first + start + tl.arange(0, BLOCK)
        inside = (j < size) & (j < first + block)
        result = (tl.load(x_ptr + row + j, inside, other=0.0).to(wide) - mean) * rstd
        c = (r % groups) * each + j // length
        if WEIGHT:
            result = result * tl.load(weight_ptr + c, inside, other=0.0).to(wide)
        if BIAS:
            result = result + tl.load(bias_ptr + c, inside, other=0.0).to(wide)
        tl.store(out_ptr + row + j, result.to(out_ptr.dtype.element_ty), inside)


def plane_slopes(
    sum_ptr, dot_ptr, g_ptr, x_ptr, mean_ptr, rstd_ptr, planes, channels, groups, each, length, DOUBLE: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of each channel of each sample: the sum of g, and of g times the normalized x."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    p = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    group = (p // channels) * groups + (p % channels) // each
    mean = tl.load(mean_ptr + group, p < planes, other=0.0).to(wide)[:, None]
    rstd = tl.load(rstd_ptr + group, p < planes, other=0.0).to(wide)[:, None]
    totals = tl.zeros([ROWS, BLOCK], wide)
    dots = tl.zeros([ROWS, BLOCK], wide)
    for start in range(0, length, BLOCK):
        j = start + tl.arange(0, BLOCK)
        mask = (p < planes)[:, None] & (j < length)[None, :]
        place = p.to(tl.int64)[:, None] * length + j[None, :]
        g = tl.load(g_ptr + place, mask, other=0.0).to(wide)
        x = tl.load(x_ptr + place, mask, other=0.0).to(wide)
        totals += g
        dots += tl.where(mask, g * ((x - mean) * rstd), 0.0)
    tl.store(sum_ptr + p, tl.sum(totals, 1), p < planes)
    tl.store(dot_ptr + p, tl.sum(dots, 1), p < planes)


def group_norm_gradient(
    out_ptr, g_ptr, x_ptr, mean_ptr, rstd_ptr, weight_ptr, sums_ptr, dots_ptr, size, block, groups, each, length,
    WEIGHT: tl.constexpr, DOUBLE: tl.constexpr, CHANNELS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """(h - mean(h) - y mean(h y)) rstd of a part of a row, h = g weight and y the normalized x; program (row, part)."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    r = tl.program_id(0)
    totals = tl.zeros([CHANNELS], wide)
    dots = tl.zeros([CHANNELS], wide)
    for start in range(0, each, CHANNELS):
        k = start + tl.arange(0, CHANNELS)
        plane = r.to(tl.int64) * each + k
        h = tl.load(sums_ptr + plane, k < each, other=0.0)
        h_y = tl.load(dots_ptr + plane, k < each, other=0.0)
        if WEIGHT:
            weight = tl.load(weight_ptr + (r % groups) * each + k, k < each, other=0.0).to(wide)
            h = h * weight
            h_y = h_y * weight
        totals += h
        dots += h_y
    mean_h, mean_h_y = tl.sum(totals, 0) / size, tl.sum(dots, 0) / size
    mean, rstd = tl.load(mean_ptr + r).to(wide), tl.load(rstd_ptr + r).to(wide)
    row = r.to(tl.int64) * size
    first = tl.program_id(1) * block
    for start in range(0, block, BLOCK):
        j = first + start + tl.arange(0, BLOCK)
        inside = (j < size) & (j < first + block)
        h = tl.load(g_ptr + row + j, inside, other=0.0).to(wide)
        if WEIGHT:
            h = h * tl.load(weight_ptr + (r % groups) * each + j // length, inside, other=0.0).to(wide)
        y = (tl.load(x_ptr + row + j, inside, other=0.0).to(wide) - mean) * rstd
        tl.store(out_ptr + row + j, ((h - mean_h - y * mean_h_y) * rstd).to(out_ptr.dtype.element_ty), inside)


def plane_parameters(
    weight_ptr, bias_ptr, sums_ptr, dots_ptr, samples, channels, DOUBLE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """The gradients of weight and bias: sums over samples of what `plane_slopes` found."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    of_weight = tl.zeros([ROWS, COLUMNS], wide)
    of_bias = tl.zeros([ROWS, COLUMNS], wide)
    for start in range(0, samples, ROWS):
        n = start + tl.arange(0, ROWS)[:, None]
        mask = (n < samples) & (c < channels)
        place = n.to(tl.int64) * channels + c
        of_weight += tl.load(dots_ptr + place, mask, other=0.0)
        of_bias += tl.load(sums_ptr + place, mask, other=0.0)
    tl.store(weight_ptr + c, tl.sum(of_weight, 0)[None, :], c < channels)
    tl.store(bias_ptr + c, tl.sum(of_bias, 0)[None, :], c < channels)


def norm_long(
    out_ptr, mean_ptr, rstd_ptr, x_ptr, weight_ptr, bias_ptr, rows, width, eps, CENTERED: tl.constexpr, WEIGHT: tl.constexpr,
    BIAS: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """What `norm_rows` computes, of one row that is gone over in blocks."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    r = tl.program_id(0)
    row = r.to(tl.int64) * width
    mean = tl.cast(0.0, wide)
    if CENTERED:
        sums = tl.zeros([BLOCK], wide)
        for start in range(0, width, BLOCK):
            c = start + tl.arange(0, BLOCK)
            sums += tl.load(x_ptr + row + c, c < width, other=0.0).to(wide)
        mean = tl.sum(sums, 0) / width
        sums = tl.zeros([BLOCK], wide)
        for start in range(0, width, BLOCK):
            c = start + tl.arange(0, BLOCK)
            sums += tl.where(c < width, tl.load(x_ptr + row + c, c < width, other=0.0).to(wide) - mean, 0.0)
        mean = mean + tl.sum(sums, 0) / width  # of a constant row nothing must be left
        tl.store(mean_ptr + r, mean)
    squares = tl.zeros([BLOCK], wide)
    for start in range(0, width, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.where(c < width, tl.load(x_ptr + row + c, c < width, other=0.0).to(wide) - mean, 0.0)
        squares += x * x
    rstd = 1.0 / tl.sqrt(tl.sum(squares, 0) / width + eps)
    tl.store(rstd_ptr + r, rstd)
    for start in range(0, width, BLOCK):
        c = start + tl.arange(0, BLOCK)
        result = (tl.load(x_ptr + row + c, c < width, other=0.0).to(wide) - mean) * rstd
        if WEIGHT:
            result = result * tl.load(weight_ptr + c, c < width, other=0.0).to(wide)
        if BIAS:
            result = result + tl.load(bias_ptr + c, c < width, other=0.0).to(wide)
        tl.store(out_ptr + row + c, result.to(out_ptr.dtype.element_ty), c < width)


def norm_gradient_long(
    out_ptr, g_ptr, x_ptr, mean_ptr, rstd_ptr, weight_ptr, rows, width, CENTERED: tl.constexpr, WEIGHT: tl.constexpr,
    DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The rows' part of `norm_gradients`, of one row that is gone over in blocks."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    r = tl.program_id(0)
    row = r.to(tl.int64) * width
    rstd = tl.load(rstd_ptr + r).to(wide)
    mean = tl.load(mean_ptr + r).to(wide) if CENTERED else tl.cast(0.0, wide)
    totals = tl.zeros([BLOCK], wide)
    dots = tl.zeros([BLOCK], wide)
    for start in range(0, width, BLOCK):
        c = start + tl.arange(0, BLOCK)
        h = tl.load(g_ptr + row + c, c < width, other=0.0).to(wide)
        if WEIGHT:
            h = h * tl.load(weight_ptr + c, c < width, other=0.0).to(wide)
        x = tl.load(x_ptr + row + c, c < width, other=0.0).to(wide)
        totals += h
        dots += tl.where(c < width, h * ((x - mean) * rstd), 0.0)
    mean_h = tl.sum(totals, 0) / width if CENTERED else tl.cast(0.0, wide)
    mean_h_y = tl.sum(dots, 0) / width
    for start in range(0, width, BLOCK):
        c = start + tl.arange(0, BLOCK)
        h = tl.load(g_ptr + row + c, c < width, other=0.0).to(wide)
        if WEIGHT:
            h = h * tl.load(weight_ptr + c, c < width, other=0.0).to(wide)
        y = (tl.load(x_ptr + row + c, c < width, other=0.0).to(wide) - mean) * rstd
        tl.store(out_ptr + row + c, ((h - mean_h - y * mean_h_y) * rstd).to(out_ptr.dtype.element_ty), c < width)
