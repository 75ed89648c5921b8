"""Convolution as a product of matrices whose left one is never made: its elements are read from the planes as they are needed.

Planes have three dimensions, of which those that a convolution lacks have size 1. Positions of the result are rows, its channels
columns; the sum goes over channels and taps of the window. Steps, paddings and the window are constants of the machine code.
Of a transpose with steps, results whose places leave the same rest by the step meet the same taps, a few of all: a program has
results of one rest, and goes over these taps alone. Taps of a rest stand STEP apart, from one that INVERSE finds: k times the
dilation is to leave that rest, which has an answer where COMMON, the divisor of dilation and step, divides it.

Source: Chetlur et al., "cuDNN: Efficient primitives for deep learning", 2014, section 3 (the implicit product).
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.hints import sixteens
from tenfold.cuda.kernels.programs.tiles import tile_count, tile_of


@triton.jit
def taps_of(rest, P: tl.constexpr, K: tl.constexpr, COMMON: tl.constexpr, INVERSE: tl.constexpr, STEP: tl.constexpr):
    """(the first tap, the taps) that results with this rest meet along a dimension; STEP is that from tap to tap."""
    due = rest + P
    first = (due // COMMON) % STEP * INVERSE % STEP
    count = tl.maximum(0, (K - first + STEP - 1) // STEP)
    return first, tl.where(due % COMMON == 0, count, 0)


def correlate(
    out_ptr, x_ptr, w_ptr, bias_ptr, positions, inputs, outputs, x_depth, x_height, x_width, o_depth, o_height, o_width,
    x_n, x_c, x_d, x_h, x_w, o_n, o_c, o_d, o_h, o_w, w_o, w_i, w_d, w_h, w_w,
    BIAS: tl.constexpr, TRANSPOSED: tl.constexpr, FLAT: tl.constexpr, UNIT: tl.constexpr, UNIT_W: tl.constexpr,
    LAST: tl.constexpr, ALIGNED: tl.constexpr, PRECISION: tl.constexpr,
    KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, SD: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr,
    PD: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, DD: tl.constexpr, DH: tl.constexpr, DW: tl.constexpr,
    CD: tl.constexpr, CH: tl.constexpr, CW: tl.constexpr, ID: tl.constexpr, IH: tl.constexpr, IW: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr,
):  # fmt: skip
    """Correlation of planes with windows, or (TRANSPOSED) its transpose.

    Programs are tiles of positions, for each tile of channels, for each group.

    C are COMMON and I INVERSE of the three dimensions; `positions` are those of one rest where there are several.

    FLAT: the sum runs over channels and taps at once, for few channels; else over channels, tap by tap. UNIT and LAST: channels
    of x and of the result are neighbours in memory; UNIT_W: of the windows those that are summed over (1), or the result's (2).
    ALIGNED: all else lies at multiples of 16 elements.
    """
    RESTS: tl.constexpr = SD * SH * SW if TRANSPOSED else 1
    TAPS: tl.constexpr = KD * KH * KW
    wide: tl.constexpr = tl.float64 if x_ptr.dtype.element_ty == tl.float64 else tl.float32
    block, column = tile_of(tile_count(positions, ROWS) * RESTS)
    m = (block // RESTS) * ROWS + tl.arange(0, ROWS)
    columns = tile_count(outputs, COLUMNS)
    o = column % columns * COLUMNS + tl.arange(0, COLUMNS)
    group = column // columns
    if ALIGNED:
        inputs, outputs = sixteens(inputs), sixteens(outputs)
        x_n, x_d, x_h, x_w = sixteens(x_n), sixteens(x_d), sixteens(x_h), sixteens(x_w)
        o_n, o_d, o_h, o_w = sixteens(o_n), sixteens(o_d), sixteens(o_h), sixteens(o_w)
        w_d, w_h, w_w = sixteens(w_d), sixteens(w_h), sixteens(w_w)
        if UNIT_W != 1:
            w_i = sixteens(w_i)
        if UNIT_W != 2:
            w_o = sixteens(w_o)
    step = 1 if UNIT else x_c
    step_w = 1 if UNIT_W == 1 else w_i
    if UNIT_W == 2:
        w_o = 1
    step_o = 1 if LAST else o_c
    inside = m < positions
    if RESTS > 1:
        part = block % RESTS  # neighbours in memory are made at the same time
        d_rest = part // (SH * SW)
        h_rest = part // SW % SH
        w_rest = part % SW
        first_d, taps_d = taps_of(d_rest, PD, KD, CD, ID, SD // CD)
        first_h, taps_h = taps_of(h_rest, PH, KH, CH, IH, SH // CH)
        first_w, taps_w = taps_of(w_rest, PW, KW, CW, IW, SW // CW)
        taps = taps_d * taps_h * taps_w
        n_w = (o_width + SW - 1) // SW
        n_h = (o_height + SH - 1) // SH
        n_d = (o_depth + SD - 1) // SD
        rest = m // n_w
        w = m % n_w * SW + w_rest
        h = rest % n_h * SH + h_rest
        rest = rest // n_h
        d = rest % n_d * SD + d_rest
        n = (rest // n_d).to(tl.int64)
        inside = inside & (d < o_depth) & (h < o_height) & (w < o_width)
        across = tl.maximum(taps_w, 1)
        plane = tl.maximum(taps_h * taps_w, 1)
    else:
        taps = TAPS
        w = m % o_width
        rest = m // o_width
        h = rest % o_height
        rest = rest // o_height
        d = rest % o_depth
        n = (rest // o_depth).to(tl.int64)
    x_ptr += group.to(tl.int64) * inputs * step
    w_ptr += (group.to(tl.int64) * outputs + 0) * w_o if not TRANSPOSED else group.to(tl.int64) * inputs * step_w
    base = x_ptr + n * x_n
    total = tl.zeros([ROWS, COLUMNS], wide)
    steps = (inputs * taps + INNER - 1) // INNER if FLAT else taps * ((inputs + INNER - 1) // INNER)
    for at in range(steps):
        if FLAT:
            k = at * INNER + tl.arange(0, INNER)
            c = k // taps
            tap = k % taps
        else:
            blocks = (inputs + INNER - 1) // INNER
            c = (at % blocks) * INNER + tl.arange(0, INNER)
            tap = (at // blocks) + 0 * tl.arange(0, INNER)
        if RESTS > 1:
            kd = first_d + tap // plane * (SD // CD)
            kh = first_h + tap // across % tl.maximum(taps_h, 1) * (SH // CH)
            kw = first_w + tap % across * (SW // CW)
        else:
            kd = tap // (KH * KW)
            kh = (tap // KW) % KH
            kw = tap % KW
        if TRANSPOSED:
            td = d[:, None] + PD - kd[None, :] * DD
            th = h[:, None] + PH - kh[None, :] * DH
            tw = w[:, None] + PW - kw[None, :] * DW
            sd = td // SD
            sh = th // SH
            sw = tw // SW
            seen = (td >= 0) & (sd < x_depth) & (th >= 0) & (sh < x_height) & (tw >= 0) & (sw < x_width)
        else:
            sd = d[:, None] * SD + kd[None, :] * DD - PD
            sh = h[:, None] * SH + kh[None, :] * DH - PH
            sw = w[:, None] * SW + kw[None, :] * DW - PW
            seen = (sd >= 0) & (sd < x_depth) & (sh >= 0) & (sh < x_height) & (sw >= 0) & (sw < x_width)
        kept = c < inputs
        place = sd * x_d + sh * x_h + sw * x_w + c[None, :] * step
        a = tl.load(base[:, None] + place, seen & inside[:, None] & kept[None, :], other=0.0)
        window = c * step_w + kd * w_d + kh * w_h + kw * w_w
        b = tl.load(w_ptr + window[:, None] + o[None, :] * w_o, kept[:, None] & (o < outputs)[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision=PRECISION, out_dtype=wide)
    if BIAS:
        total += tl.load(bias_ptr + group * outputs + o, o < outputs, other=0.0).to(wide)[None, :]
    out = out_ptr + (n * o_n + d * o_d + h * o_h + w * o_w)[:, None] + (group * outputs + o)[None, :].to(tl.int64) * step_o
    tl.store(out, total.to(out_ptr.dtype.element_ty), inside[:, None] & (o < outputs)[None, :])


def correlate_windows(
    out_ptr, g_ptr, x_ptr, positions, share, inputs, outputs, x_depth, x_height, x_width, g_depth, g_height, g_width,
    g_n, g_c, g_d, g_h, g_w, x_n, x_c, x_d, x_h, x_w, part, UNIT: tl.constexpr, ALIGNED: tl.constexpr,
    PRECISION: tl.constexpr, KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, SD: tl.constexpr, SH: tl.constexpr,
    SW: tl.constexpr, PD: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, DD: tl.constexpr, DH: tl.constexpr,
    DW: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr,
):  # fmt: skip
    """The windows' gradient: sums over `share` positions of g times what its window saw of x; program (tile and group, share)."""
    TAPS: tl.constexpr = KD * KH * KW
    wide: tl.constexpr = tl.float64 if x_ptr.dtype.element_ty == tl.float64 else tl.float32
    if ALIGNED:
        inputs, outputs = sixteens(inputs), sixteens(outputs)
        g_n, g_d, g_h, g_w = sixteens(g_n), sixteens(g_d), sixteens(g_h), sixteens(g_w)
        x_n, x_d, x_h, x_w = sixteens(x_n), sixteens(x_d), sixteens(x_h), sixteens(x_w)
    if UNIT:
        g_c = 1
    columns = inputs * TAPS
    across = tile_count(columns, COLUMNS)
    block, group = tile_of(tile_count(outputs, ROWS) * across)
    o = (block // across) * ROWS + tl.arange(0, ROWS)
    k = (block % across) * COLUMNS + tl.arange(0, COLUMNS)
    first = tl.program_id(1) * share
    c = k // TAPS
    tap = k % TAPS
    kd = tap // (KH * KW)
    kh = (tap // KW) % KH
    kw = tap % KW
    g_ptr += group.to(tl.int64) * outputs * g_c
    x_ptr += group.to(tl.int64) * inputs * x_c
    total = tl.zeros([ROWS, COLUMNS], wide)
    for start in range(0, share, INNER):
        m = first + start + tl.arange(0, INNER)
        inside = (m < positions) & (m < first + share)
        w = m % g_width
        rest = m // g_width
        h = rest % g_height
        rest = rest // g_height
        d = rest % g_depth
        n = (rest // g_depth).to(tl.int64)
        row = g_ptr + n * g_n + d * g_d + h * g_h + w * g_w
        a = tl.load(row[None, :] + o[:, None] * g_c, inside[None, :] & (o < outputs)[:, None], other=0.0)
        sd = d[:, None] * SD + kd[None, :] * DD - PD
        sh = h[:, None] * SH + kh[None, :] * DH - PH
        sw = w[:, None] * SW + kw[None, :] * DW - PW
        seen = (sd >= 0) & (sd < x_depth) & (sh >= 0) & (sh < x_height) & (sw >= 0) & (sw < x_width)
        place = (x_ptr + n * x_n)[:, None] + (sd * x_d + sh * x_h + sw * x_w + c[None, :] * x_c)
        b = tl.load(place, seen & inside[:, None] & (k < columns)[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision=PRECISION, out_dtype=wide)
    out = out_ptr + tl.program_id(1).to(tl.int64) * part + (group * outputs + o)[:, None].to(tl.int64) * columns + k[None, :]
    tl.store(out, total.to(out_ptr.dtype.element_ty), (o < outputs)[:, None] & (k < columns)[None, :])
