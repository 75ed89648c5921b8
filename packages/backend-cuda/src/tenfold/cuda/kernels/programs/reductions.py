"""One kernel for all reductions: a tile of results and of what each is made of, wherever both lie in memory.

A reduction is MAP (what is taken of an element), FOLD (how two of them become one) and END (what is made of the last one).
Lanes of the tile fold what they read; the tile's second dimension is folded once, at the end. Where few results are made of
much, several programs share a result: each leaves its part, and the one that is done last folds the parts, in their order.

FOLD "sum", "product", "complex sum", "complex product", "top": the largest of whole numbers that are in the elements' order, NaN
above all ("top" of what is negated bit by bit for the least; AT: with the first position), "range": the least and the largest,
"moments": mean and squares around it, "powers": the sum of exponentials as a largest exponent and a sum relative to it.

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
def multiples(number, EACH: tl.constexpr):
    """The number, as a multiple of EACH: what the host has looked at, the compiler is told so."""
    if EACH > 1:
        number = number // EACH * EACH
    return number


@triton.jit
def place(k, size1, size2, step0, step1, step2, DIMS: tl.constexpr, UNIT: tl.constexpr):
    """How far element k of up to three dimensions lies from the first one; UNIT: neighbours of the last one are neighbours."""
    inner = k
    outer = k
    if DIMS > 1:
        inner = k % size2
        outer = k // size2
    far = inner
    if UNIT == 0:
        far = inner * step2
    if DIMS == 2:
        far += outer * step1
    if DIMS == 3:
        far += (outer % size1) * step1 + (outer // size1) * step0
    return far


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


@triton.jit
def finished(  # noqa: C901 - all ends
    out_ptr, second_ptr, x_ptr, k, kept, a, b, divisor, power, r1, r2, rs0, rs1, rs2, from_k, FOLD: tl.constexpr,
    END: tl.constexpr, LEAST: tl.constexpr, AT: tl.constexpr, FROM_ZERO: tl.constexpr, wide: tl.constexpr, RDIMS: tl.constexpr,
    UNIT: tl.constexpr,
):  # fmt: skip
    """The results of rows k, written."""
    inside = k < kept
    if AT:
        if END == "value":
            far = from_k + place(b, r1, r2, rs0, rs1, rs2, RDIMS, UNIT == 1)
            tl.store(out_ptr + k, tl.load(x_ptr + far, inside), inside)
            tl.store(second_ptr + k, b.to(tl.int64), inside)
        else:
            tl.store(out_ptr + k, b.to(tl.int64), inside)
    elif FOLD == "complex sum" or FOLD == "complex product":
        if END == "mean":  # a quotient of complex numbers: beside what is infinite 0 is no number
            a, b = (a + b * 0.0) / divisor, (b - a * 0.0) / divisor
        tl.store(out_ptr + 2 * k, a.to(out_ptr.dtype.element_ty), inside)
        tl.store(out_ptr + 2 * k + 1, b.to(out_ptr.dtype.element_ty), inside)
    else:
        if FOLD == "top":
            a = disordered(a, wide, LEAST, FROM_ZERO)
        if FOLD == "range":
            most = disordered(b, wide, 0, FROM_ZERO)
            tl.store(second_ptr + k, most.to(second_ptr.dtype.element_ty), inside)
            a = disordered(a, wide, 1, FROM_ZERO)
        if FOLD == "powers":
            a = tl.log(b) + level_of(a)
        if FOLD == "moments":
            if END == "variance and mean" or END == "deviation and mean":
                tl.store(second_ptr + k, a.to(second_ptr.dtype.element_ty), inside)
            a = b / divisor
            if END == "deviation" or END == "deviation and mean":
                a = root_of(a)
        if END == "mean":
            a = a / divisor
        if END == "root":
            a = root_of(a)
        if END == "inverse power":
            a = tl.exp2(tl.log2(a.to(tl.float64)) / power)
        if END == "square":
            a = a * a
        if END == "true":
            a = a != 0
        tl.store(out_ptr + k, a.to(out_ptr.dtype.element_ty), inside)


def reduction(  # noqa: C901 - all folds
    out_ptr, second_ptr, x_ptr, part_ptr, more_ptr, done_ptr, kept, reduced, units, share, k1, k2, ks0, ks1, ks2, r1, r2, rs0,
    rs1, rs2, divisor, power, MAP: tl.constexpr, FOLD: tl.constexpr, END: tl.constexpr, LEAST: tl.constexpr, AT: tl.constexpr,
    PAIRED: tl.constexpr, FROM_ZERO: tl.constexpr, REAL: tl.constexpr, LANE: tl.constexpr, TOTAL: tl.constexpr,
    INDEX: tl.constexpr, KDIMS: tl.constexpr, RDIMS: tl.constexpr, UNIT: tl.constexpr, EACH: tl.constexpr, FLAT: tl.constexpr,
    PARTS: tl.constexpr, ONCE: tl.constexpr, DOUBLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """`kept` results of `reduced` elements each: program (results, part), a part being `share` of `units` blocks of elements.

    UNIT 1: what is reduced lies in a row, 2: results do; EACH divides all steps and sizes that matter then. FLAT: a block is of
    BLOCK elements wherever they are; else of the last dimension alone. REAL: the type of arithmetic, LANE: of the lanes'
    sums, TOTAL: of all sums, INDEX: of positions. ONCE: a lane reads one element at most, and has nothing to fold it with.
    PAIRED: the array is of real parts of complex numbers, each of which has its imaginary part behind it.
    """
    if UNIT == 1:
        ks0, ks1, ks2 = multiples(ks0, EACH), multiples(ks1, EACH), multiples(ks2, EACH)
        rs0, rs1, r2 = multiples(rs0, EACH), multiples(rs1, EACH), multiples(r2, EACH)
        if FLAT:
            reduced = multiples(reduced, EACH)
    if UNIT == 2:
        ks0, ks1, k2, kept = multiples(ks0, EACH), multiples(ks1, EACH), multiples(k2, EACH), multiples(kept, EACH)
        rs0, rs1, rs2 = multiples(rs0, EACH), multiples(rs1, EACH), multiples(rs2, EACH)
    NONE: tl.constexpr = 0x7FFFFFFFFFFFFFFF if tl.int64 == INDEX else 0x7FFFFFFF
    TWOFOLD: tl.constexpr = FOLD == "complex sum" or FOLD == "complex product"
    LOWEST: tl.constexpr = -0x8000000000000000 if tl.int64 == LANE else -0x80000000
    k = tl.program_id(0).to(INDEX) * ROWS + tl.arange(0, ROWS)
    from_k = place(k, k1, k2, ks0, ks1, ks2, KDIMS, UNIT == 2)
    if KDIMS == 0:
        from_k = k * 0
    first = tl.program_id(1) * share
    if FOLD == "top" or FOLD == "range":
        a = tl.full([ROWS, BLOCK], LOWEST, LANE)
    elif FOLD == "powers":
        a = tl.full([ROWS, BLOCK], float("-inf"), LANE)
    else:
        a = tl.full([ROWS, BLOCK], 1 if FOLD == "product" or FOLD == "complex product" else 0, LANE)
    b = a
    c = a
    if AT:
        b = tl.full([ROWS, BLOCK], NONE, INDEX)
    if TWOFOLD:
        b = tl.zeros([ROWS, BLOCK], LANE)
    if FOLD == "moments" or FOLD == "powers":
        b = tl.zeros([ROWS, BLOCK], LANE)
        c = tl.zeros([1, BLOCK], LANE)
    chunks = (r2 + BLOCK - 1) // BLOCK
    for n in range(1 if ONCE else share):
        u = first + n
        if FLAT:
            j = u.to(INDEX) * BLOCK + tl.arange(0, BLOCK)
            held = (j < reduced) & (u < units)
            far = place(j, r1, r2, rs0, rs1, rs2, RDIMS, UNIT == 1)
        else:
            row = (u // chunks).to(INDEX)
            inner = (u % chunks) * BLOCK + tl.arange(0, BLOCK)
            held = (inner < r2) & (u < units)
            j = row * r2 + inner
            far = inner
            if UNIT != 1:
                far = inner.to(INDEX) * rs2
            if RDIMS == 2:
                far = row * rs1 + far
            if RDIMS == 3:
                far = (row // r1) * rs0 + (row % r1) * rs1 + far
        inside = (k < kept)[:, None] & held[None, :]
        x = tl.load(x_ptr + (from_k[:, None] + far[None, :]), inside, other=0)
        if PAIRED:
            y = tl.load(x_ptr + (from_k[:, None] + far[None, :]) + 1, inside, other=0)
        if MAP == "other than 0" and PAIRED:
            x = ((x != 0) | (y != 0)).to(REAL)
        elif MAP == "other than 0":
            x = (x != 0).to(REAL)
        elif PAIRED and not TWOFOLD:
            x = mapped(math.hypot(x.to(REAL), y.to(REAL)), power, MAP)
        elif MAP == "zeros and no numbers":
            x = x.to(tl.float64 if DOUBLE else tl.float32)
            x = tl.where(inside & (x == 0), 1, tl.where(x - x == 0, 0, 0x100000000)).to(REAL)
        else:
            x = mapped(x.to(REAL), power, MAP)
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
            b = tl.full([ROWS, BLOCK], 1.0, LANE)
        elif FOLD == "powers":
            x = tl.where(inside, x, float("-inf"))
            top = tl.where(x > a, x, a)
            level = level_of(top)
            b = b * tl.exp(a - level) + tl.exp(x - level)
            a = top
    a, b, c = gathered(a, b, c, FOLD, AT, TOTAL, NONE)
    if PARTS > 1:
        at = tl.program_id(1) * kept + k
        behind = tl.num_programs(1) * kept
        tl.store(part_ptr + at, a, k < kept)
        if AT or TWOFOLD or FOLD == "range" or FOLD == "moments" or FOLD == "powers":
            tl.store(more_ptr + at, b, k < kept)
        if FOLD == "moments":
            tl.store(more_ptr + behind + at, c + k * 0, k < kept)
        tl.debug_barrier()  # all of this program's stores come before it says that it is done
        before = tl.atomic_add(done_ptr + tl.program_id(0), 1, sem="acq_rel")
        if before == tl.num_programs(1) - 1:
            s = tl.arange(0, PARTS)[None, :]
            there = (k < kept)[:, None] & (s < tl.num_programs(1))
            from_s = s * kept + k[:, None]
            if FOLD == "product" or FOLD == "complex product":
                pa = tl.load(part_ptr + from_s, there, other=1, volatile=True)
            elif FOLD == "top" or FOLD == "range":
                pa = tl.load(part_ptr + from_s, there, other=LOWEST, volatile=True)
            elif FOLD == "powers":
                pa = tl.load(part_ptr + from_s, there, other=float("-inf"), volatile=True)
            else:
                pa = tl.load(part_ptr + from_s, there, other=0, volatile=True)
            pb = pa
            pc = pa
            if AT:
                pb = tl.load(more_ptr + from_s, there, other=NONE, volatile=True)
            if FOLD == "range":
                pb = tl.load(more_ptr + from_s, there, other=LOWEST, volatile=True)
            if FOLD == "moments" or FOLD == "powers" or TWOFOLD:
                pb = tl.load(more_ptr + from_s, there, other=0, volatile=True)
            if FOLD == "moments":
                pc = tl.load(more_ptr + behind + from_s, there, other=0, volatile=True)
            pa, pb, pc = gathered(pa, pb, pc, FOLD, AT, TOTAL, NONE)
            finished(out_ptr, second_ptr, x_ptr, k, kept, pa, pb, divisor, power, r1, r2, rs0, rs1, rs2, from_k, FOLD, END, LEAST,
                     AT, FROM_ZERO, REAL, RDIMS, UNIT)  # fmt: skip
            tl.store(done_ptr + tl.program_id(0), 0)  # for the next launch on this stream
    else:
        finished(out_ptr, second_ptr, x_ptr, k, kept, a, b, divisor, power, r1, r2, rs0, rs1, rs2, from_k, FOLD, END, LEAST, AT,
                 FROM_ZERO, REAL, RDIMS, UNIT)  # fmt: skip
