"""Norms of channels over a batch: a first launch sums shares of each channel, a second one puts them together and goes over all.

A tile has positions for rows and channels for columns: few channels where planes lie one by one, many where channels are last.
UNIT 1: channels are neighbours in memory, 2: places are; all else then lies at multiples of 16 elements.
Shares are put together by their means and squares around these, so that nothing is lost where the mean is large.

Sources: Ioffe and Szegedy, "Batch Normalization", 2015, algorithm 1; Chan, Golub and LeVeque, "Updating formulae and a pairwise
algorithm for computing sample variances", 1979.
"""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl

from tenfold.cuda.kernels.programs.hints import sixteens


def channel_moments(
    mean_ptr, square_ptr, x_ptr, count, share, channels, length, x_n, x_c, x_l, UNIT: tl.constexpr, DOUBLE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Of `share` positions of each channel: the mean, and the sum of squares around it. Program (channels, share)."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    if UNIT == 1:
        channels = sixteens(channels)
        x_n, x_c, x_l = sixteens(x_n), 1, sixteens(x_l)
    if UNIT == 2:
        length, count, share = sixteens(length), sixteens(count), sixteens(share)
        x_n, x_c, x_l = sixteens(x_n), sixteens(x_c), 1
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    first = tl.program_id(1) * share
    end = tl.minimum(first + share, count)
    total = tl.zeros([ROWS, COLUMNS], wide)
    for start in range(0, share, ROWS):
        j = first + start + tl.arange(0, ROWS)
        mask = (j < end)[:, None] & (c < channels)[None, :]
        place = ((j // length).to(tl.int64) * x_n + (j % length) * x_l)[:, None] + c.to(tl.int64)[None, :] * x_c
        total += tl.load(x_ptr + place, mask, other=0.0).to(wide)
    mean = tl.sum(total, 0) / (end - first)
    lefts = tl.zeros([ROWS, COLUMNS], wide)  # what rounding the mean leaves over: of a constant channel nothing must be left
    squares = tl.zeros([ROWS, COLUMNS], wide)
    for start in range(0, share, ROWS):
        j = first + start + tl.arange(0, ROWS)
        mask = (j < end)[:, None] & (c < channels)[None, :]
        place = ((j // length).to(tl.int64) * x_n + (j % length) * x_l)[:, None] + c.to(tl.int64)[None, :] * x_c
        x = tl.where(mask, tl.load(x_ptr + place, mask, other=0.0).to(wide) - mean[None, :], 0.0)
        lefts += x
        squares += x * x
    at = tl.program_id(1) * channels + c
    left = tl.sum(lefts, 0) / (end - first)  # of an infinite mean no number
    tl.store(mean_ptr + at, tl.where(left == left, mean + left, mean), c < channels)
    tl.store(square_ptr + at, tl.sum(squares, 0), c < channels)


def channel_norm(
    out_ptr, mean_ptr, var_ptr, rstd_ptr, x_ptr, weight_ptr, bias_ptr, means_ptr, squares_ptr, count, share, shares, block,
    channels, length, x_n, x_c, x_l, o_n, o_c, o_l, eps, WEIGHT: tl.constexpr, BIAS: tl.constexpr, GIVEN: tl.constexpr,
    UNIT: tl.constexpr, DOUBLE: tl.constexpr, SHARES: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """(x - mean) rstd weight + bias of `block` positions; GIVEN: means_ptr and squares_ptr are the mean and variance to use."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    if UNIT == 1:
        channels = sixteens(channels)
        x_n, x_c, x_l = sixteens(x_n), 1, sixteens(x_l)
        o_n, o_c, o_l = sixteens(o_n), 1, sixteens(o_l)
    if UNIT == 2:
        length, count, block = sixteens(length), sixteens(count), sixteens(block)
        x_n, x_c, x_l = sixteens(x_n), sixteens(x_c), 1
        o_n, o_c, o_l = sixteens(o_n), sixteens(o_c), 1
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    kept = c < channels
    if GIVEN:
        mean = tl.load(means_ptr + c, kept, other=0.0).to(wide)
        var = tl.load(squares_ptr + c, kept, other=0.0).to(wide)
    else:
        k = tl.arange(0, SHARES)[:, None]
        mask = (k < shares) & kept[None, :]
        number = tl.where(k < shares, tl.minimum(count - k * share, share), 0).to(wide)
        means = tl.load(means_ptr + k * channels + c[None, :], mask, other=0.0)
        squares = tl.load(squares_ptr + k * channels + c[None, :], mask, other=0.0)
        origin = tl.load(means_ptr + c, kept, other=0.0)  # of the first share, which all threads round alike
        offset = tl.sum(tl.where(mask, means - origin[None, :], 0.0) * number, 0) / count
        plain = tl.sum(tl.where(mask, means, 0.0) * number, 0) / count  # of infinite ones
        mean = tl.where(offset == offset, origin + offset, plain)
        apart = tl.where(mask, means - mean[None, :], 0.0)
        var = (tl.sum(squares, 0) + tl.sum(apart * apart * number, 0)) / count
    rstd = 1.0 / tl.sqrt(var + eps)
    if tl.program_id(1) == 0:
        tl.store(mean_ptr + c, mean, kept)
        tl.store(var_ptr + c, var, kept)
        tl.store(rstd_ptr + c, rstd, kept)
    scale = rstd
    if WEIGHT:
        scale = scale * tl.load(weight_ptr + c, kept, other=0.0).to(wide)
    shift = tl.zeros([COLUMNS], wide)
    if BIAS:
        shift = tl.load(bias_ptr + c, kept, other=0.0).to(wide)
    first = tl.program_id(1) * block
    for start in range(0, block, ROWS):
        j = first + start + tl.arange(0, ROWS)
        inside = ((j < count) & (j < first + block))[:, None] & kept[None, :]
        n = (j // length).to(tl.int64)
        l = j % length
        x = tl.load(x_ptr + (n * x_n + l * x_l)[:, None] + c.to(tl.int64)[None, :] * x_c, inside, other=0.0).to(wide)
        result = (x - mean[None, :]) * scale[None, :] + shift[None, :]
        place = (n * o_n + l * o_l)[:, None] + c.to(tl.int64)[None, :] * o_c
        tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), inside)


def channel_slopes(
    sum_ptr, dot_ptr, g_ptr, x_ptr, mean_ptr, rstd_ptr, count, share, channels, length, g_n, g_c, g_l, x_n, x_c, x_l,
    UNIT: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Of `share` positions of each channel: the sum of g, and of g times the normalized x. Program (channels, share)."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    if UNIT == 1:
        channels = sixteens(channels)
        g_n, g_c, g_l = sixteens(g_n), 1, sixteens(g_l)
        x_n, x_c, x_l = sixteens(x_n), 1, sixteens(x_l)
    if UNIT == 2:
        length, count, share = sixteens(length), sixteens(count), sixteens(share)
        g_n, g_c, g_l = sixteens(g_n), sixteens(g_c), 1
        x_n, x_c, x_l = sixteens(x_n), sixteens(x_c), 1
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    first = tl.program_id(1) * share
    mean = tl.load(mean_ptr + c, c < channels, other=0.0).to(wide)[None, :]
    rstd = tl.load(rstd_ptr + c, c < channels, other=0.0).to(wide)[None, :]
    total = tl.zeros([ROWS, COLUMNS], wide)
    dots = tl.zeros([ROWS, COLUMNS], wide)
    for start in range(0, share, ROWS):
        j = first + start + tl.arange(0, ROWS)
        mask = ((j < count) & (j < first + share))[:, None] & (c < channels)[None, :]
        n = (j // length).to(tl.int64)
        l = j % length
        g = tl.load(g_ptr + (n * g_n + l * g_l)[:, None] + c.to(tl.int64)[None, :] * g_c, mask, other=0.0).to(wide)
        x = tl.load(x_ptr + (n * x_n + l * x_l)[:, None] + c.to(tl.int64)[None, :] * x_c, mask, other=0.0).to(wide)
        total += g
        dots += tl.where(mask, g * ((x - mean) * rstd), 0.0)
    at = tl.program_id(1) * channels + c
    tl.store(sum_ptr + at, tl.sum(total, 0), c < channels)
    tl.store(dot_ptr + at, tl.sum(dots, 0), c < channels)


def channel_norm_gradient(
    out_ptr, g_weight_ptr, g_bias_ptr, g_ptr, x_ptr, mean_ptr, rstd_ptr, weight_ptr, sums_ptr, dots_ptr, count, shares, block,
    channels, length, g_n, g_c, g_l, x_n, x_c, x_l, o_n, o_c, o_l, WEIGHT: tl.constexpr, TRAINING: tl.constexpr,
    UNIT: tl.constexpr, DOUBLE: tl.constexpr, SHARES: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """(g - mean(g) - y mean(g y)) rstd weight with y the normalized x; without TRAINING the statistics do not depend on x."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    if UNIT == 1:
        channels = sixteens(channels)
        g_n, g_c, g_l = sixteens(g_n), 1, sixteens(g_l)
        x_n, x_c, x_l = sixteens(x_n), 1, sixteens(x_l)
        o_n, o_c, o_l = sixteens(o_n), 1, sixteens(o_l)
    if UNIT == 2:
        length, count, block = sixteens(length), sixteens(count), sixteens(block)
        g_n, g_c, g_l = sixteens(g_n), sixteens(g_c), 1
        x_n, x_c, x_l = sixteens(x_n), sixteens(x_c), 1
        o_n, o_c, o_l = sixteens(o_n), sixteens(o_c), 1
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    kept = c < channels
    k = tl.arange(0, SHARES)[:, None]
    mask = (k < shares) & kept[None, :]
    total = tl.sum(tl.load(sums_ptr + k * channels + c[None, :], mask, other=0.0), 0)
    dots = tl.sum(tl.load(dots_ptr + k * channels + c[None, :], mask, other=0.0), 0)
    if tl.program_id(1) == 0:
        tl.store(g_weight_ptr + c, dots, kept)
        tl.store(g_bias_ptr + c, total, kept)
    mean = tl.load(mean_ptr + c, kept, other=0.0).to(wide)[None, :]
    rstd = tl.load(rstd_ptr + c, kept, other=0.0).to(wide)[None, :]
    scale = rstd
    if WEIGHT:
        scale = scale * tl.load(weight_ptr + c, kept, other=0.0).to(wide)[None, :]
    first = tl.program_id(1) * block
    for start in range(0, block, ROWS):
        j = first + start + tl.arange(0, ROWS)
        inside = ((j < count) & (j < first + block))[:, None] & kept[None, :]
        n = (j // length).to(tl.int64)
        l = j % length
        g = tl.load(g_ptr + (n * g_n + l * g_l)[:, None] + c.to(tl.int64)[None, :] * g_c, inside, other=0.0).to(wide)
        if TRAINING:
            x = tl.load(x_ptr + (n * x_n + l * x_l)[:, None] + c.to(tl.int64)[None, :] * x_c, inside, other=0.0).to(wide)
            g = g - (total / count)[None, :] - ((x - mean) * rstd) * (dots / count)[None, :]
        place = (n * o_n + l * o_l)[:, None] + c.to(tl.int64)[None, :] * o_c
        tl.store(out_ptr + place, (g * scale).to(out_ptr.dtype.element_ty), inside)


def follow_statistics(
    mean_ptr, var_ptr, new_mean_ptr, new_var_ptr, channels, momentum, unbias, MEAN: tl.constexpr, VAR: tl.constexpr,
    DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Running statistics go a part of the way to a batch's: its mean, and its variance times `unbias`."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = c < channels
    if MEAN:
        old = tl.load(mean_ptr + c, kept, other=0.0).to(wide)
        new = tl.load(new_mean_ptr + c, kept, other=0.0).to(wide)
        tl.store(mean_ptr + c, (old * (1.0 - momentum) + new * momentum).to(mean_ptr.dtype.element_ty), kept)
    if VAR:
        old = tl.load(var_ptr + c, kept, other=0.0).to(wide)
        new = tl.load(new_var_ptr + c, kept, other=0.0).to(wide) * unbias
        tl.store(var_ptr + c, (old * (1.0 - momentum) + new * momentum).to(var_ptr.dtype.element_ty), kept)
