"""Products of bfloat16 by the processor's unit for them, as LLVM IR: out = start + a @ b, summed in float32, rounded once.

Both matrices are laid out as tiles, filled up with zeros: a's rows of a block stay in the second cache, b's columns of a panel
too. Numbers below 2**-126 count as 0.
"""

from __future__ import annotations

from tenfold.llvm.matrix_tiles import DECLARED, MASK, NUMBERS, PAIR, SIDE, across, along, below, read
from tenfold.llvm.matrix_unit import Unit, multiply
from tenfold.llvm.products import HEAD
from tenfold.llvm.writer import Function

DEPTH, BLOCK_ROWS, SPAN = (
    1024,
    256,
    256,
)  # of a step of sums, rows that are laid out at once, columns whose sums wait for the next
ROW = 4 * SIDE  # bytes of sums
SUMS = SIDE * ROW
FLOATS = f"<{SIDE} x float>"
A, B = "a", "b"


def products(unit: Unit, gathered: str = "") -> str:
    """out[n] = start + a[n] @ b[n] in bfloat16; `gathered`: which of both is read by tables, as the windows of a convolution are.

    Items are (n, block of rows, span of columns), the last fastest. Context: a, b, start or null, out; 1 where the columns of a
    are in one piece, 0 where its rows are; the same of b; bytes from a's row, or column, to the next, and from b's; bytes from a
    row of start to the next, 0 where it is one; rows, columns, depth, depth of a step of sums; rows of a block, blocks, columns
    of a span, spans; bytes from a[n] to the next, from b[n], and from out[n]. A matrix that is gathered has, for each row, pieces
    as long as one another: the bytes to the rows, to the pieces of a row, the numbers in a piece, and with the zeros behind it.
    """
    f = Function(HEAD, 'nounwind "prefer-vector-width"="512"')
    a, b, start, out, *numbers = f.words(["*a", "*b", "*start", "*out", *["number"] * 16])
    a_turned, b_turned, a_apart, b_apart, start_row, rows, columns, depth, step, block, blocks, span, spans, *images = numbers
    tables = f.words(["*places", "*pieces", "real", "padded"], 20) if gathered else []
    f.variables += [
        f"%strip = alloca [{BLOCK_ROWS * DEPTH * 2} x i8], align 64",
        f"%panel = alloca [{SIDE * DEPTH * 2} x i8], align 64",
        f"%sums = alloca [{BLOCK_ROWS * SPAN * 4} x i8], align 64",
    ]
    unit.begin(f)
    turned = {name: f.let(f"icmp ne i64 {word}, 0") for name, word in ((A, a_turned), (B, b_turned))}
    pitch, bare = f.mul(columns, 2), f.let(f"icmp eq ptr {start}, null")
    lone = f.let(f"icmp sle i64 {depth}, {step}")  # sums need not wait
    with f.loop("%lo", "%hi") as item:
        rest, side = f.split(item, spans)
        n, part = f.split(rest, blocks)
        first, left = f.mul(part, block), f.mul(side, span)
        right, count = f.least(f.add(left, span), columns), f.least(block, f.sub(rows, first))
        a_here, b_here, out_here = (f.at(x, f.mul(n, apart)) for x, apart in zip((a, b, out), images, strict=True))
        with f.loop(0, depth, step) as p:
            deep = f.least(step, f.sub(depth, p))
            steps = f.let(f"sdiv i64 {f.add(deep, SIDE - 1)}, {SIDE}")
            fresh, done = f.let(f"icmp eq i64 {p}, 0"), f.let(f"icmp sge i64 {f.add(p, step)}, {depth}")
            strip = f.mul(steps, PAIR)
            with f.loop(0, count, SIDE) as i:
                goal = f.at("%strip", f.mul(f.let(f"sdiv i64 {i}, {SIDE}"), strip))
                line, here = f.add(first, i), f.sub(count, i)
                if gathered == A:
                    _windows(f, a_here, tables, (line, p), (here, deep), goal)
                else:
                    _matrix(f, A, turned[A], (a_here, a_apart), (line, p), (here, deep), goal)
            with f.loop(left, right, SIDE) as j:
                if gathered == B:
                    _taps(f, b_here, tables, (j, p), deep)
                else:
                    _matrix(f, B, turned[B], (b_here, b_apart), (j, p), (f.sub(right, j), deep), "%panel")
                with f.loop(0, count, SIDE) as i:
                    k = f.let(f"sdiv i64 {i}, {SIDE}")
                    place = f.add(f.mul(f.sub(j, left), BLOCK_ROWS // SIDE * SUMS // SIDE), f.mul(k, SUMS))
                    sums = f.at("%sums", f.let(f"select i1 {lone}, i64 0, i64 {place}"))
                    multiply(f, f.at("%strip", f.mul(k, strip)), steps, "%panel", (sums, ROW), fresh, f.sub(count, i))
                    with f.when(done):
                        row, column = f.add(first, i), f.mul(j, 2)
                        to = f.at(f.at(out_here, f.mul(row, pitch)), column)
                        begun = f.at(f.at(start, f.mul(row, start_row)), column)
                        begun = f.let(f"select i1 {bare}, ptr null, ptr {begun}")
                        sizes = f"i64 {f.sub(count, i)}, i64 {f.sub(right, j)}"
                        f.do(f"call void @rounded(ptr {sums}, ptr {begun}, i64 {start_row}, ptr {to}, i64 {pitch}, {sizes})")
    unit.end(f)
    laid = [along(A, gathered == A), across(B, gathered == B)]
    laid += [across(A)] if gathered != A else []
    laid += [along(B)] if gathered != B else []
    return unit.declared + DECLARED + "".join(laid) + unit.multiplied() + _rounded() + f.text()


def _matrix(
    f: Function, name: str, turned: str, matrix: tuple[str, str], first: tuple[str, str], sizes: tuple[str, str], goal: str
) -> None:
    """Up to 32 rows of a, or columns of b, as tiles, from one of them and a depth on."""
    (source, apart), (line, p) = matrix, first
    whole = f.at(f.at(source, f.mul(line, apart)), f.mul(p, 2)), f.at(f.at(source, f.mul(p, apart)), f.mul(line, 2))
    rest = f"i64 {apart}, i64 {sizes[0]}, i64 {sizes[1]}, ptr {goal})"
    ways = [f"call void @{way}_{name}(ptr {place}, {rest}" for way, place in zip(("along", "across"), whole, strict=True)]
    with f.either(turned) as otherwise:
        f.do(ways[name == A])
        otherwise()
        f.do(ways[name == B])


def _windows(f: Function, source: str, tables: list[str], first: tuple[str, str], sizes: tuple[str, str], goal: str) -> None:
    """Up to 32 rows that are gathered, as tiles: whole pieces, one after the other."""
    places, pieces, real, padded = tables
    here, one = f.at(places, first[0], "i64"), f.mul(f.let(f"sdiv i64 {padded}, {SIDE}"), PAIR)
    before = f.let(f"sdiv i64 {first[1]}, {padded}")
    with f.loop(0, f.let(f"sdiv i64 {sizes[1]}, {padded}")) as t:
        piece = f.at(source, f.whole(pieces, f.add(before, t)))
        f.do(f"call void @along_a(ptr {piece}, ptr {here}, i64 {sizes[0]}, i64 {real}, ptr {f.at(goal, f.mul(t, one))})")


def _taps(f: Function, source: str, tables: list[str], first: tuple[str, str], deep: str) -> None:
    """32 columns of a piece of all rows that are gathered, as tiles."""
    places, pieces, real, padded = tables
    t, column = f.split(first[0], padded)
    piece = f.at(f.at(source, f.whole(pieces, t)), f.mul(column, 2))
    here = f.at(places, first[1], "i64")
    f.do(f"call void @across_b(ptr {piece}, ptr {here}, i64 {f.sub(real, column)}, i64 {deep}, ptr %panel)")


def rounded(f: Function, numbers: str) -> str:
    """32 float32 as bits of bfloat16."""
    short = f.let(f"fptrunc {FLOATS} {numbers} to <{SIDE} x bfloat>")
    return f.let(f"bitcast <{SIDE} x bfloat> {short} to {NUMBERS}")


def _rounded() -> str:
    """32 rows of 32 sums, plus what they begin with, in bfloat16, as far as there are rows and columns."""
    f = Function(
        "internal void @rounded(ptr %sums, ptr %start, i64 %start_row, ptr %out, i64 %pitch, i64 %rows, i64 %columns)",
        "noinline nounwind",
    )
    some, mask, total = f.let("icmp ne ptr %start, null"), below(f, "%columns"), f.variable(FLOATS)
    every = f.let(f"icmp sge i64 %columns, {SIDE}")
    wide, shift = f"<{SIDE} x i32>", f"<{', '.join(['i32 16'] * SIDE)}>"
    with f.loop(0, f.least("%rows", SIDE)) as r:
        whole = f.let(f"load {FLOATS}, ptr {f.at('%sums', f.mul(r, ROW))}, align 64")
        f.do(f"store {FLOATS} {whole}, ptr {total}")
        with f.when(some):
            bits = f.let(f"zext {NUMBERS} {read(f, f.at('%start', f.mul(r, '%start_row')), mask)} to {wide}")
            added = f.let(f"bitcast {wide} {f.let(f'shl {wide} {bits}, {shift}')} to {FLOATS}")
            f.do(f"store {FLOATS} {f.let(f'fadd {FLOATS} {whole}, {added}')}, ptr {total}")
        bits = rounded(f, f.let(f"load {FLOATS}, ptr {total}"))
        to = f.at("%out", f.mul(r, "%pitch"))
        with f.either(every) as otherwise:  # stores under a mask cost many times as much
            f.do(f"store {NUMBERS} {bits}, ptr {to}, align 2")
            otherwise()
            f.do(f"call void @llvm.masked.store.v32i16.p0({NUMBERS} {bits}, ptr {to}, i32 2, {MASK} {mask})")
    return f.text()
