"""One kernel for all scans: tiles of lines and of what comes one after the other in them, with what has come before.

Few long lines are divided into parts: a first launch leaves what each part amounts to (TOTALS), a second one scans each part
from what the parts before it amount to. Sums in float32 carry on what rounding left over, so that errors grow with a block's
length and not with a line's.

Source: Knuth, "The Art of Computer Programming", volume 2, 4.2.2, theorem B (what rounding a sum leaves over).
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator, assignment"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.folding import level_of, multiply, multiply_pairs
from tenfold.cuda.kernels.programs.library import math
from tenfold.cuda.kernels.programs.reductions import multiples, place


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def greater(a, i, b, j):
    """The later of equals; NaN is above all."""
    later = (b >= a) | (b != b)
    return tl.where(later, b, a), tl.where(later, j, i)


@triton.jit
def less(a, i, b, j):
    """The later of equals; NaN is below all."""
    later = (b <= a) | (b != b)
    return tl.where(later, b, a), tl.where(later, j, i)


@triton.jit
def add_powers(a, s, b, t):
    """Sums of exponentials s and t relative to the largest exponents a and b."""
    top = tl.where(b > a, b, a)
    level = level_of(top)
    return top, s * tl.exp(a - level) + t * tl.exp(b - level)


@triton.jit
def add_pairs(a, b, c, d):
    return a + c, b + d


@triton.jit
def add_complex_powers(a, i, b, j):
    """log(exp(a + ii) + exp(b + ij)): the larger one, whose phase goes on, and how far the other one takes it."""
    first = a > b
    top, angle = tl.where(first, a, b), tl.where(first, i, j)
    low, other = tl.where(first, b, a), tl.where(first, j, i)
    size = math.exp(low - top)
    u, v = math.cos(angle), math.sin(angle)
    x, y = math.cos(other), math.sin(other)
    along, across = size * (x * u + y * v), size * (y * u - x * v)
    none = low == float("-inf")
    re = top + tl.where(none, 0.0, 0.5 * math.log1p(2.0 * along + size * size))
    both = low == float("inf")  # their sum has the parts inf cos and inf sin, but for a sine of 0
    x, u = x * float("inf"), u * float("inf")
    y, v = tl.where(y == 0, y, y * float("inf")), tl.where(v == 0, v, v * float("inf"))
    far = tl.where(both, x + u, 1.0 + along)
    wide = tl.where(both, y + v, across)
    turned = math.atan2(wide, far)
    return tl.where(both, float("inf"), re), tl.where(both, turned, angle + tl.where(none, 0.0, turned))


@triton.jit
def scanned(a, b, FOLD: tl.constexpr):
    if FOLD == "sum":
        a = tl.associative_scan(a, 1, add)
    if FOLD == "product":
        a = tl.associative_scan(a, 1, multiply)
    if FOLD == "greater":
        a, b = tl.associative_scan((a, b), 1, greater)
    if FOLD == "less":
        a, b = tl.associative_scan((a, b), 1, less)
    if FOLD == "powers":
        a, b = tl.associative_scan((a, b), 1, add_powers)
    if FOLD == "complex sum":
        a, b = tl.associative_scan((a, b), 1, add_pairs)
    if FOLD == "complex product":
        a, b = tl.associative_scan((a, b), 1, multiply_pairs)
    if FOLD == "complex powers":
        a, b = tl.associative_scan((a, b), 1, add_complex_powers)
    return a, b


@triton.jit
def joined(a, b, c, d, FOLD: tl.constexpr):
    """What came before, (a, b), and after it (c, d)."""
    if FOLD == "sum":
        c = a + (b + c)
    if FOLD == "product":
        c = a * c
    if FOLD == "greater":
        c, d = greater(a, b, c, d)
    if FOLD == "less":
        c, d = less(a, b, c, d)
    if FOLD == "powers":
        c, d = add_powers(a, b, c, d)
    if FOLD == "complex sum":
        c, d = add_pairs(a, b, c, d)
    if FOLD == "complex product":
        c, d = multiply_pairs(a, b, c, d)
    if FOLD == "complex powers":
        c, d = add_complex_powers(a, b, c, d)
    return c, d


@triton.jit
def advanced(a, b, c, d, FOLD: tl.constexpr):
    """The same of totals; of a sum of floats b is what rounding left over so far."""
    if FOLD == "sum":
        total = a + c
        if a.dtype.is_floating():
            part = total - a
            left = (a - (total - part)) + (c - part)
            b = b + tl.where(tl.abs(total) < float("inf"), left, 0.0)
        a = total
    else:
        a, b = joined(a, b, c, d, FOLD)
    return a, b


@triton.jit
def before_this(part_ptr, more_ptr, k, kept, here, blank, FOLD: tl.constexpr, REAL: tl.constexpr, PARTS: tl.constexpr):
    """What the parts of lines k before this one amount to: of each the last scanned value."""
    s = tl.arange(0, PARTS)[None, :]
    there = (k < kept)[:, None] & (s < here)
    at = s * kept + k[:, None]
    if FOLD == "sum":
        if tl.float32 == REAL:
            total = tl.sum(tl.load(part_ptr + at, there, other=0).to(tl.float64), 1)
            a = total.to(tl.float32)
            b = tl.where(tl.abs(a) < float("inf"), total - a, 0.0).to(tl.float32)
        else:
            a = tl.sum(tl.load(part_ptr + at, there, other=0), 1)
            b = tl.zeros_like(a)
    elif FOLD == "product":
        a = tl.reduce(tl.load(part_ptr + at, there, other=1), 1, multiply)
        b = a
    else:
        # What is not there comes after what is; its value is passed over because that before it is repeated.
        a = tl.load(part_ptr + at, there, other=blank)
        b = tl.load(more_ptr + at, there, other=0)
        a, b = scanned(a, b, FOLD)
        chosen = s == here - 1
        a = tl.sum(tl.where(chosen, a, 0), 1)
        b = tl.sum(tl.where(chosen, b, 0), 1)
    return a, b


def scan(  # noqa: C901 - all folds
    out_ptr, second_ptr, x_ptr, part_ptr, more_ptr, kept, length, share, k1, k2, ks0, ks1, ks2, os0, os1, os2, step, out_step,
    FOLD: tl.constexpr, FROM_ZERO: tl.constexpr, REAL: tl.constexpr, INDEX: tl.constexpr, KDIMS: tl.constexpr,
    UNIT: tl.constexpr, EACH: tl.constexpr, TOTALS: tl.constexpr, PARTS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """`kept` lines of `length` elements: program (lines, part), a part being `share` blocks of BLOCK elements.

    UNIT 1: lines lie in a row, 2: neighbours in memory are of neighbouring lines; EACH divides all other steps and sizes then.
    """
    if UNIT == 1:
        ks0, ks1, ks2 = multiples(ks0, EACH), multiples(ks1, EACH), multiples(ks2, EACH)
        os0, os1, os2, length = multiples(os0, EACH), multiples(os1, EACH), multiples(os2, EACH), multiples(length, EACH)
        step, out_step = 1, 1
    if UNIT == 2:
        ks0, ks1, k2, kept = multiples(ks0, EACH), multiples(ks1, EACH), multiples(k2, EACH), multiples(kept, EACH)
        os0, os1, step, out_step = multiples(os0, EACH), multiples(os1, EACH), multiples(step, EACH), multiples(out_step, EACH)
    k = tl.program_id(0).to(INDEX) * ROWS + tl.arange(0, ROWS)
    from_k = place(k, k1, k2, ks0, ks1, ks2, KDIMS, UNIT == 2)
    to_k = place(k, k1, k2, os0, os1, os2, KDIMS, UNIT == 2)
    here = tl.program_id(1)
    PAIRED: tl.constexpr = FOLD == "complex sum" or FOLD == "complex product" or FOLD == "complex powers"
    if FOLD == "product" or FOLD == "complex product":
        blank = 1
    elif FOLD == "sum" or FOLD == "complex sum":
        blank = 0
    elif REAL.is_floating():
        blank = float("inf") if FOLD == "less" else float("-inf")
    elif tl.int64 == REAL:
        blank = 0x7FFFFFFFFFFFFFFF if FOLD == "less" else -0x8000000000000000
    else:
        blank = 0x7FFFFFFF if FOLD == "less" else -0x80000000
    a = tl.full([ROWS], blank, REAL)
    b = tl.zeros([ROWS], INDEX if FOLD == "greater" or FOLD == "less" else REAL)
    if PARTS > 1 and TOTALS == 0:
        later = here > 0
        if later:
            a, b = before_this(part_ptr, more_ptr, k, kept, here, blank, FOLD, REAL, PARTS)
    lane = tl.arange(0, BLOCK)[None, :]
    for n in range(share):
        j = (here * share + n).to(INDEX) * BLOCK + tl.arange(0, BLOCK)
        inside = (k < kept)[:, None] & (j < length)[None, :]
        x = tl.load(x_ptr + (from_k[:, None] + (j * step)[None, :]), inside, other=0).to(REAL)
        if PAIRED:
            y = tl.load(x_ptr + (from_k[:, None] + (j * step)[None, :]) + 1, inside, other=0).to(REAL)
            if FOLD == "complex powers":  # of which nothing is known where a part is nan, and no phase where nothing is added
                unknown = (x != x) | (y != y)
                x = tl.where(unknown, float("nan"), x)
                y = tl.where(unknown, float("nan"), tl.where(x == float("-inf"), 0.0, y))
        if FROM_ZERO:
            x = x ^ (-0x8000000000000000)
        x = tl.where(inside, x, blank)
        if FOLD == "powers":
            c, d = scanned(x, tl.where(inside, 1.0, 0.0).to(REAL), FOLD)
        elif FOLD == "greater" or FOLD == "less":
            c, d = scanned(x, tl.zeros([ROWS, BLOCK], INDEX) + j[None, :], FOLD)
        elif PAIRED:
            c, d = scanned(x, y, FOLD)
        else:
            c, d = scanned(x, x, FOLD)
        if TOTALS == 0:
            y, at = joined(a[:, None], b[:, None], c, d, FOLD)
            if FOLD == "powers":
                y = tl.log(at) + level_of(y)
            if FROM_ZERO:
                y = y ^ (-0x8000000000000000)
            to = to_k[:, None] + (j * out_step)[None, :]
            if PAIRED:
                to = to * 2
                tl.store(out_ptr + to + 1, at.to(out_ptr.dtype.element_ty), inside)
            tl.store(out_ptr + to, y.to(out_ptr.dtype.element_ty), inside)
            if FOLD == "greater" or FOLD == "less":
                tl.store(second_ptr + to, at.to(tl.int64), inside)
        c = tl.sum(tl.where(lane == BLOCK - 1, c, 0), 1)
        d = tl.sum(tl.where(lane == BLOCK - 1, d, 0), 1)
        a, b = advanced(a, b, c, d, FOLD)
    if TOTALS:
        at = here * kept + k
        tl.store(part_ptr + at, a + b if FOLD == "sum" and REAL.is_floating() else a, k < kept)
        if FOLD == "greater" or FOLD == "less" or FOLD == "powers" or PAIRED:
            tl.store(more_ptr + at, b, k < kept)
