"""Resampling, borders, and sliding blocks as columns: every result is read from a few places, by tables or by arithmetic.

Planes have three dimensions, of which those that are lacking have size 1. A program has a block of results, in the order in which
they lie in memory. LAST: channels are the last dimension in memory.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.pools import position


@triton.jit
def term(places_ptr, weights_ptr, at, tap, size, i, mask, WEIGHTS: tl.constexpr):
    """(place, weight) of a tap of results i along a dimension whose table begins at `at`; the place -1 is none."""
    entry = at + tap * size + i
    place = tl.load(places_ptr + entry, mask, other=-1)
    weight = 1.0
    if WEIGHTS:
        weight = tl.load(weights_ptr + entry, mask, other=0.0)
    return place, weight


def sums_of_places(
    out_ptr, x_ptr, places_ptr, weights_ptr, count, channels, o_depth, o_height, o_width, x_n, x_c, x_d, x_h, x_w,
    at_h, at_w, taps_d, taps_h, taps_w, bits, WEIGHTS: tl.constexpr, KIND: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Each result is the sum over the taps of each dimension of an element times the dimensions' weights.

    KIND 0, 1: in float32, float64; 2: bytes, by whole weights with `bits` bits behind the point; 3: elements are copied.
    """
    wide: tl.constexpr = tl.float64 if KIND == 1 else tl.int32 if KIND == 2 else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    n, c, d, h, w = position(i, channels, o_depth, o_height, o_width, LAST)
    base = x_ptr + n.to(tl.int64) * x_n + c.to(tl.int64) * x_c
    if KIND == 3:
        sd, _ = term(places_ptr, weights_ptr, 0, 0, o_depth, d, mask, 0)
        sh, _ = term(places_ptr, weights_ptr, at_h, 0, o_height, h, mask, 0)
        sw, _ = term(places_ptr, weights_ptr, at_w, 0, o_width, w, mask, 0)
        tl.store(out_ptr + i, tl.load(base + (sd * x_d + sh * x_h + sw * x_w), mask), mask)
    else:
        total = tl.zeros([BLOCK], wide)
        for td in range(taps_d):
            sd, by_d = term(places_ptr, weights_ptr, 0, td, o_depth, d, mask, WEIGHTS)
            for th in range(taps_h):
                sh, by_h = term(places_ptr, weights_ptr, at_h, th, o_height, h, mask, WEIGHTS)
                for tw in range(taps_w):
                    sw, by_w = term(places_ptr, weights_ptr, at_w, tw, o_width, w, mask, WEIGHTS)
                    seen = (sd >= 0) & (sh >= 0) & (sw >= 0)
                    x = tl.load(base + (sd * x_d + sh * x_h + sw * x_w), seen, other=0).to(wide)
                    if WEIGHTS:
                        x = x * (by_d * by_h * by_w)
                    total += tl.where(seen, x, 0)
        if KIND == 2:
            total = tl.minimum(tl.maximum((total + ((1 << bits) >> 1)) >> bits, 0), 255)
        tl.store(out_ptr + i, total.to(out_ptr.dtype.element_ty), mask)


def with_border(
    out_ptr, x_ptr, count, channels, x_depth, x_height, x_width, o_depth, o_height, o_width, x_n, x_c, x_d, x_h, x_w,
    before_d, before_h, before_w, value, LAST: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The planes with a border before and behind them of a value, given as bits; what a negative width leaves out is cropped."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    n, c, d, h, w = position(i, channels, o_depth, o_height, o_width, LAST)
    d = d - before_d
    h = h - before_h
    w = w - before_w
    seen = mask & (d >= 0) & (d < x_depth) & (h >= 0) & (h < x_height) & (w >= 0) & (w < x_width)
    x = tl.load(x_ptr + (n * x_n + c * x_c + d * x_d + h * x_h + w * x_w), seen, other=0)
    tl.store(out_ptr + i, tl.where(seen, x, value.to(x.dtype)), mask)


def columns_of_blocks(
    out_ptr, x_ptr, count, channels, x_depth, x_height, x_width, o_depth, o_height, o_width, x_n, x_c, x_d, x_h, x_w,
    KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, SD: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr,
    PD: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, DD: tl.constexpr, DH: tl.constexpr, DW: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """(N, C taps, positions): what each tap of a window sees at each of its positions, 0 outside of the planes."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    n, row, d, h, w = position(i, channels * (KD * KH * KW), o_depth, o_height, o_width, 0)
    c = row // (KD * KH * KW)
    d = d * SD + row // (KH * KW) % KD * DD - PD
    h = h * SH + row // KW % KH * DH - PH
    w = w * SW + row % KW * DW - PW
    seen = mask & (d >= 0) & (d < x_depth) & (h >= 0) & (h < x_height) & (w >= 0) & (w < x_width)
    x = tl.load(x_ptr + n.to(tl.int64) * x_n + (c * x_c + d * x_d + h * x_h + w * x_w), seen, other=0)
    tl.store(out_ptr + i, x, mask)


def blocks_of_columns(
    out_ptr, x_ptr, count, channels, x_depth, x_height, x_width, o_depth, o_height, o_width, x_n, x_row, x_l,
    DOUBLE: tl.constexpr, KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, SD: tl.constexpr, SH: tl.constexpr,
    SW: tl.constexpr, PD: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, DD: tl.constexpr, DH: tl.constexpr,
    DW: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The transpose of `columns_of_blocks`: each element is the sum of what windows saw of it; x sizes are the positions'."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    n, c, d, h, w = position(i, channels, o_depth, o_height, o_width, 0)
    base = x_ptr + n.to(tl.int64) * x_n
    total = tl.zeros([BLOCK], wide)
    for tap in range(KD * KH * KW):
        td = d + PD - tap // (KH * KW) * DD
        th = h + PH - tap // KW % KH * DH
        tw = w + PW - tap % KW * DW
        sd = td // SD
        sh = th // SH
        sw = tw // SW
        seen = mask & (td >= 0) & (td % SD == 0) & (sd < x_depth) & (th >= 0) & (th % SH == 0) & (sh < x_height)
        seen = seen & (tw >= 0) & (tw % SW == 0) & (sw < x_width)
        place = (c * (KD * KH * KW) + tap).to(tl.int64) * x_row + ((sd * x_height + sh) * x_width + sw) * x_l
        total += tl.load(base + place, seen, other=0.0).to(wide)
    tl.store(out_ptr + i, total.to(out_ptr.dtype.element_ty), mask)
