"""What a reduction makes of elements: what is taken of one, what a lane has before the first, and how two become one.

The kernels that fold a tile (reductions.py, scans.py, scaling.py) say here which MAP and which FOLD; reductions.py lists them.

Sources: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979; Milakov and
Gimelshein, "Online normalizer calculation for softmax", 2018.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.library import math


@triton.jit
def root_of(x):
    """The square root, rounded as it should be: which needs a name of its own in float32."""
    if x.dtype == tl.float32:
        root = tl.sqrt_rn(x)
    else:
        root = tl.sqrt(x)
    return root


@triton.jit
def mapped(x, power, MAP: tl.constexpr):
    """What is taken of an element."""
    if MAP == "size":
        x = tl.abs(x)
    if MAP == "square":
        x = x * x
    if MAP == "cube":
        x = tl.abs(x) * x * x
    if MAP == "root":
        x = root_of(tl.abs(x))
    if MAP == "power":
        x = tl.exp2(tl.log2(tl.abs(x)) * power)
    if MAP == "known":
        x = tl.where(x == x, x, 0.0)
    if MAP == "1 for 0":
        x = tl.where(x == 0, 1.0, x)
    return x


@triton.jit
def taken(
    x, y, inside, power, MAP: tl.constexpr, PAIRED: tl.constexpr, TWOFOLD: tl.constexpr, REAL: tl.constexpr, DOUBLE: tl.constexpr
):
    """What is taken of the elements of a tile; y: the imaginary parts, where PAIRED says that there are such."""
    if MAP == "other than 0" and PAIRED:
        x = ((x != 0) | (y != 0)).to(REAL)
    elif MAP == "other than 0":
        x = (x != 0).to(REAL)
    elif PAIRED and not TWOFOLD:
        x = mapped(math.hypot(x.to(REAL), y.to(REAL)), power, MAP)
    elif MAP == "numbers":
        x = (inside & (x == x)).to(REAL)
    elif MAP == "zeros and no numbers":
        x = x.to(tl.float64 if DOUBLE else tl.float32)
        x = tl.where(inside & (x == 0), 1, tl.where(x - x == 0, 0, 0x100000000)).to(REAL)
    else:
        x = mapped(x.to(REAL), power, MAP)
    return x


@triton.jit
def ordered(x, LEAST: tl.constexpr, AT: tl.constexpr, FROM_ZERO: tl.constexpr):
    """A whole number that is as large as x is among its kind (LEAST: as small), NaN the largest; FROM_ZERO: uint64."""
    if x.dtype.is_floating():
        if AT:
            x = tl.where(x == 0, 0.0, x)  # of 0 and -0 the first one
        if x.dtype == tl.float64:
            bits = x.to(tl.int64, bitcast=True)
            key = bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)
            most = 0x7FFFFFFFFFFFFFFF
        else:
            bits = x.to(tl.int32, bitcast=True)
            key = bits ^ ((bits >> 31) & 0x7FFFFFFF)
            most = 0x7FFFFFFF
        key = tl.where(x == x, ~key if LEAST else key, most)
    else:
        key = x
        if FROM_ZERO:
            key = key ^ (-0x8000000000000000)
        if LEAST:
            key = ~key
    return key


@triton.jit
def disordered(key, wide: tl.constexpr, LEAST: tl.constexpr, FROM_ZERO: tl.constexpr):
    """What `ordered` made a whole number of."""
    if wide.is_floating():
        most = 0x7FFFFFFFFFFFFFFF if wide == tl.float64 else 0x7FFFFFFF
        bits = tl.where(key == most, key, ~key) if LEAST else key  # the largest is NaN either way
        if wide == tl.float64:
            bits = bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)
        else:
            bits = bits ^ ((bits >> 31) & 0x7FFFFFFF)
        x = bits.to(wide, bitcast=True)
    else:
        x = ~key if LEAST else key
        if FROM_ZERO:
            x = x ^ (-0x8000000000000000)
    return x


@triton.jit
def level_of(top):
    """What exponents are taken relative to: 0 where the largest is infinite."""
    return tl.where(tl.abs(top) == float("inf"), 0.0, top)


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def multiply_pairs(a, b, c, d):
    """(a + ib) (c + id)."""
    return a * c - b * d, a * d + b * c


@triton.jit
def before_all(START: tl.constexpr, SECOND: tl.constexpr, FOLD: tl.constexpr, AT: tl.constexpr, LANE: tl.constexpr,
               INDEX: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    """(a, b, c) of lanes that have folded nothing yet; what a FOLD has no use for is a."""
    a = tl.full([ROWS, BLOCK], START, LANE)
    b = a
    c = a
    if AT:
        b = tl.full([ROWS, BLOCK], SECOND, INDEX)
    elif FOLD != "range":
        b = tl.full([ROWS, BLOCK], SECOND, LANE)
    if FOLD == "moments":
        c = tl.zeros([1, BLOCK], LANE)
    return a, b, c


@triton.jit
def folded(  # noqa: C901 - all folds
    a, b, c, x, y, j, held, inside, MAP: tl.constexpr, FOLD: tl.constexpr, LEAST: tl.constexpr, AT: tl.constexpr,
    FROM_ZERO: tl.constexpr, LANE: tl.constexpr, NONE: tl.constexpr, ONCE: tl.constexpr,
):  # fmt: skip
    """(a, b, c) of the lanes with one further element each: x (and iy) at position j, where `inside` says that it exists."""
    if FOLD == "sum":
        if MAP == "power":
            x = tl.where(inside, x, 0.0)
        a += x.to(LANE)
    if FOLD == "complex sum":
        a += x.to(LANE)
        b += y.to(LANE)
    if FOLD == "complex product":
        a, b = multiply_pairs(a, b, tl.where(inside, x, 1.0).to(LANE), y.to(LANE))
    elif FOLD == "product":
        a *= tl.where(inside, x, 1).to(LANE)
    if FOLD == "top":
        key = ordered(x, LEAST, AT, FROM_ZERO)
        if ONCE:
            better = inside
        elif AT:
            better = inside & ((key > a) | (b == NONE))
        else:
            better = inside & (key > a)
        if AT:
            b = tl.where(better, j[None, :], b)
        a = tl.where(better, key, a)
    if FOLD == "range":
        key = ordered(x, 1, AT, FROM_ZERO)
        a = tl.where(inside & (key > a), key, a)
        key = ordered(x, 0, AT, FROM_ZERO)
        b = tl.where(inside & (key > b), key, b)
    if FOLD == "moments" and ONCE:
        c = held[None, :].to(LANE)
        a = tl.where(inside, x, 0.0)
    elif FOLD == "moments":
        c += held[None, :].to(LANE)
        apart = x - a
        a = tl.where(inside, a + apart / c, a)
        b = tl.where(inside, b + apart * (x - a), b)
    if FOLD == "powers" and ONCE:
        a = tl.where(inside, x, float("-inf"))
        b = tl.full(a.shape, 1.0, LANE)
    elif FOLD == "powers":
        x = tl.where(inside, x, float("-inf"))
        top = tl.where(x > a, x, a)
        level = level_of(top)
        b = b * tl.exp(a - level) + tl.exp(x - level)
        a = top
    return a, b, c


@triton.jit
def gathered(a, b, c, FOLD: tl.constexpr, AT: tl.constexpr, total: tl.constexpr, NONE: tl.constexpr):
    """The second dimension folded: (a, b, c) of each row."""
    if FOLD == "sum":
        a = tl.sum(a.to(total), 1)
    if FOLD == "complex sum":
        a = tl.sum(a, 1)
        b = tl.sum(b, 1)
    if FOLD == "complex product":
        a, b = tl.reduce((a, b), 1, multiply_pairs)
    if FOLD == "product":
        a = tl.reduce(a, 1, multiply)
    if FOLD == "top":
        most = tl.max(a, 1)
        if AT:
            b = tl.min(tl.where(a == most[:, None], b, NONE), 1)
        a = most
    if FOLD == "range":
        a = tl.max(a, 1)
        b = tl.max(b, 1)
    if FOLD == "moments":
        number = tl.sum(c, 1)
        share = c / number[:, None]
        first = tl.sum(tl.where(tl.arange(0, a.shape[1])[None, :] == 0, a, 0.0), 1)  # of equal numbers the mean is just that
        mean = first + tl.sum((a - first[:, None]) * share, 1)
        apart = a - mean[:, None]
        b = tl.sum(tl.where(c > 0, b + apart * apart * c, 0.0), 1)
        a = mean
        c = number
    if FOLD == "powers":
        top = tl.max(a, 1)
        b = tl.sum(b * tl.exp(a - level_of(top)[:, None]), 1)
        a = top
    return a, b, c
