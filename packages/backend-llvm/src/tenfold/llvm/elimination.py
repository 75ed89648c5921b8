"""LU factorisation of small matrices, and the order of rows that its exchanges make, as LLVM IR.

Rows are padded to whole vectors, so that none is read or written in parts; what is left of the diagonal keeps its values by a
choice between lanes. Items are matrices.
"""

from __future__ import annotations

from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers


def width(stored: Stored, columns: int) -> int:
    """The elements of a padded row."""
    lanes = registers().lanes(stored)
    return -(-columns // lanes) * lanes


def factored(stored: Stored, pivot: bool) -> str:
    """L and U in the place of a matrix, the exchanges from 1 on, and where U has its first zero on the diagonal, from 1 on.

    Context: matrices, exchanges, zeros; rows, elements of a padded row, the smaller number of rows and columns.
    """
    f = Function(HEAD)
    v = Vectors(f, stored, registers().lanes(stored))
    type = stored.memory
    matrices, exchanges, zeros, rows, padded, least = f.words(["*matrices", "*exchanges", "*zeros", "rows", "padded", "least"])
    with f.loop("%lo", "%hi") as item:
        a = v.place(matrices, f.mul(f.mul(item, rows), padded))
        zero = f.at(zeros, item, "i32")
        with f.loop(0, least) as k:
            top = v.place(a, f.mul(k, padded))
            if pivot:
                chosen = largest_below(v, a, k, rows, padded)
                place = f.at(exchanges, f.add(f.mul(item, least), k), "i32")
                f.do(f"store i32 {f.let(f'trunc i64 {f.add(chosen, 1)} to i32')}, ptr {place}")
                with f.when(f.let(f"icmp ne i64 {chosen}, {k}")):
                    exchange_rows(v, top, v.place(a, f.mul(chosen, padded)), padded)
            corner = v.load(v.place(top, k), type)
            empty = f.let(f"fcmp oeq {type} {corner}, 0.0")
            first = f.let(f"icmp eq i32 {f.let(f'load i32, ptr {zero}')}, 0")
            with f.when(f.let(f"and i1 {empty}, {first}")):
                f.do(f"store i32 {f.let(f'trunc i64 {f.add(k, 1)} to i32')}, ptr {zero}")
            divisor = f.let(f"select i1 {empty}, {type} 1.0, {type} {corner}")
            after = f.add(k, 1)
            begin = f.let(f"and i64 {after}, {-v.lanes}")
            kept = v.below(f.sub(after, begin))
            with f.loop(after, rows) as i:
                line = v.place(a, f.mul(i, padded))
                factor = f.let(f"fdiv {type} {v.load(v.place(line, k), type)}, {divisor}")
                f.do(f"store {type} {factor}, ptr {v.place(line, k)}")
                subtract_row(v, (line, top), factor, (begin, padded), kept)
    size = f"f{8 * stored.size}"
    return f"{v.declarations()}declare {type} @llvm.fabs.{size}({type})\n{f.text()}"


def largest_below(v: Vectors, a: str, k: str, rows: str, padded: str) -> str:
    """The first row from k on whose element of column k is the largest, or nan."""
    f, type, size = v.f, v.element, f"f{8 * v.stored.size}"
    best, where = f.variable(type, "-1.0"), f.variable("i64", k)
    with f.loop(k, rows) as i:
        value = f.let(f"call {type} @llvm.fabs.{size}({type} {v.load(v.place(a, f.add(f.mul(i, padded), k)), type)})")
        so_far = f.let(f"load {type}, ptr {best}")
        beyond = f.let(f"fcmp ugt {type} {value}, {so_far}")
        with f.when(f.let(f"and i1 {beyond}, {f.let(f'fcmp ord {type} {so_far}, {so_far}')}")):
            f.do(f"store {type} {value}, ptr {best}")
            f.do(f"store i64 {i}, ptr {where}")
    return f.let(f"load i64, ptr {where}")


def exchange_rows(v: Vectors, one: str, other: str, padded: str) -> None:
    with v.f.loop(0, padded, v.lanes) as j:
        places = [v.place(row, j) for row in (one, other)]
        values = [v.load(place) for place in places]
        for value, place in zip(reversed(values), places, strict=True):
            v.store(value, place)


def subtract_row(v: Vectors, rows: tuple[str, str], factor: str, ends: tuple[str, str], kept: str) -> None:
    """A row less a multiple of another, but for the lanes of the first vector that are kept."""
    f = v.f
    many = v.splat(f.let(f"fneg {v.element} {factor}"))

    def less(j: str) -> tuple[str, str, str]:
        goal = v.place(rows[0], j)
        before = v.load(goal)
        return goal, before, v.fma(many, v.load(v.place(rows[1], j)), before)

    begin, end = ends
    with f.when(f.let(f"icmp slt i64 {begin}, {end}")):
        goal, before, after = less(begin)
        v.store(f.let(f"select <{v.lanes} x i1> {kept}, {v.type} {before}, {v.type} {after}"), goal)
    with f.loop(f.add(begin, v.lanes), end, v.lanes) as j:
        goal, _, after = less(j)
        v.store(after, goal)


def exchanged_order() -> str:
    """0, 1, … after the exchanges, one after the other. Context: exchanges, order; exchanges and rows of a matrix."""
    f = Function(HEAD)
    exchanges, order, count, rows = f.words(["*exchanges", "*order", "count", "rows"])
    with f.loop("%lo", "%hi") as item:
        line = f.at(order, f.mul(item, rows), "i64")
        with f.loop(0, rows) as i:
            f.do(f"store i64 {i}, ptr {f.at(line, i, 'i64')}")
        with f.loop(0, count) as i:
            given = f.let(f"load i32, ptr {f.at(exchanges, f.add(f.mul(item, count), i), 'i32')}")
            places = f.at(line, i, "i64"), f.at(line, f.sub(f.let(f"sext i32 {given} to i64"), 1), "i64")
            values = [f.let(f"load i64, ptr {place}") for place in places]
            for value, place in zip(reversed(values), places, strict=True):
                f.do(f"store i64 {value}, ptr {place}")
    return f.text()


def substituted(stored: Stored, upper: bool, unit: bool) -> str:
    """X with T X = B in the place of B, of which a triangle T is read, its diagonal but for `unit`.

    Context: triangles, B; rows, elements of a padded row of B.
    """
    f = Function(HEAD)
    v = Vectors(f, stored, registers().lanes(stored))
    triangles, given, rows, padded = f.words(["*triangles", "*given", "rows", "padded"])
    with f.loop("%lo", "%hi") as item:
        t = v.place(triangles, f.mul(f.mul(item, rows), rows))
        b = v.place(given, f.mul(f.mul(item, rows), padded))
        with f.loop(0, rows) as step:
            i = f.sub(f.sub(rows, 1), step) if upper else step
            factors = v.place(t, f.mul(i, rows))
            line = v.place(b, f.mul(i, padded))
            first, end = (f.add(i, 1), rows) if upper else ("0", i)
            with f.loop(0, padded, v.lanes) as column:
                rest = f.variable(v.type)
                v.store(v.load(v.place(line, column)), rest)
                with f.loop(first, end) as j:
                    known = v.load(v.place(b, f.add(f.mul(j, padded), column)))
                    factor = v.splat(f.let(f"fneg {v.element} {v.load(v.place(factors, j), v.element)}"))
                    v.store(v.fma(factor, known, v.load(rest)), rest)
                found = v.load(rest)
                if not unit:
                    found = f.let(f"fdiv {v.type} {found}, {v.splat(v.load(v.place(factors, i), v.element))}")
                v.store(found, v.place(line, column))
    return v.declarations() + f.text()
