"""One kernel for all reductions: a tile of results and of what each is made of, wherever both lie in memory.

A reduction is MAP (what is taken of an element), FOLD (how two of them become one) and END (what is made of the last one).
Lanes of the tile fold what they read; the tile's second dimension is folded once, at the end. Where few results are made of
much, several programs share a result: each leaves its part, and the one that is done last folds the parts, in their order.

FOLD "sum", "product", "complex sum", "complex product", "top": the largest of whole numbers that are in the elements' order, NaN
above all ("top" of what is negated bit by bit for the least; AT: with the first position), "range": the least and the largest,
"moments": mean and squares around it, "powers": the sum of exponentials as a largest exponent and a sum relative to it.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.folding import before_all, disordered, folded, gathered, level_of, root_of, taken


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
def block(
    u, reduced, units, r1, r2, rs0, rs1, rs2, INDEX: tl.constexpr, RDIMS: tl.constexpr, UNIT: tl.constexpr, FLAT: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Of block u of the elements of a result: their positions, whether they exist, and how far they lie from the first one."""
    if FLAT:
        j = u.to(INDEX) * BLOCK + tl.arange(0, BLOCK)
        held = (j < reduced) & (u < units)
        far = place(j, r1, r2, rs0, rs1, rs2, RDIMS, UNIT == 1)
    else:
        chunks = (r2 + BLOCK - 1) // BLOCK
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
    return j, held, far


@triton.jit
def parts(
    part_ptr, more_ptr, k, kept, FOLD: tl.constexpr, START: tl.constexpr, SECOND: tl.constexpr, TWO: tl.constexpr,
    PARTS: tl.constexpr,
):  # fmt: skip
    """(a, b, c) of rows k as the programs that share them have left them: asked again, as other programs wrote them."""
    s = tl.arange(0, PARTS)[None, :]
    there = (k < kept)[:, None] & (s < tl.num_programs(1))
    from_s = s * kept + k[:, None]
    a = tl.load(part_ptr + from_s, there, other=START, volatile=True)
    b = a
    c = a
    if TWO:
        b = tl.load(more_ptr + from_s, there, other=SECOND, volatile=True)
    if FOLD == "moments":
        c = tl.load(more_ptr + tl.num_programs(1) * kept + from_s, there, other=0, volatile=True)
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


def reduction(
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
    KEYS: tl.constexpr = FOLD == "top" or FOLD == "range"
    PRODUCT: tl.constexpr = FOLD == "product" or FOLD == "complex product"
    START: tl.constexpr = LOWEST if KEYS else float("-inf") if FOLD == "powers" else 1 if PRODUCT else 0
    SECOND: tl.constexpr = NONE if AT else LOWEST if FOLD == "range" else 0
    TWO: tl.constexpr = AT or TWOFOLD or FOLD == "range" or FOLD == "moments" or FOLD == "powers"
    k = tl.program_id(0).to(INDEX) * ROWS + tl.arange(0, ROWS)
    from_k = place(k, k1, k2, ks0, ks1, ks2, KDIMS, UNIT == 2)
    if KDIMS == 0:
        from_k = k * 0
    first = tl.program_id(1) * share
    a, b, c = before_all(START, SECOND, FOLD, AT, LANE, INDEX, ROWS, BLOCK)
    for n in range(1 if ONCE else share):
        u = first + n
        j, held, far = block(u, reduced, units, r1, r2, rs0, rs1, rs2, INDEX, RDIMS, UNIT, FLAT, BLOCK)
        inside = (k < kept)[:, None] & held[None, :]
        x = tl.load(x_ptr + (from_k[:, None] + far[None, :]), inside, other=0)
        y = x
        if PAIRED:
            y = tl.load(x_ptr + (from_k[:, None] + far[None, :]) + 1, inside, other=0)
        x = taken(x, y, inside, power, MAP, PAIRED, TWOFOLD, REAL, DOUBLE)
        a, b, c = folded(a, b, c, x, y, j, held, inside, MAP, FOLD, LEAST, AT, FROM_ZERO, LANE, NONE, ONCE)
    a, b, c = gathered(a, b, c, FOLD, AT, TOTAL, NONE)
    if PARTS > 1:
        at = tl.program_id(1) * kept + k
        behind = tl.num_programs(1) * kept
        tl.store(part_ptr + at, a, k < kept)
        if TWO:
            tl.store(more_ptr + at, b, k < kept)
        if FOLD == "moments":
            tl.store(more_ptr + behind + at, c + k * 0, k < kept)
        tl.debug_barrier()  # all of this program's stores come before it says that it is done
        before = tl.atomic_add(done_ptr + tl.program_id(0), 1, sem="acq_rel")
        if before == tl.num_programs(1) - 1:
            pa, pb, pc = parts(part_ptr, more_ptr, k, kept, FOLD, START, SECOND, TWO, PARTS)
            pa, pb, pc = gathered(pa, pb, pc, FOLD, AT, TOTAL, NONE)
            finished(out_ptr, second_ptr, x_ptr, k, kept, pa, pb, divisor, power, r1, r2, rs0, rs1, rs2, from_k, FOLD, END, LEAST,
                     AT, FROM_ZERO, REAL, RDIMS, UNIT)  # fmt: skip
            tl.store(done_ptr + tl.program_id(0), 0)  # for the next launch on this stream
    else:
        finished(out_ptr, second_ptr, x_ptr, k, kept, a, b, divisor, power, r1, r2, rs0, rs1, rs2, from_k, FOLD, END, LEAST, AT,
                 FROM_ZERO, REAL, RDIMS, UNIT)  # fmt: skip
