"""Means and maxima over windows by tables of where each begins and ends along a dimension, as LLVM IR.

Planes are (D, H, W); of fewer dimensions the first ones are 1. Channels first, the rows of a window are added up in vectors, then
what is left of them side by side; channels last, vectors lie over the channels.
"""

from __future__ import annotations

from dataclasses import dataclass

from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

ROW = 4096  # numbers of a row on the stack
RARELY = ", !prof !0"
METADATA = '!0 = !{!"branch_weights", i32 1, i32 2000}\n'
SIZES = ["D", "H", "W", "oD", "oH", "oW"]
TABLES = ["*zs", "*ze", "*ys", "*ye", "*xs", "*xe"]


@dataclass(frozen=True)
class Across:
    """What is added up along a row: windows of `taps` numbers that begin every `step`, or each number `spread` times in a row;
    with neither, by the tables."""

    taps: int = 0
    step: int = 1
    spread: int = 0


class _Planes:
    """What the writers share: the context's words, and loops over the rows of a window."""

    def __init__(self, stored: Stored, names: list[str]) -> None:
        self.f = f = Function(HEAD)
        self.v = Vectors(f, stored, registers().lanes(stored))
        words = f.words([*names, *TABLES, *SIZES])
        self.given, tables, sizes = words[: len(names)], words[len(names) : -6], words[-6:]
        self.tables = [(tables[i], tables[i + 1]) for i in (0, 2, 4)]
        self.inputs, self.outputs = sizes[:3], sizes[3:]

    def bounds(self, axis: int, o: str) -> tuple[str, str]:
        return self.f.whole(self.tables[axis][0], o), self.f.whole(self.tables[axis][1], o)

    def value(self, place: str, type: str) -> str:
        return self.f.let(f"load {type}, ptr {place}")

    def put(self, value: str, type: str, place: str) -> None:
        self.f.do(f"store {type} {value}, ptr {place}")

    def number(self, table: str, index: str) -> str:
        return self.v.load(self.v.place(table, index), self.v.element)

    def over(self, count: str, body: object) -> None:
        """`body(j, mask)` for vectors of a row: whole ones without a mask, then what is left under one."""
        f, v = self.f, self.v
        whole = f.let(f"and i64 {count}, {-v.lanes}")
        with f.loop(0, whole, v.lanes) as j:
            body(j, "")  # type: ignore[operator]
        rest = f.sub(count, whole)
        with f.when(f.let(f"icmp sgt i64 {rest}, 0")):
            body(whole, v.below(rest))  # type: ignore[operator]


def means(stored: Stored, across: Across, back: bool) -> str:
    """Each window's sum over its count, channels first; `back`: sums of what was divided by its own count. Items are planes.

    Context: x, out, counts along each dimension (those of the last one with a vector's length behind them), `pad` numbers before
    a row and `wide` numbers of it with what is around; tables, sizes.
    """
    p = _Planes(stored, ["*x", "*out", "*cz", "*cy", "*cx", "pad", "wide"])
    f, v = p.f, p.v
    x, out, cz, cy, cx, pad, wide = p.given
    (D, H, W), (oD, oH, oW) = p.inputs, p.outputs
    row = f.variable(f"[{ROW} x {v.element}]")
    p.f.do(f"call void @llvm.memset.p0.i64(ptr {row}, i8 0, i64 {f.mul(wide, stored.size)}, i1 false)")
    inside = v.place(row, pad)
    with f.loop("%lo", "%hi") as plane, f.loop(0, oD) as oz, f.loop(0, oH) as oy:
        here = v.place(x, f.mul(plane, f.mul(D, f.mul(H, W))))
        there = v.place(out, f.mul(f.add(f.mul(f.add(f.mul(plane, oD), oz), oH), oy), oW))
        (z0, z1), (y0, y1) = p.bounds(0, oz), p.bounds(1, oy)

        def added(j: str, mask: str) -> None:
            total = f.variable(v.type)
            p.put("zeroinitializer", v.type, total)
            with f.loop(z0, z1) as z, f.loop(y0, y1) as y:
                value = p.v.read(v.place(here, f.add(f.mul(f.add(f.mul(z, H), y), W), j)), mask)
                if back:
                    count = v.splat(f.let(f"fmul {v.element} {p.number(cz, z)}, {p.number(cy, y)}"))
                    count = f.let(f"fmul {v.type} {count}, {v.load(v.place(cx, j))}")
                    value = f.let(f"fdiv {v.type} {value}, {count}")
                p.put(f.let(f"fadd {v.type} {p.value(total, v.type)}, {value}"), v.type, total)
            v.store(p.value(total, v.type), v.place(inside, j))  # zeros behind the row

        p.over(W, added)
        outer = "" if back else f.let(f"fmul {v.element} {p.number(cz, oz)}, {p.number(cy, oy)}")

        def by_table(start: str) -> None:
            with f.loop(start, oW) as o:
                total = f.variable(v.element)
                p.put("0.0", v.element, total)
                with f.loop(*p.bounds(2, o)) as i:
                    value = p.number(inside, i)
                    p.put(f.let(f"fadd {v.element} {p.value(total, v.element)}, {value}"), v.element, total)
                value = p.value(total, v.element)
                if not back:
                    value = f.let(f"fdiv {v.element} {value}, {f.let(f'fmul {v.element} {outer}, {p.number(cx, o)}')}")
                p.put(value, v.element, v.place(there, o))

        def windows(o: str, mask: str) -> None:
            total, begin = "", f.mul(o, across.step)
            for tap in range(across.taps):
                value = _every(v, v.place(row, f.add(begin, tap)), across.step)
                total = f.let(f"fadd {v.type} {total}, {value}") if total else value
            if not back:
                count = f.let(f"fmul {v.type} {v.splat(outer)}, {v.load(v.place(cx, o))}")
                total = f.let(f"fdiv {v.type} {total}, {count}")
            p.v.write(total, v.place(there, o), mask)

        if across.taps:
            p.over(oW, windows)
        elif across.spread:
            many = across.spread * v.lanes
            whole = f.let(f"udiv i64 {oW}, {many}")
            with f.loop(0, whole) as k:
                value = v.load(v.place(inside, f.mul(k, v.lanes)))
                order = ", ".join(f"i32 {i // across.spread}" for i in range(many))
                repeated = f.let(f"shufflevector {v.type} {value}, {v.type} poison, <{many} x i32> <{order}>")
                goal = v.place(there, f.mul(k, many))
                f.do(f"store <{many} x {v.element}> {repeated}, ptr {goal}, align {stored.size}")
            by_table(f.mul(whole, many))
        else:
            by_table("0")
    return v.declarations() + f.text()


def _every(v: Vectors, place: str, step: int) -> str:
    """Every so many numbers from a place on, a vector of them."""
    if step == 1:
        return v.load(place)
    many = step * v.lanes
    wide = v.load(place, f"<{many} x {v.element}>")
    order = ", ".join(f"i32 {i}" for i in range(0, many, step))
    return v.f.let(f"shufflevector <{many} x {v.element}> {wide}, <{many} x {v.element}> poison, <{v.lanes} x i32> <{order}>")


def means_last(stored: Stored, back: bool) -> str:
    """The same, channels last. Items are rows of results.

    Context: x, out, counts along each dimension, channels; tables, sizes.
    """
    p = _Planes(stored, ["*x", "*out", "*cz", "*cy", "*cx", "C"])
    f, v = p.f, p.v
    x, out, cz, cy, cx, C = p.given
    (D, H, W), (oD, oH, oW) = p.inputs, p.outputs
    with f.loop("%lo", "%hi") as item:
        outer, oy = f.split(item, oH)
        n, oz = f.split(outer, oD)
        here, there = v.place(x, f.mul(n, f.mul(f.mul(D, H), f.mul(W, C)))), v.place(out, f.mul(item, f.mul(oW, C)))
        (z0, z1), (y0, y1) = p.bounds(0, oz), p.bounds(1, oy)
        with f.loop(0, oW) as o:
            x0, x1 = p.bounds(2, o)

            def counted(z: str, y: str, i: str) -> str:
                both = f.let(f"fmul {v.element} {p.number(cz, z)}, {p.number(cy, y)}")
                return f.let(f"fmul {v.element} {both}, {p.number(cx, i)}")

            def added(c: str, mask: str) -> None:
                total = f.variable(v.type)
                p.put("zeroinitializer", v.type, total)
                with f.loop(z0, z1) as z, f.loop(y0, y1) as y:
                    source = v.place(here, f.add(f.mul(f.mul(f.add(f.mul(z, H), y), W), C), c))
                    with f.loop(x0, x1) as i:
                        value = p.v.read(v.place(source, f.mul(i, C)), mask)
                        if back:
                            share = v.splat(f.let(f"fdiv {v.element} 1.0, {counted(z, y, i)}"))
                            value = f.let(f"fmul {v.type} {value}, {share}")
                        p.put(f.let(f"fadd {v.type} {p.value(total, v.type)}, {value}"), v.type, total)
                result = p.value(total, v.type)
                if not back:
                    result = f.let(f"fdiv {v.type} {result}, {v.splat(counted(oz, oy, o))}")
                p.v.write(result, v.place(there, f.add(f.mul(o, C), c)), mask)

            p.over(C, added)
    return v.declarations() + f.text()


def maxima(stored: Stored, last: bool) -> str:
    """Each window's largest number, the first of equals or the last that is none, and its index in the plane.

    Items are rows of results. Context: x, values, indices, channels (1 where they come first), steps inside a window along each
    dimension; tables, sizes.
    """
    p = _Planes(stored, ["*x", "*values", "*indices", "C", "gapZ", "gapY", "gapX"])
    f, v = p.f, p.v
    x, values, indices, C, *gaps = p.given
    (D, H, W), (oD, oH, oW) = p.inputs, p.outputs
    lanes = v.lanes if last else 1
    kind, whole = (v.type, f"<{lanes} x i32>") if last else (v.element, "i32")
    flags = f"<{lanes} x i1>" if last else "i1"

    def every(number: str) -> str:
        narrow = f.let(f"trunc i64 {number} to i32")
        if not last:
            return narrow
        one = f.let(f"insertelement {whole} poison, i32 {narrow}, i64 0")
        return f.let(f"shufflevector {whole} {one}, {whole} poison, {whole} zeroinitializer")

    infinite = v.constant(float("-inf")) if last else "0xFFF0000000000000"
    with f.loop("%lo", "%hi") as item:
        outer, oy = f.split(item, oH)
        n, oz = f.split(outer, oD)
        here = v.place(x, f.mul(n, f.mul(f.mul(D, H), f.mul(W, C))))
        (z0, z1), (y0, y1) = p.bounds(0, oz), p.bounds(1, oy)
        with f.loop(0, oW) as o:
            x0, x1 = p.bounds(2, o)
            first = f.add(f.mul(f.add(f.mul(z0, H), y0), W), x0)

            def largest(c: str, mask: str) -> None:
                best, at = f.variable(kind), f.variable(whole)
                p.put(infinite, kind, best)
                p.put(every(first), whole, at)
                with f.loop(z0, z1, gaps[0]) as z, f.loop(y0, y1, gaps[1]) as y:
                    plane = f.mul(f.add(f.mul(z, H), y), W)
                    with f.loop(x0, x1, gaps[2]) as i:
                        place = f.add(plane, i)
                        source = v.place(here, f.add(f.mul(place, C), c))
                        value = p.v.read(source, mask) if last else v.load(source, v.element)
                        known, old = p.value(best, kind), p.value(at, whole)
                        better = f.let(f"fcmp ogt {kind} {value}, {known}")
                        better = f.let(f"or {flags} {better}, {f.let(f'fcmp uno {kind} {value}, {value}')}")
                        if last:
                            p.put(f.let(f"select {flags} {better}, {kind} {value}, {kind} {known}"), kind, best)
                            p.put(f.let(f"select {flags} {better}, {whole} {every(place)}, {whole} {old}"), whole, at)
                        else:  # a branch that is seldom taken, where choices would wait for one another
                            with f.when(better, RARELY):
                                p.put(value, kind, best)
                                p.put(every(place), whole, at)
                goal = f.add(f.mul(f.add(f.mul(item, oW), o), C), c)
                wide = f"<{lanes} x i64>" if last else "i64"
                found = f.let(f"sext {whole} {p.value(at, whole)} to {wide}")
                result, place = p.value(best, kind), f.at(indices, goal, "i64")
                if mask:
                    v.store_some(result, v.place(values, goal), mask)
                    f.do(f"call void @llvm.masked.store.v{lanes}i64.p0({wide} {found}, ptr {place}, i32 8, {flags} {mask})")
                else:
                    f.do(f"store {kind} {result}, ptr {v.place(values, goal)}, align {stored.size}")
                    f.do(f"store {wide} {found}, ptr {place}, align 8")

            if last:
                p.over(C, largest)
            else:
                largest("0", "")
    masked = f"declare void @llvm.masked.store.v{lanes}i64.p0(<{lanes} x i64>, ptr, i32, <{lanes} x i1>)\n" if last else ""
    return v.declarations() + masked + f.text() + METADATA


def maxima_last_grad(stored: Stored) -> str:
    """The gradient is added where each maximum came from, channels last. Items are images.

    Context: gradient, indices, out; elements of a plane, of a result's plane, channels.
    """
    f = Function(HEAD)
    type = stored.memory
    grad, indices, out, size, count, C = f.words(["*grad", "*indices", "*out", "size", "count", "C"])
    with f.loop("%lo", "%hi") as image:
        here = f.at(out, f.mul(image, f.mul(size, C)), type)
        clear = f.mul(f.mul(size, C), stored.size)
        f.do(f"call void @llvm.memset.p0.i64(ptr {here}, i8 0, i64 {clear}, i1 false)")
        with f.loop(0, count) as j:
            start = f.mul(f.add(f.mul(image, count), j), C)
            with f.loop(0, C) as c:
                k = f.add(start, c)
                place = f.at(here, f.add(f.mul(f.whole(indices, k), C), c), type)
                given = f.let(f"load {type}, ptr {f.at(grad, k, type)}")
                before = f.let(f"load {type}, ptr {place}")
                f.do(f"store {type} {f.let(f'fadd {type} {before}, {given}')}, ptr {place}")
    return "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n" + f.text()
