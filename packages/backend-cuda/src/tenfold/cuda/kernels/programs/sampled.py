"""Sampling planes at given places, from -1 to 1, by interpolation, and its gradients.

Planes have three dimensions; of two, the depth has size 1 and one tap. Places are (x, y) or (x, y, z). MODE 0: linear, 1:
nearest, 2: cubic (Keys's kernel with a = -0.75). PADDING 0: zeros, 1: the border goes on, 2: planes are mirrored.
Program (block of places, share of channels).

Source: Jaderberg et al., "Spatial Transformer Networks", 2015, equation 5.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl


@triton.jit
def inside(x, size, PADDING: tl.constexpr, ALIGN: tl.constexpr):
    """(where x is among `size` elements by the padding, the slope of that)."""
    last = (size - 1).to(x.dtype)
    slope = 0 * x + 1
    if PADDING == 2:
        low = 0.0 * last if ALIGN else 0.0 * last - 0.5
        span = last if ALIGN else last + 1
        safe = tl.maximum(span, 1.0)
        distance = tl.abs(x - low)
        flips = tl.floor(distance / safe)
        extra = distance - flips * span
        even = flips - 2 * tl.floor(flips / 2) == 0
        slope = tl.where(even, 1.0, -1.0) * tl.where(x < low, -1.0, 1.0)
        x = tl.where(span > 0, tl.where(even, extra, span - extra) + low, 0.0)
    if PADDING != 0:
        slope = tl.where((x > 0) & (x < last), slope, 0.0)
        x = tl.where(x > 0, tl.where(x < last, x, last), 0.0)  # what is no number is 0
    return x, slope


@triton.jit
def placed(grid_ptr, axis, at, mask, size, MODE: tl.constexpr, PADDING: tl.constexpr, ALIGN: tl.constexpr, DOUBLE: tl.constexpr):
    """(the first tap, how far behind it the place is, the slope of that by what is given)."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    x = tl.load(grid_ptr + at + axis, mask, other=0.0).to(wide)
    room = size.to(wide)
    if ALIGN:
        slope = (room - 1) / 2
        x = (x + 1) * slope
    else:
        slope = room / 2
        x = ((x + 1) * room - 1) / 2
    if MODE != 2:
        if PADDING == 0:
            x = tl.where(tl.abs(x) < 1e9, x, -100.0)  # what is no number, or far away, lies outside and has no slope
        x, folded = inside(x, size, PADDING, ALIGN)
        slope = slope * folded
    if MODE == 1:
        down = tl.floor(x)
        rest = x - down
        odd = down - 2 * tl.floor(down / 2) != 0
        first = tl.where((rest > 0.5) | ((rest == 0.5) & odd), down + 1, down)
    else:
        first = tl.floor(x)
    return first, x - first, slope + 0 * x


@triton.jit
def tapped(first, t, tap, size, MODE: tl.constexpr, PADDING: tl.constexpr, ALIGN: tl.constexpr):
    """(the element, whether there is one, the weight, its slope) of a tap along a dimension."""
    place = first + tap
    weight = 0 * t + 1
    slope = 0 * t
    if MODE == 0:
        weight = 1 - t if tap == 0 else t
        slope = 0 * t - 1 if tap == 0 else 0 * t + 1
    if MODE == 2:
        place = place - 1
        x = t - (tap - 1)
        d = tl.abs(x)
        a = -0.75
        weight = tl.where(d <= 1, ((a + 2) * d - (a + 3)) * d * d + 1, ((d - 5) * d + 8) * d * a - 4 * a)
        weight = tl.where(d >= 2, 0.0, weight)  # nan stays
        slope = tl.where(d <= 1, (3 * (a + 2) * d - 2 * (a + 3)) * d, ((3 * d - 10) * d + 8) * a)
        slope = tl.where(d >= 2, 0.0, slope) * tl.where(x < 0, -1.0, 1.0)
        place, _ = inside(place, size, PADDING, ALIGN)
        place = tl.floor(place + 0.5)
    there = (place >= 0) & (place <= (size - 1).to(place.dtype))
    return tl.where(there, place, 0.0).to(tl.int32), there, weight, slope


def sample_places(
    out_ptr, slope_ptr, x_ptr, grid_ptr, g_ptr, count, places, channels, share, x_depth, x_height, x_width,
    x_n, x_c, x_d, x_h, x_w, g_n, g_c, WHAT: tl.constexpr, DIMENSIONS: tl.constexpr, MODE: tl.constexpr, PADDING: tl.constexpr,
    ALIGN: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """WHAT 0: the values; 1: the planes' gradient, added to `out` (its strides are x's); 2: that of the places, to slope_ptr."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    TAPS: tl.constexpr = 2 if MODE == 0 else 1 if MODE == 1 else 4
    DEEP: tl.constexpr = TAPS if DIMENSIONS == 3 else 1
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    n = (i // places).to(tl.int64)
    p = i % places
    at = i.to(tl.int64) * DIMENSIONS
    first_w, t_w, slope_w = placed(grid_ptr, 0, at, mask, x_width, MODE, PADDING, ALIGN, DOUBLE)
    first_h, t_h, slope_h = placed(grid_ptr, 1, at, mask, x_height, MODE, PADDING, ALIGN, DOUBLE)
    if DIMENSIONS == 3:
        first_d, t_d, slope_d = placed(grid_ptr, 2, at, mask, x_depth, MODE, PADDING, ALIGN, DOUBLE)
    by_d = tl.zeros([BLOCK], wide)
    by_h = tl.zeros([BLOCK], wide)
    by_w = tl.zeros([BLOCK], wide)
    begin = tl.program_id(1) * share
    for c in range(begin, tl.minimum(begin + share, channels)):
        base = n * x_n + c * x_c.to(tl.int64)
        g = tl.load(g_ptr + n * g_n + c * g_c.to(tl.int64) + p, mask & (WHAT != 0), other=0.0).to(wide)
        total = tl.zeros([BLOCK], wide)
        for td in tl.static_range(DEEP):
            if DIMENSIONS == 3:
                d, there_d, weight_d, change_d = tapped(first_d, t_d, td, x_depth, MODE, PADDING, ALIGN)
            else:
                d, there_d, weight_d, change_d = 0 * p, mask, 0 * t_w + 1, 0 * t_w
            for th in tl.static_range(TAPS):
                h, there_h, weight_h, change_h = tapped(first_h, t_h, th, x_height, MODE, PADDING, ALIGN)
                for tw in tl.static_range(TAPS):
                    w, there_w, weight_w, change_w = tapped(first_w, t_w, tw, x_width, MODE, PADDING, ALIGN)
                    seen = mask & there_d & there_h & there_w
                    place = base + (d * x_d + h * x_h + w * x_w)
                    if WHAT == 1:
                        tl.atomic_add(out_ptr + place, g * (weight_d * weight_h * weight_w), seen, sem="relaxed")
                    else:
                        x = tl.load(x_ptr + place, seen, other=0.0).to(wide)
                        if WHAT == 0:
                            total += x * (weight_d * weight_h * weight_w) if MODE != 1 else x
                        else:
                            by_w += g * x * (weight_d * weight_h * change_w)
                            by_h += g * x * (weight_d * change_h * weight_w)
                            by_d += g * x * (change_d * weight_h * weight_w)
        if WHAT == 0:
            tl.store(out_ptr + n * g_n + c * g_c.to(tl.int64) + p, total.to(out_ptr.dtype.element_ty), mask)
    if WHAT == 2:
        tl.store(slope_ptr + at, (by_w * slope_w).to(slope_ptr.dtype.element_ty), mask)
        tl.store(slope_ptr + at + 1, (by_h * slope_h).to(slope_ptr.dtype.element_ty), mask)
        if DIMENSIONS == 3:
            tl.store(slope_ptr + at + 2, (by_d * slope_d).to(slope_ptr.dtype.element_ty), mask)


@triton.jit
def regular(k, size, ALIGN: tl.constexpr, kind: tl.constexpr):
    """The k-th of `size` places that lie evenly between -1 and 1; a single one is 0."""
    room = tl.maximum(size - 1, 1).to(kind)
    x = k.to(kind) * (2 / room) - 1
    if not ALIGN:
        x = x * (room / size.to(kind))
    return tl.where(size > 1, x, 0.0)


def affine_places(
    out_ptr, map_ptr, count, places, height, width, depth, DIMENSIONS: tl.constexpr, ALIGN: tl.constexpr, DOUBLE: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Where the maps of a batch, (DIMENSIONS, DIMENSIONS + 1) each, send the places (x, y) or (x, y, z) of a regular grid."""
    kind: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    sample = i // places
    place = i - sample * places
    row = place // width
    layer = row // height
    x = regular(place - row * width, width, ALIGN, kind)
    y = regular(row - layer * height, height, ALIGN, kind)
    z = regular(layer, depth, ALIGN, kind)
    for axis in tl.static_range(DIMENSIONS):
        at = map_ptr + (sample * DIMENSIONS + axis) * (DIMENSIONS + 1)
        found = tl.load(at, mask, other=0).to(kind) * x + tl.load(at + 1, mask, other=0).to(kind) * y
        if DIMENSIONS == 3:
            found += tl.load(at + 2, mask, other=0).to(kind) * z
        found += tl.load(at + DIMENSIONS, mask, other=0).to(kind)
        tl.store(out_ptr + i * DIMENSIONS + axis, found.to(out_ptr.dtype.element_ty), mask)
