"""Linear systems and Cholesky factors of small matrices, as LLVM IR: all of it on the stack, results column by column.

What has no finite result is only told: the kernels of tenfold-scientific know what LAPACK leaves then, and say why.
"""

from __future__ import annotations

from tenfold.llvm.elimination import exchange_rows, largest_below, subtract_row
from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

ROOM = 1 << 11  # elements of a matrix beside what it is solved for, each row in whole vectors


def solved(stored: Stored) -> str:
    """X with A X = B, column by column; what is told is 0 where all of it is finite.

    Context: matrices, right-hand sides (null for the identity), results, what is told; rows, columns of B, elements of a padded
    row of both.
    """
    f = Function(HEAD)
    v = Vectors(f, stored, registers().lanes(stored))
    matrices, given, results, told, rows, columns, padded = f.words(
        ["*matrices", "*given", "*results", "*told", "rows", "columns", "padded"]
    )
    f.variables.append(f"%room = alloca [{ROOM} x {stored.memory}], align 64")
    with f.loop("%lo", "%hi") as item:
        zero = f.variable("i32")
        f.do(f"store i32 0, ptr {zero}")
        _laid_out(v, item, (matrices, given), (rows, columns, padded))
        with f.loop(0, rows) as k:
            _eliminated(v, k, zero, (rows, padded))
        place = v.place(results, f.mul(f.mul(item, rows), columns))
        odd = _substituted(v, place, (rows, columns, padded))
        found = f.let(f"load i32, ptr {zero}")
        wrong = f.let(f"fcmp uno {v.element} {odd}, {odd}")
        f.do(f"store i32 {f.let(f'select i1 {wrong}, i32 -1, i32 {found}')}, ptr {f.at(told, item, 'i32')}")
    size = f"f{8 * stored.size}"
    return f"{v.declarations()}declare {v.element} @llvm.fabs.{size}({v.element})\n{f.text()}"


def _laid_out(v: Vectors, item: str, sources: tuple[str, str], sizes: tuple[str, str, str]) -> None:
    """A, and B beside it, in the room; zeros behind them."""
    f, (rows, columns, padded) = v.f, sizes
    a, b = (v.place(source, f.mul(f.mul(item, rows), n)) for source, n in zip(sources, (rows, columns), strict=True))
    unit = f.let(f"icmp eq ptr {sources[1]}, null")
    with f.loop(0, f.mul(rows, padded), v.lanes) as j:
        v.store("zeroinitializer", v.place("%room", j))
    with f.loop(0, rows) as i:
        line = v.place("%room", f.mul(i, padded))
        _copied(v, v.place(a, f.mul(i, rows)), line, rows)
        beside = v.place(line, rows)
        with f.either(unit) as otherwise:
            f.do(f"store {v.element} 1.0, ptr {v.place(beside, i)}")
            otherwise()
            _copied(v, v.place(b, f.mul(i, columns)), beside, columns)


def _copied(v: Vectors, source: str, target: str, count: str) -> None:
    with v.f.loop(0, count) as j:
        v.f.do(f"store {v.element} {v.load(v.place(source, j), v.element)}, ptr {v.place(target, j)}")


def _eliminated(v: Vectors, k: str, zero: str, sizes: tuple[str, str]) -> None:
    """The rows below the kth less multiples of it, which is exchanged with the one that has the largest element."""
    f, (rows, padded) = v.f, sizes
    top = v.place("%room", f.mul(k, padded))
    chosen = largest_below(v, "%room", k, rows, padded)
    with f.when(f.let(f"icmp ne i64 {chosen}, {k}")):
        exchange_rows(v, top, v.place("%room", f.mul(chosen, padded)), padded)
    corner = v.load(v.place(top, k), v.element)
    empty = f.let(f"fcmp oeq {v.element} {corner}, 0.0")
    with f.when(empty):
        f.do(f"store i32 1, ptr {zero}")
    after = f.add(k, 1)
    begin = f.let(f"and i64 {after}, {-v.lanes}")
    kept = v.below(f.sub(after, begin))
    with f.loop(after, rows) as i:
        line = v.place("%room", f.mul(i, padded))
        factor = f.let(f"fdiv {v.element} {v.load(v.place(line, k), v.element)}, {corner}")
        subtract_row(v, (line, top), factor, (begin, padded), kept)


def _substituted(v: Vectors, place: str, sizes: tuple[str, str, str]) -> str:
    """The columns beside U, from the last row on, solved and written; the sum of what is left of each number less itself."""
    f, (rows, columns, padded) = v.f, sizes
    odd = f.variable(v.element)
    f.do(f"store {v.element} 0.0, ptr {odd}")
    begin = f.let(f"and i64 {rows}, {-v.lanes}")
    kept = v.below(f.sub(rows, begin))
    with f.loop(0, rows) as step:
        i = f.sub(f.sub(rows, 1), step)
        line = v.place("%room", f.mul(i, padded))
        with f.loop(f.add(i, 1), rows) as j:
            factor = v.load(v.place(line, j), v.element)
            subtract_row(v, (line, v.place("%room", f.mul(j, padded))), factor, (begin, padded), kept)
        corner = v.load(v.place(line, i), v.element)
        with f.loop(0, columns) as j:
            source = v.place(line, f.add(rows, j))
            number = f.let(f"fdiv {v.element} {v.load(source, v.element)}, {corner}")
            f.do(f"store {v.element} {number}, ptr {source}")
            f.do(f"store {v.element} {number}, ptr {v.place(place, f.add(f.mul(j, rows), i))}")
            none = f.let(f"fsub {v.element} {number}, {number}")
            f.do(f"store {v.element} {f.let(f'fadd {v.element} {f.let(_load(v, odd))}, {none}')}, ptr {odd}")
    return f.let(_load(v, odd))


def _load(v: Vectors, place: str) -> str:
    return f"load {v.element}, ptr {place}"


def cholesky_factor(stored: Stored) -> str:
    """L with A = L L^T, of which one triangle is read; what is told is 0, or the first pivot, from 1 on, that is not positive.

    Context: matrices, results, what is told; rows, and by how many elements rows and columns lie apart in A and in the result.
    """
    f = Function(HEAD)
    v = Vectors(f, stored, registers().lanes(stored))
    names = ["rows", "row", "column", "result_row", "result_column"]
    matrices, results, told, rows, row, column, result_row, result_column = f.words(["*matrices", "*results", "*told", *names])
    with f.loop("%lo", "%hi") as item:
        size = f.mul(f.mul(item, rows), rows)
        a, made = v.place(matrices, size), v.place(results, size)
        wrong = f.variable("i32")
        f.do(f"store i32 0, ptr {wrong}")

        def of(i: str, j: str, made: str = made) -> str:
            return v.place(made, f.add(f.mul(i, result_row), f.mul(j, result_column)))

        def rest(i: str, j: str, a: str = a) -> str:
            """An element of A less the product of the rows of L so far."""
            left = f.variable(v.element)
            first = v.load(v.place(a, f.add(f.mul(i, row), f.mul(j, column))), v.element)
            f.do(f"store {v.element} {first}, ptr {left}")
            with f.loop(0, j) as k:
                product = f.let(f"fmul {v.element} {v.load(of(i, k), v.element)}, {v.load(of(j, k), v.element)}")
                f.do(f"store {v.element} {f.let(f'fsub {v.element} {f.let(_load(v, left))}, {product}')}, ptr {left}")
            return f.let(_load(v, left))

        with f.loop(0, rows) as j:
            pivot = rest(j, j)
            positive = f.let(f"fcmp ogt {v.element} {pivot}, 0.0")
            first = f.let(f"icmp eq i32 {f.let(f'load i32, ptr {wrong}')}, 0")
            with f.when(f.let(f"and i1 {first}, {f.let(f'xor i1 {positive}, true')}")):
                f.do(f"store i32 {f.let(f'trunc i64 {f.add(j, 1)} to i32')}, ptr {wrong}")
            root = f.let(f"call {v.element} @llvm.sqrt.f{8 * stored.size}({v.element} {pivot})")
            f.do(f"store {v.element} {root}, ptr {of(j, j)}")
            with f.loop(0, j) as i:
                f.do(f"store {v.element} 0.0, ptr {of(i, j)}")
            with f.loop(f.add(j, 1), rows) as i:
                f.do(f"store {v.element} {f.let(f'fdiv {v.element} {rest(i, j)}, {root}')}, ptr {of(i, j)}")
        f.do(f"store i32 {f.let(f'load i32, ptr {wrong}')}, ptr {f.at(told, item, 'i32')}")
    return f"{v.declarations()}declare {v.element} @llvm.sqrt.f{8 * stored.size}({v.element})\n{f.text()}"
