"""Householder's reflections of small matrices, as LLVM IR: factors as LAPACK packs them, and their products with columns.

Matrices lie column by column. A column whose length cannot be told from squares is only marked: LAPACK scales it first.
"""

from __future__ import annotations

from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

LEAST, MOST = "0x05CD0B15A491EB84", "0x7A11A0FC668AAC70"  # 1e-280 and 1e280: squares between them are numbers as they stand


def factored_by_reflections(stored: Stored) -> str:
    """R with the reflections below it in the place of a matrix, and their factors; what is told is 0 where all went well.

    Context: matrices, factors, what is told; rows, columns, the smaller of them.
    """
    f = Function(HEAD)
    v = Vectors(f, stored, registers().lanes(stored))
    matrices, factors, told, rows, columns, count = f.words(["*matrices", "*factors", "*told", "rows", "columns", "count"])
    with f.loop("%lo", "%hi") as item:
        a = v.place(matrices, f.mul(f.mul(item, rows), columns))
        odd = f.variable("i32")
        f.do(f"store i32 0, ptr {odd}")
        with f.loop(0, count) as k:
            column = v.place(a, f.mul(k, rows))
            factor = v.place(factors, f.add(f.mul(item, count), k))
            f.do(f"store {v.element} 0.0, ptr {factor}")
            sizes, squares = _sums(v, column, f.add(k, 1), rows)
            with f.when(f.let(f"fcmp une double {sizes}, 0.0")):
                _reflected_column(v, column, factor, odd, squares, (k, rows))
                with f.loop(f.add(k, 1), columns) as j:
                    _reflect(v, v.place(a, f.mul(j, rows)), column, v.load(factor, v.element), (k, rows))
        f.do(f"store i32 {f.let(f'load i32, ptr {odd}')}, ptr {f.at(told, item, 'i32')}")
    declared = "".join(
        f"declare double @llvm.{name}.f64({', '.join(['double'] * arguments)})\n"
        for name, arguments in (("sqrt", 1), ("copysign", 2), ("fabs", 1))
    )
    return v.declarations() + declared + f.text()


def _wide(v: Vectors, place: str) -> str:
    number = v.load(place, v.element)
    return number if v.element == "double" else v.f.let(f"fpext {v.element} {number} to double")


def _narrow(v: Vectors, number: str, place: str) -> None:
    value = number if v.element == "double" else v.f.let(f"fptrunc double {number} to {v.element}")
    v.f.do(f"store {v.element} {value}, ptr {place}")


def _add(f: Function, place: str, number: str) -> None:
    before = f.let(f"load double, ptr {place}")
    f.do(f"store double {f.let(f'fadd double {before}, {number}')}, ptr {place}")


def _sums(v: Vectors, column: str, start: str, rows: str) -> tuple[str, str]:
    """The sums of sizes and of squares of a column's elements from a row on."""
    f = v.f
    sums = [f.variable("double", "0.0") for _ in range(2)]
    with f.loop(start, rows) as i:
        x = _wide(v, v.place(column, i))
        _add(f, sums[0], f.let(f"call double @llvm.fabs.f64(double {x})"))
        _add(f, sums[1], f.let(f"fmul double {x}, {x}"))
    size, square = (f.let(f"load double, ptr {place}") for place in sums)
    return size, square


def _reflected_column(v: Vectors, column: str, factor: str, odd: str, squares: str, ends: tuple[str, str]) -> None:
    """The reflection that takes a column to its first element, in its place; its factor, and whether squares had no number."""
    f, (k, rows) = v.f, ends
    top = v.place(column, k)
    alpha = _wide(v, top)
    whole = f.let(f"fadd double {squares}, {f.let(f'fmul double {alpha}, {alpha}')}")
    outside = [f.let(f"fcmp {test} double {whole}, {limit}") for test, limit in (("ult", LEAST), ("ugt", MOST))]
    with f.when(f.let(f"or i1 {outside[0]}, {outside[1]}")):
        f.do(f"store i32 1, ptr {odd}")
    length = f.let(f"call double @llvm.sqrt.f64(double {whole})")
    beta = f.let(f"fneg double {f.let(f'call double @llvm.copysign.f64(double {length}, double {alpha})')}")
    difference = f.let(f"fsub double {alpha}, {beta}")
    _narrow(v, f.let(f"fneg double {f.let(f'fdiv double {difference}, {beta}')}"), factor)
    with f.loop(f.add(k, 1), rows) as i:
        place = v.place(column, i)
        _narrow(v, f.let(f"fdiv double {_wide(v, place)}, {difference}"), place)
    _narrow(v, beta, top)


def _reflect(v: Vectors, goal: str, column: str, factor: str, ends: tuple[str, str]) -> None:
    """A column less its part along a reflection, which has a one at k and what stands below in `column`."""
    f, (k, rows), type = v.f, ends, v.element
    top, part = v.place(goal, k), f.variable(type)
    f.do(f"store {type} {v.load(top, type)}, ptr {part}")
    with f.loop(f.add(k, 1), rows) as i:
        product = f.let(f"fmul {type} {v.load(v.place(column, i), type)}, {v.load(v.place(goal, i), type)}")
        f.do(f"store {type} {f.let(f'fadd {type} {v.load(part, type)}, {product}')}, ptr {part}")
    share = f.let(f"fmul {type} {v.load(part, type)}, {factor}")
    f.do(f"store {type} {f.let(f'fsub {type} {v.load(top, type)}, {share}')}, ptr {top}")
    with f.loop(f.add(k, 1), rows) as i:
        place = v.place(goal, i)
        product = f.let(f"fmul {type} {v.load(v.place(column, i), type)}, {share}")
        f.do(f"store {type} {f.let(f'fsub {type} {v.load(place, type)}, {product}')}, ptr {place}")


def reflected(stored: Stored, backwards: bool) -> str:
    """Columns under all reflections, one after the other, the last first if `backwards`, in their place.

    Context: matrices with the reflections, factors, columns; rows, columns with reflections, how many are taken, columns.
    """
    f = Function(HEAD)
    v = Vectors(f, stored, registers().lanes(stored))
    names = ["*matrices", "*factors", "*columns", "rows", "wide", "count", "many"]
    matrices, factors, columns, rows, wide, count, many = f.words(names)
    with f.loop("%lo", "%hi") as item:
        a = v.place(matrices, f.mul(f.mul(item, rows), wide))
        goal = v.place(columns, f.mul(f.mul(item, rows), many))
        with f.loop(0, count) as step:
            k = f.sub(f.sub(count, 1), step) if backwards else step
            factor = v.load(v.place(factors, f.add(f.mul(item, count), k)), v.element)
            column = v.place(a, f.mul(k, rows))
            with f.loop(0, many) as j:
                _reflect(v, v.place(goal, f.mul(j, rows)), column, factor, (k, rows))
    return v.declarations() + f.text()
