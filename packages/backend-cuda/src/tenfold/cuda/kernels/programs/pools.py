"""Pooling: a program has a block of results, in the order in which they lie in memory, and looks at each one's window.

Planes have three dimensions, of which those that are lacking have size 1. LAST: channels are the last dimension in memory.
DOUBLE 0, 1, 2: computed in float32, float64, int64.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl


@triton.jit
def position(i, channels, depth, height, width, LAST: tl.constexpr):
    """(sample, channel, depth, height, width) of the results' i-th elements in memory."""
    c = i % channels
    rest = i // channels if LAST else i
    w = rest % width
    rest = rest // width
    h = rest % height
    rest = rest // height
    d = rest % depth
    n = rest // depth
    if not LAST:
        c = n % channels
        n = n // channels
    return n, c, d, h, w


@triton.jit
def larger(best, where, x_ptr, at, seen):
    """The larger of what was best and a window's next element, and its place: of equals the first one, NaN before all."""
    x = tl.load(x_ptr, seen, other=0).to(best.dtype)
    better = seen & ((where < 0) | (x > best) | (x != x))
    return tl.where(better, x, best), tl.where(better, at, where)


def largest_of_windows(
    out_ptr, index_ptr, x_ptr, count, channels, x_depth, x_height, x_width, o_depth, o_height, o_width, x_n, x_c, x_d, x_h, x_w,
    DOUBLE: tl.constexpr, LAST: tl.constexpr, KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, SD: tl.constexpr,
    SH: tl.constexpr, SW: tl.constexpr, PD: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, DD: tl.constexpr,
    DH: tl.constexpr, DW: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The largest element of each window and its place in the plane; of equals the first one, NaN before all, of NaN the last."""
    wide: tl.constexpr = tl.int64 if DOUBLE == 2 else tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    n, c, d, h, w = position(i, channels, o_depth, o_height, o_width, LAST)
    base = x_ptr + n.to(tl.int64) * x_n + c.to(tl.int64) * x_c
    kind: tl.constexpr = x_ptr.dtype.element_ty
    if kind.is_floating():
        best = tl.full([BLOCK], float("-inf"), wide)
    elif kind.is_int_signed():
        best = tl.full([BLOCK], -(1 << kind.primitive_bitwidth - 1), wide)
    else:
        best = tl.zeros([BLOCK], wide)
    where = tl.full([BLOCK], -1, tl.int32)
    for tap in range(KD * KH * KW):
        sd = d * SD + (tap // (KH * KW)) * DD - PD
        sh = h * SH + (tap // KW % KH) * DH - PH
        sw = w * SW + (tap % KW) * DW - PW
        seen = mask & (sd >= 0) & (sd < x_depth) & (sh >= 0) & (sh < x_height) & (sw >= 0) & (sw < x_width)
        at = (sd * x_height + sh) * x_width + sw
        best, where = larger(best, where, base + (sd * x_d + sh * x_h + sw * x_w), at, seen)
    if DD * DH * DW > 1:  # a window may straddle a short plane and have none of it: its gradient must not go elsewhere
        end = ((d * SD + (KD - 1) * DD - PD) * x_height + h * SH + (KH - 1) * DH - PH) * x_width + w * SW + (KW - 1) * DW - PW
        where = tl.where(where < 0, tl.minimum(tl.maximum(end, 0), x_depth * x_height * x_width - 1), where)
    tl.store(out_ptr + i, best.to(out_ptr.dtype.element_ty), mask)
    tl.store(index_ptr + i, where.to(tl.int64), mask)


def spread_largest(out_ptr, g_ptr, index_ptr, count, outputs, inputs, DOUBLE: tl.constexpr, BLOCK: tl.constexpr):
    """Adds each gradient to the place in its plane that the largest element came from; rows of the arrays are planes."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    g = tl.load(g_ptr + i, mask, other=0.0).to(wide)
    at = tl.load(index_ptr + i, mask, other=0)
    tl.atomic_add(out_ptr + (i // outputs) * inputs + at, g, mask, sem="relaxed")


def means_of_windows(
    out_ptr, x_ptr, count, channels, x_depth, x_height, x_width, o_depth, o_height, o_width, x_n, x_c, x_d, x_h, x_w, divisor,
    GRADIENT: tl.constexpr, PADS: tl.constexpr, DOUBLE: tl.constexpr, LAST: tl.constexpr, KD: tl.constexpr, KH: tl.constexpr,
    KW: tl.constexpr, SD: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr, PD: tl.constexpr, PH: tl.constexpr,
    PW: tl.constexpr, DD: tl.constexpr, DH: tl.constexpr, DW: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The mean of each window; with GRADIENT x are the means' gradients, and the results what of them goes to each element.

    PADS: elements of the padding count. A divisor that is not 0 takes the place of the count.
    """
    wide: tl.constexpr = tl.int64 if DOUBLE == 2 else tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    n, c, d, h, w = position(i, channels, o_depth, o_height, o_width, LAST)
    base = x_ptr + n.to(tl.int64) * x_n + c.to(tl.int64) * x_c
    # The elements are those of the results with GRADIENT, else of x; the windows are those of the other one.
    depth = o_depth if GRADIENT else x_depth
    height = o_height if GRADIENT else x_height
    width = o_width if GRADIENT else x_width
    total = tl.zeros([BLOCK], wide)
    for tap in range(KD * KH * KW):
        kd = tap // (KH * KW)
        kh = tap // KW % KH
        kw = tap % KW
        if GRADIENT:
            td = d + PD - kd
            th = h + PH - kh
            tw = w + PW - kw
            sd = td // SD
            sh = th // SH
            sw = tw // SW
            seen = mask & (td >= 0) & (td % SD == 0) & (sd < x_depth) & (th >= 0) & (th % SH == 0) & (sh < x_height)
            seen = seen & (tw >= 0) & (tw % SW == 0) & (sw < x_width)
            at_d = sd
            at_h = sh
            at_w = sw
        else:
            sd = d * SD + kd - PD
            sh = h * SH + kh - PH
            sw = w * SW + kw - PW
            seen = mask & (sd >= 0) & (sd < x_depth) & (sh >= 0) & (sh < x_height) & (sw >= 0) & (sw < x_width)
            at_d = d
            at_h = h
            at_w = w
        x = tl.load(base + (sd * x_d + sh * x_h + sw * x_w), seen, other=0).to(wide)
        first_d = at_d * SD - PD
        first_h = at_h * SH - PH
        first_w = at_w * SW - PW
        if PADS:
            n_d = tl.minimum(first_d + KD, depth + PD) - first_d
            n_h = tl.minimum(first_h + KH, height + PH) - first_h
            n_w = tl.minimum(first_w + KW, width + PW) - first_w
        else:
            n_d = tl.minimum(first_d + KD, depth) - tl.maximum(first_d, 0)
            n_h = tl.minimum(first_h + KH, height) - tl.maximum(first_h, 0)
            n_w = tl.minimum(first_w + KW, width) - tl.maximum(first_w, 0)
        number = tl.where(divisor != 0, divisor + 0 * n_d, n_d * n_h * n_w).to(wide)
        if DOUBLE == 2:
            total += tl.where(seen, x // number, 0)  # whole numbers are summed: their divisor is 1
        else:
            total += tl.where(seen, x / number, 0.0)
    tl.store(out_ptr + i, total.to(out_ptr.dtype.element_ty), mask)


@triton.jit
def begin_of(k, inputs, outputs, WIDE: tl.constexpr):
    """Where adaptive window k begins: floor(k inputs / outputs)."""
    if WIDE:
        k = k.to(tl.int64)
    return (k * inputs // outputs).to(tl.int32)


@triton.jit
def end_of(k, inputs, outputs, WIDE: tl.constexpr):
    """Where it ends: ceil((k + 1) inputs / outputs)."""
    if WIDE:
        k = k.to(tl.int64)
    return (((k + 1) * inputs + outputs - 1) // outputs).to(tl.int32)


def largest_of_adaptive_windows(
    out_ptr, index_ptr, x_ptr, count, channels, x_depth, x_height, x_width, o_depth, o_height, o_width, x_n, x_c, x_d, x_h, x_w,
    DOUBLE: tl.constexpr, LAST: tl.constexpr, WIDE: tl.constexpr, TAPS_D: tl.constexpr, TAPS_H: tl.constexpr,
    TAPS_W: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """`largest_of_windows` for windows from floor(i x / o) to ceil((i + 1) x / o), of which TAPS is the largest."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    n, c, d, h, w = position(i, channels, o_depth, o_height, o_width, LAST)
    base = x_ptr + n.to(tl.int64) * x_n + c.to(tl.int64) * x_c
    first_d = begin_of(d, x_depth, o_depth, WIDE)
    first_h = begin_of(h, x_height, o_height, WIDE)
    first_w = begin_of(w, x_width, o_width, WIDE)
    end_d = end_of(d, x_depth, o_depth, WIDE)
    end_h = end_of(h, x_height, o_height, WIDE)
    end_w = end_of(w, x_width, o_width, WIDE)
    best = tl.zeros([BLOCK], wide)
    where = tl.full([BLOCK], -1, tl.int32)
    for tap in range(TAPS_D * TAPS_H * TAPS_W):
        sd = first_d + tap // (TAPS_H * TAPS_W)
        sh = first_h + tap // TAPS_W % TAPS_H
        sw = first_w + tap % TAPS_W
        seen = mask & (sd < end_d) & (sh < end_h) & (sw < end_w)
        at = (sd * x_height + sh) * x_width + sw
        best, where = larger(best, where, base + (sd * x_d + sh * x_h + sw * x_w), at, seen)
    tl.store(out_ptr + i, best.to(out_ptr.dtype.element_ty), mask)
    tl.store(index_ptr + i, where.to(tl.int64), mask)


@triton.jit
def fractional_start(o, u, outputs, size, TAPS: tl.constexpr):
    """Where window o begins, of windows that are spread evenly from u on, and the last of which ends at the border."""
    alpha = tl.cast(size - TAPS, tl.float64) / tl.cast(tl.maximum(outputs - 1, 1), tl.float64)
    start = tl.floor((o.to(tl.float64) + u) * alpha) - tl.floor(u * alpha)
    inside = tl.minimum(tl.maximum(start, 0.0), (size - TAPS).to(tl.float64))  # of numbers that are none of [0, 1), too
    return tl.where(o == outputs - 1, size - TAPS, inside.to(tl.int32))


def largest_of_fractional_windows(
    out_ptr, index_ptr, x_ptr, u_ptr, count, channels, x_depth, x_height, x_width, o_depth, o_height, o_width, x_n, x_c, x_d,
    x_h, x_w, DOUBLE: tl.constexpr, LAST: tl.constexpr, TAPS_D: tl.constexpr, TAPS_H: tl.constexpr, TAPS_W: tl.constexpr,
    TWO: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """`largest_of_windows` for windows that begin where a plane's random numbers say; TWO: of the width and of the height."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    n, c, d, h, w = position(i, channels, o_depth, o_height, o_width, LAST)
    base = x_ptr + n.to(tl.int64) * x_n + c.to(tl.int64) * x_c
    of_plane = u_ptr + (n * channels + c) * (2 if TWO else 3)
    first = tl.load(of_plane, mask, other=0.0).to(tl.float64)
    second = tl.load(of_plane + 1, mask, other=0.0).to(tl.float64)
    last = first if TWO else tl.load(of_plane + 2, mask, other=0.0).to(tl.float64)
    first_d = d * 0 if TWO else fractional_start(d, first, o_depth, x_depth, TAPS_D)
    first_h = fractional_start(h, second, o_height, x_height, TAPS_H)
    first_w = fractional_start(w, last, o_width, x_width, TAPS_W)
    best = tl.zeros([BLOCK], wide)
    where = tl.full([BLOCK], -1, tl.int32)
    for tap in range(TAPS_D * TAPS_H * TAPS_W):
        sd = first_d + tap // (TAPS_H * TAPS_W)
        sh = first_h + tap // TAPS_W % TAPS_H
        sw = first_w + tap % TAPS_W
        at = (sd * x_height + sh) * x_width + sw
        best, where = larger(best, where, base + (sd * x_d + sh * x_h + sw * x_w), at, mask)
    tl.store(out_ptr + i, best.to(out_ptr.dtype.element_ty), mask)
    tl.store(index_ptr + i, where.to(tl.int64), mask)


def adaptive_means(
    out_ptr, x_ptr, count, channels, x_depth, x_height, x_width, o_depth, o_height, o_width, x_n, x_c, x_d, x_h, x_w,
    GRADIENT: tl.constexpr, DOUBLE: tl.constexpr, LAST: tl.constexpr, WIDE: tl.constexpr, TAPS_D: tl.constexpr,
    TAPS_H: tl.constexpr, TAPS_W: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Means of windows from floor(i x / o) to ceil((i + 1) x / o), of which TAPS is the largest.

    With GRADIENT x are the means' gradients and its sizes those of the means; TAPS then is in how many windows an element is.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    n, c, d, h, w = position(i, channels, o_depth, o_height, o_width, LAST)
    base = x_ptr + n.to(tl.int64) * x_n + c.to(tl.int64) * x_c
    total = tl.zeros([BLOCK], wide)
    for tap in range(TAPS_D * TAPS_H * TAPS_W):
        # With GRADIENT the first window that may hold an element, else the first element of the window.
        sd = begin_of(d, x_depth, o_depth, WIDE) + tap // (TAPS_H * TAPS_W)
        sh = begin_of(h, x_height, o_height, WIDE) + tap // TAPS_W % TAPS_H
        sw = begin_of(w, x_width, o_width, WIDE) + tap % TAPS_W
        if GRADIENT:
            d_first = begin_of(sd, o_depth, x_depth, WIDE)
            d_end = end_of(sd, o_depth, x_depth, WIDE)
            h_first = begin_of(sh, o_height, x_height, WIDE)
            h_end = end_of(sh, o_height, x_height, WIDE)
            w_first = begin_of(sw, o_width, x_width, WIDE)
            w_end = end_of(sw, o_width, x_width, WIDE)
            seen = (d >= d_first) & (d < d_end) & (h >= h_first) & (h < h_end) & (w >= w_first) & (w < w_end)
        else:
            d_first = begin_of(d, x_depth, o_depth, WIDE)
            d_end = end_of(d, x_depth, o_depth, WIDE)
            h_first = begin_of(h, x_height, o_height, WIDE)
            h_end = end_of(h, x_height, o_height, WIDE)
            w_first = begin_of(w, x_width, o_width, WIDE)
            w_end = end_of(w, x_width, o_width, WIDE)
            seen = (sd < d_end) & (sh < h_end) & (sw < w_end)
        seen = seen & mask & (sd < x_depth) & (sh < x_height) & (sw < x_width)
        x = tl.load(base + (sd * x_d + sh * x_h + sw * x_w), seen, other=0.0).to(wide)
        number = ((d_end - d_first) * (h_end - h_first) * (w_end - w_first)).to(wide)
        total += tl.where(seen, x / number, 0.0)
    tl.store(out_ptr + i, total.to(out_ptr.dtype.element_ty), mask)
