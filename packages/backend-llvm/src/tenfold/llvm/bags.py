"""Sums, means and maxima of bags of a table's rows, and their gradients, as LLVM IR."""

from __future__ import annotations

from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers


class _Bags:
    """A function with vectors over a row's numbers."""

    def __init__(self, stored: Stored) -> None:
        self.f = Function(HEAD)
        self.v = Vectors(self.f, stored, registers().lanes(stored))

    def value(self, place: str, type: str) -> str:
        return self.f.let(f"load {type}, ptr {place}")

    def put(self, value: str, type: str, place: str) -> None:
        self.f.do(f"store {type} {value}, ptr {place}")

    def splat(self, number: str) -> str:
        """A whole number in every lane."""
        type = f"<{self.v.lanes} x i64>"
        one = self.f.let(f"insertelement {type} poison, i64 {number}, i64 0")
        return self.f.let(f"shufflevector {type} {one}, {type} poison, <{self.v.lanes} x i32> zeroinitializer")


def bags(stored: Stored, mode: str, weighted: bool) -> str:
    """Items are bags. The flag is set where an index is no row.

    Context: weight, index, where each bag begins (one more at the end), factors, out, sizes, places; flag; numbers of a row,
    rows, the row that does not count.
    """
    b = _Bags(stored)
    f, v = b.f, b.v
    weight, index, starts, factors, out, sizes, places, flag, D, rows, padding = f.words(
        ["*weight", "*index", "*starts", "*factors", "*out", "*sizes", "*places", "*flag", "D", "rows", "padding"]
    )
    whole = f"<{v.lanes} x i64>"
    count = f.variable("i64")
    total, at = f.variable(v.type), f.variable(whole)
    with f.loop("%lo", "%hi") as bag:
        first, last = f.whole(starts, bag), f.whole(starts, f.add(bag, 1))
        b.put("0", "i64", count)
        with f.loop(first, last) as i:
            row = f.whole(index, i)
            far = f.let(f"icmp uge i64 {row}, {rows}")
            with f.when(far):
                b.put("1", "i64", flag)
            counts = f.let(f"zext i1 {f.let(f'icmp ne i64 {row}, {padding}')} to i64")
            b.put(f.add(b.value(count, "i64"), counts), "i64", count)
        number = b.value(count, "i64")
        f.do(f"store i64 {number}, ptr {f.at(sizes, bag, 'i64')}")
        least = f.let(f"call i64 @llvm.smax.i64(i64 {number}, i64 1)")
        over = v.splat(f.let(f"sitofp i64 {least} to {v.element}"))
        goal = f.mul(bag, D)

        def vector(j: str, mask: str) -> None:
            b.put("zeroinitializer", v.type, total)
            b.put(f"<{', '.join(['i64 -1'] * v.lanes)}>", whole, at)
            with f.loop(first, last) as i:
                row = f.whole(index, i)
                inside = f.let(f"icmp ult i64 {row}, {rows}")
                other = f.let(f"icmp ne i64 {row}, {padding}")
                with f.when(f.let(f"and i1 {inside}, {other}")):
                    source = v.place(weight, f.add(f.mul(row, D), j))
                    value = v.load_some(source, mask) if mask else v.load(source)
                    if weighted:
                        factor = v.splat(v.load(v.place(factors, i), v.element))
                        value = f.let(f"fmul {v.type} {value}, {factor}")
                    known = b.value(total, v.type)
                    if mode == "max":
                        old = b.value(at, whole)
                        better = f.let(f"icmp slt {whole} {old}, zeroinitializer")
                        above = f.let(f"fcmp ogt {v.type} {value}, {known}")
                        type = f"<{v.lanes} x i1>"
                        better = f.let(f"or {type} {better}, {above}")
                        b.put(f.let(f"select {type} {better}, {v.type} {value}, {v.type} {known}"), v.type, total)
                        b.put(f.let(f"select {type} {better}, {whole} {b.splat(row)}, {whole} {old}"), whole, at)
                    else:
                        b.put(f.let(f"fadd {v.type} {known}, {value}"), v.type, total)
            result = b.value(total, v.type)
            if mode == "mean":
                result = f.let(f"fdiv {v.type} {result}, {over}")
            place = v.place(out, f.add(goal, j))
            if mask:
                v.store_some(result, place, mask)
            else:
                v.store(result, place)
            if mode == "max":
                spot, found = f.at(places, f.add(goal, j), "i64"), b.value(at, whole)
                if mask:
                    given = f"{whole} {found}, ptr {spot}, i32 8, <{v.lanes} x i1> {mask}"
                    f.do(f"call void @llvm.masked.store.v{v.lanes}i64.p0({given})")
                else:
                    f.do(f"store {whole} {found}, ptr {spot}, align 8")

        some = f.let(f"and i64 {D}, {-v.lanes}")
        with f.loop(0, some, v.lanes) as j:
            vector(j, "")
        rest = f.sub(D, some)
        with f.when(f.let(f"icmp sgt i64 {rest}, 0")):
            vector(some, v.below(rest))
    masked = f"declare void @llvm.masked.store.v{v.lanes}i64.p0({whole}, ptr, i32, <{v.lanes} x i1>)\n"
    return v.declarations() + (masked if mode == "max" else "") + f.text()


def bags_grad(stored: Stored, mode: str, weighted: bool) -> str:
    """Each bag's gradient is added to its rows. Items are columns, so that no two threads add to one place.

    Context: gradient, index, starts, factors, sizes, table; bags, numbers of a row, the row that does not count.
    """
    b = _Bags(stored)
    f, v = b.f, b.v
    grad, index, starts, factors, sizes, table, count, D, padding = f.words(
        ["*grad", "*index", "*starts", "*factors", "*sizes", "*table", "count", "D", "padding"]
    )
    whole = f.add("%lo", f.let(f"and i64 {f.sub('%hi', '%lo')}, {-v.lanes}"))
    with f.loop(0, count) as bag:
        source = v.place(grad, f.mul(bag, D))
        least = f.let(f"call i64 @llvm.smax.i64(i64 {f.whole(sizes, bag)}, i64 1)")
        over = f.let(f"sitofp i64 {least} to {v.element}")
        with f.loop(f.whole(starts, bag), f.whole(starts, f.add(bag, 1))) as i:
            row = f.whole(index, i)
            with f.when(f.let(f"icmp ne i64 {row}, {padding}")):
                goal = v.place(table, f.mul(row, D))
                factor = v.load(v.place(factors, i), v.element) if weighted else ""

                def add(j: str, wide: bool) -> None:
                    type = v.type if wide else v.element
                    term, before = (v.load(v.place(a, j), type) for a in (source, goal))
                    for how, number in (("fdiv", over if mode == "mean" else ""), ("fmul", factor)):
                        if number:
                            term = f.let(f"{how} {type} {term}, {v.splat(number) if wide else number}")
                    total = f.let(f"fadd {type} {before}, {term}")
                    f.do(f"store {type} {total}, ptr {v.place(goal, j)}, align {stored.size}")

                with f.loop("%lo", whole, v.lanes) as j:
                    add(j, True)
                with f.loop(whole, "%hi") as j:
                    add(j, False)
    return v.declarations() + f.text()


def maxima_grad(stored: Stored) -> str:
    """Each maximum's gradient is added where it came from. Items are columns.

    Context: gradient, places, table; bags, numbers of a row.
    """
    f = Function(HEAD)
    type = stored.memory
    grad, places, table, count, D = f.words(["*grad", "*places", "*table", "count", "D"])
    with f.loop(0, count) as bag, f.loop("%lo", "%hi") as j:
        here = f.add(f.mul(bag, D), j)
        row = f.whole(places, here)
        with f.when(f.let(f"icmp sge i64 {row}, 0")):
            goal = f.at(table, f.add(f.mul(row, D), j), type)
            term, before = (f.let(f"load {type}, ptr {p}") for p in (f.at(grad, here, type), goal))
            f.do(f"store {type} {f.let(f'fadd {type} {before}, {term}')}, ptr {goal}")
    return f.text()
