"""Distances between the rows of two matrices, or between those of one, and their gradients, as LLVM IR.

Rows are padded with zeros to whole vectors, which adds nothing to a distance. Items are the rows of the first matrices.
"""

from __future__ import annotations

from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

KINDS = {1.0: "sum", 2.0: "squares", float("inf"): "largest"}  # of p
TOGETHER = 4  # vectors that are added up by themselves


def _begun(stored: Stored) -> tuple[Function, Vectors]:
    f = Function(HEAD)
    return f, Vectors(f, stored, registers().lanes(stored))


def _declared(v: Vectors) -> str:
    size = f"f{8 * v.stored.size}"
    return (
        f"declare {v.type} @llvm.fabs.{v.suffix}({v.type})\ndeclare {v.type} @llvm.maximum.{v.suffix}({v.type}, {v.type})\n"
        f"declare {v.element} @llvm.vector.reduce.fmaximum.{v.suffix}({v.type})\n"
        f"declare {v.element} @llvm.sqrt.{size}({v.element})\n"
        f"{v.declarations()}{v.f.text()}"
    )


def _size(v: Vectors, d: str) -> str:
    return v.f.let(f"call {v.type} @llvm.fabs.{v.suffix}({v.type} {d})")


def _joined(v: Vectors, kind: str, known: str, other: str) -> str:
    if kind == "largest known":  # of nan and a number it is the number
        test = v.f.let(f"fcmp ogt {v.type} {other}, {known}")
        return v.f.let(f"select <{v.lanes} x i1> {test}, {v.type} {other}, {v.type} {known}")
    if kind == "largest":
        return v.f.let(f"call {v.type} @llvm.maximum.{v.suffix}({v.type} {known}, {v.type} {other})")
    return v.f.let(f"fadd {v.type} {known}, {other}")


def _distance(v: Vectors, kind: str, a: str, c: str, width: str) -> str:
    """The distance of two rows, of which several vectors are added up by themselves."""
    f, zeros = v.f, v.constant(0.0)
    sums = [f.variable(v.type) for _ in range(TOGETHER)]
    for place in sums:
        v.store(zeros, place)

    def step(j: str, place: str) -> None:
        d = f.let(f"fsub {v.type} {v.load(v.place(a, j))}, {v.load(v.place(c, j))}")
        known = v.load(place)
        v.store(v.fma(d, d, known) if kind == "squares" else _joined(v, kind, known, _size(v, d)), place)

    whole = f.mul(f.let(f"udiv i64 {width}, {TOGETHER * v.lanes}"), TOGETHER * v.lanes)
    with f.loop(0, whole, TOGETHER * v.lanes) as j:
        for k, place in enumerate(sums):
            step(f.add(j, k * v.lanes), place)
    with f.loop(whole, width, v.lanes) as j:
        step(j, sums[0])
    first, *others = (v.load(place) for place in sums)
    for other in others:
        first = _joined(v, kind, first, other)
    if kind.startswith("largest"):
        return f.let(f"call {v.element} @llvm.vector.reduce.fmaximum.{v.suffix}({v.type} {first})")
    total = v.total(first)
    return f.let(f"call {v.element} @llvm.sqrt.f{8 * v.stored.size}({v.element} {total})") if kind == "squares" else total


def _pair(f: Function, i: str, j: str, rows: str) -> str:
    """Where the pair of rows i < j stands in the order (0, 1), (0, 2), …"""
    before = f.mul(i, f.sub(f.sub(f.mul(rows, 2), i), 1))
    return f.add(f.let(f"sdiv i64 {before}, 2"), f.sub(f.sub(j, i), 1))


def distances(stored: Stored, kind: str, own: bool) -> str:
    """Of each row of the first matrices and each of the second; `own`: of the pairs of rows of one.

    Context: x1, x2, out; rows of each, elements of a padded row.
    """
    f, v = _begun(stored)
    kind = "largest known" if kind == "largest" and not own else kind
    x1, x2, out, rows, others, width = f.words(["*x1", "*x2", "*out", "rows", "others", "width"])
    with f.loop("%lo", "%hi") as item:
        batch, i = f.split(item, rows)
        a = v.place(x1, f.mul(item, width))
        with f.loop(f.add(i, 1) if own else "0", others) as j:
            c = v.place(x2, f.mul(f.add(f.mul(batch, others), j), width))
            place = _pair(f, i, j, rows) if own else f.add(f.mul(item, others), j)
            f.do(f"store {v.element} {_distance(v, kind, a, c, width)}, ptr {v.place(out, place)}")
    return _declared(v)


def slopes(stored: Stored, kind: str, own: bool) -> str:
    """The gradient of distances for the first matrices.

    Context: grad, result, x1, x2, shares, out; rows of each, elements of a padded row. `shares` is room for a number a pair.
    """
    f, v = _begun(stored)
    names = ["*grad", "*result", "*x1", "*x2", "*shares", "*out", "rows", "others", "width"]
    grad, result, x1, x2, shares, out, rows, others, width = f.words(names)
    with f.loop("%lo", "%hi") as item:
        batch, i = f.split(item, rows)
        a, goal = (v.place(x, f.mul(item, width)) for x in (x1, out))
        c = v.place(x2, f.mul(f.mul(batch, others), width))
        share = v.place(shares, f.mul(item, others))
        lengths = v.place(result, f.mul(item, others))
        _shares(v, kind, own, (grad, result, share), (item, i, rows, others))
        with f.loop(0, width, v.lanes) as column:
            sum_ = f.variable(v.type)
            v.store(v.constant(0.0), sum_)
            with f.loop(0, others) as j:
                d = f.let(f"fsub {v.type} {v.load(v.place(a, column))}, {v.load(v.place(c, f.add(f.mul(j, width), column)))}")
                w = v.splat(v.load(v.place(share, j), v.element))
                if kind == "squares":
                    slope = d
                else:
                    at = v.place(result, _either_pair(f, i, j, rows)) if own else v.place(lengths, j)
                    slope = _sign(v, d) if kind == "sum" else _sign_of_largest(v, d, v.splat(v.load(at, v.element)))
                if own:  # of a row and itself nothing, nan and infinities too
                    same = f.let(f"icmp eq i64 {i}, {j}")
                    slope = f.let(f"select i1 {same}, {v.type} {v.constant(0.0)}, {v.type} {slope}")
                v.store(v.fma(w, slope, v.load(sum_)), sum_)
            v.store(v.load(sum_), v.place(goal, column))
    return _declared(v)


def _either_pair(f: Function, i: str, j: str, rows: str) -> str:
    """Where the pair of two rows stands, in whichever order they come; somewhere for a row and itself."""
    low, high = f.least(i, j), f.most(i, j)
    return f.most(f.least(_pair(f, low, high, rows), f.sub(f.let(f"sdiv i64 {f.mul(rows, f.sub(rows, 1))}, 2"), 1)), 0)


def _shares(v: Vectors, kind: str, own: bool, arrays: tuple[str, str, str], where: tuple[str, str, str, str]) -> None:
    """What each pair of an item's row gets: of p = 2 the gradient by the distance, 0 of a distance of 0."""
    f, type = v.f, v.element
    grad, result, share = arrays
    item, i, rows, others = where
    with f.loop(0, others) as j:
        place = _either_pair(f, i, j, rows) if own else f.add(f.mul(item, others), j)
        w = v.load(v.place(grad, place), type)
        if kind == "squares":
            length = v.load(v.place(result, place), type)
            quotient = f.let(f"fdiv {type} {w}, {length}")
            w = f.let(f"select i1 {f.let(f'fcmp oeq {type} {length}, 0.0')}, {type} 0.0, {type} {quotient}")
        if own:
            w = f.let(f"select i1 {f.let(f'icmp eq i64 {i}, {j}')}, {type} 0.0, {type} {w}")
        f.do(f"store {type} {w}, ptr {v.place(share, j)}")


def _sign(v: Vectors, d: str) -> str:
    """1, -1 or 0, and nan of nan."""
    f, test = v.f, f"<{v.lanes} x i1>"
    zero, one, less = (v.constant(n) for n in (0.0, 1.0, -1.0))
    equal = f.let(f"select {test} {f.let(f'fcmp uno {v.type} {d}, {d}')}, {v.type} {d}, {v.type} {zero}")
    below = f.let(f"select {test} {f.let(f'fcmp olt {v.type} {d}, {zero}')}, {v.type} {less}, {v.type} {equal}")
    return f.let(f"select {test} {f.let(f'fcmp ogt {v.type} {d}, {zero}')}, {v.type} {one}, {v.type} {below}")


def _sign_of_largest(v: Vectors, d: str, length: str) -> str:
    """The sign where a difference is the largest; nan where that is not known, or both are infinite."""
    f, test, zero = v.f, f"<{v.lanes} x i1>", v.constant(0.0)
    short = f.let(f"fsub {v.type} {length}, {_size(v, d)}")
    unknown = f.let(f"select {test} {f.let(f'fcmp uno {v.type} {short}, {short}')}, {v.type} {short}, {v.type} {zero}")
    there = f.let(f"fcmp oeq {v.type} {short}, {zero}")
    return f.let(f"select {test} {there}, {v.type} {_sign(v, d)}, {v.type} {unknown}")
