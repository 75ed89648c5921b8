"""Convolution of groups of a few channels, which would leave a matrix unit empty: each result is summed by a thread of its own.

Planes have three dimensions, of which those that a convolution lacks have size 1. LAST: channels are the last dimension in memory
of the result. `inputs` and `outputs` are channels of a group.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl

from tenfold.cuda.kernels.programs.pools import position


def correlate_groups(
    out_ptr, x_ptr, w_ptr, bias_ptr, count, channels, x_depth, x_height, x_width, o_depth, o_height, o_width,
    x_n, x_c, x_d, x_h, x_w, inputs, outputs, w_o, w_i, w_d, w_h, w_w,
    BIAS: tl.constexpr, TRANSPOSED: tl.constexpr, DOUBLE: tl.constexpr, LAST: tl.constexpr,
    KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, SD: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr,
    PD: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, DD: tl.constexpr, DH: tl.constexpr, DW: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Correlation of planes with windows, or (TRANSPOSED) its transpose, for a block of results as they lie in memory."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    n, c, d, h, w = position(i, channels, o_depth, o_height, o_width, LAST)
    group = c // outputs
    base = x_ptr + n.to(tl.int64) * x_n + (group * inputs).to(tl.int64) * x_c
    if TRANSPOSED:
        weight = w_ptr + group * inputs * w_i + c % outputs * w_o
    else:
        weight = w_ptr + c * w_o
    total = tl.zeros([BLOCK], wide)
    for _ in range(inputs):
        for tap in tl.static_range(KD * KH * KW):
            kd = tap // (KH * KW)
            kh = tap // KW % KH
            kw = tap % KW
            if TRANSPOSED:
                td = d + PD - kd * DD
                th = h + PH - kh * DH
                tw = w + PW - kw * DW
                sd = td // SD
                sh = th // SH
                sw = tw // SW
                seen = mask & (td >= 0) & (td % SD == 0) & (sd < x_depth) & (th >= 0) & (th % SH == 0) & (sh < x_height)
                seen = seen & (tw >= 0) & (tw % SW == 0) & (sw < x_width)
            else:
                sd = d * SD + kd * DD - PD
                sh = h * SH + kh * DH - PH
                sw = w * SW + kw * DW - PW
                seen = mask & (sd >= 0) & (sd < x_depth) & (sh >= 0) & (sh < x_height) & (sw >= 0) & (sw < x_width)
            x = tl.load(base + (sd * x_d + sh * x_h + sw * x_w), seen, other=0.0).to(wide)
            factor = tl.load(weight + (kd * w_d + kh * w_h + kw * w_w), mask, other=0.0).to(wide)
            total += tl.where(seen, x * factor, 0.0)  # a weight that is no number is not met outside of the planes
        base += x_c
        weight += w_i
    if BIAS:
        total += tl.load(bias_ptr + c, mask, other=0.0).to(wide)
    tl.store(out_ptr + i, total.to(out_ptr.dtype.element_ty), mask)


def correlate_group_windows(
    out_ptr, g_ptr, x_ptr, positions, share, pairs, inputs, outputs, x_depth, x_height, x_width, g_depth, g_height, g_width,
    g_n, g_c, g_d, g_h, g_w, x_n, x_c, x_d, x_h, x_w, DOUBLE: tl.constexpr,
    KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, SD: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr,
    PD: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, DD: tl.constexpr, DH: tl.constexpr, DW: tl.constexpr,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, TAPS: tl.constexpr,
):  # fmt: skip
    """The windows' gradient: sums over `share` positions of g times what its window saw of x.

    Program (pairs of a channel of g with one of x, share, taps); ROWS positions at a time.
    """
    EACH: tl.constexpr = KD * KH * KW
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    pair = tl.program_id(0) * CHANNELS + tl.arange(0, CHANNELS)[None, :, None]
    tap = tl.program_id(2) * TAPS + tl.arange(0, TAPS)[None, None, :]
    o = pair // inputs
    c = o // outputs * inputs + pair % inputs
    kd = tap // (KH * KW)
    kh = tap // KW % KH
    kw = tap % KW
    used = (pair < pairs) & (tap < EACH)
    first = tl.program_id(1) * share
    total = tl.zeros([ROWS, CHANNELS, TAPS], wide)
    for begin in range(0, share, ROWS):
        m = first + begin + tl.arange(0, ROWS)[:, None, None]
        inside = (m < positions) & (m < first + share)
        w = m % g_width
        rest = m // g_width
        h = rest % g_height
        rest = rest // g_height
        d = rest % g_depth
        n = (rest // g_depth).to(tl.int64)
        g = tl.load(g_ptr + n * g_n + (o * g_c + d * g_d + h * g_h + w * g_w), inside & (pair < pairs), other=0.0).to(wide)
        sd = d * SD + kd * DD - PD
        sh = h * SH + kh * DH - PH
        sw = w * SW + kw * DW - PW
        seen = inside & used & (sd >= 0) & (sd < x_depth) & (sh >= 0) & (sh < x_height) & (sw >= 0) & (sw < x_width)
        x = tl.load(x_ptr + n * x_n + (c * x_c + sd * x_d + sh * x_h + sw * x_w), seen, other=0.0).to(wide)
        total += tl.where(seen, g * x, 0.0)
    place = tl.program_id(1).to(tl.int64) * pairs * EACH + pair * EACH + tap
    found = tl.expand_dims(tl.sum(total, 0), 0)
    tl.store(out_ptr + place, found.to(out_ptr.dtype.element_ty), used)
