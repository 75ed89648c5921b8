"""Borders of an array's own elements or of zeros around planes, and their gradients, as LLVM IR.

Along each dimension a table says which element of the input each one of the result repeats, -1 where it is 0. What lies between
the borders of a row is one copy. Elements are of any dtype; channels last, all channels of a pixel are one element.
"""

from __future__ import annotations

from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

MEMORY = """declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""
KINDS = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}  # elements that are copied in a register


def borders(size: int) -> str:
    """Items are rows of results.

    Context: x, out, tables of planes, rows and columns; bytes of an element; planes, rows and columns of the input and of the
    result; where the copy of each row begins in the result, where it ends, and its first column.
    """
    f = Function(HEAD)
    x, out, zs, ys, xs, wide, D, H, W, oD, oH, oW, begin, end, first = f.words(
        ["*x", "*out", "*zs", "*ys", "*xs", *["number"] * 10]
    )
    amount = f.mul(f.sub(end, begin), wide)
    with f.loop("%lo", "%hi") as item:
        outer, oy = f.split(item, oH)
        n, oz = f.split(outer, oD)
        z, y = f.whole(zs, oz), f.whole(ys, oy)
        goal = f.at(out, f.mul(item, f.mul(oW, wide)))
        none = f.let(f"icmp slt i64 {f.let(f'or i64 {z}, {y}')}, 0")
        with f.either(none) as otherwise:
            f.do(f"call void @llvm.memset.p0.i64(ptr {goal}, i8 0, i64 {f.mul(oW, wide)}, i1 false)")
            otherwise()
            row = f.add(f.mul(f.add(f.mul(n, D), z), H), y)
            source = f.at(x, f.mul(row, f.mul(W, wide)))
            to, since = f.at(goal, f.mul(begin, wide)), f.at(source, f.mul(first, wide))
            f.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {since}, i64 {amount}, i1 false)")
            for start, stop in (("0", begin), (end, oW)):
                with f.loop(start, stop) as o:
                    i, place = f.whole(xs, o), f.at(goal, f.mul(o, wide))
                    with f.either(f.let(f"icmp slt i64 {i}, 0")) as within:
                        f.do(f"call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {wide}, i1 false)")
                        within()
                        element = f.at(source, f.mul(i, wide))
                        if size in KINDS:
                            value = f.let(f"load {KINDS[size]}, ptr {element}, align 1")
                            f.do(f"store {KINDS[size]} {value}, ptr {place}, align 1")
                        else:
                            f.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {place}, ptr {element}, i64 {wide}, i1 false)")
    return MEMORY + f.text()


def borders_grad(stored: Stored) -> str:
    """Every element is added to the one that it repeats. Items are rows of the input.

    Context: gradient, out; for planes and rows of the input which ones of the gradient repeat them: where each one's begin in a
    list of them, and the list; the table of columns; numbers of an element; sizes and the row's copy as in `borders`.
    """
    f = Function(HEAD)
    v = Vectors(f, stored, registers().lanes(stored))
    grad, out, zs, z_list, ys, y_list, xs, C, D, H, W, oD, oH, oW, begin, end, first = f.words(
        ["*grad", "*out", "*zs", "*z_list", "*ys", "*y_list", "*xs", *["number"] * 10]
    )

    def added(goal: str, source: str, count: str) -> None:
        whole = f.let(f"and i64 {count}, {-v.lanes}")
        with f.loop(0, whole, v.lanes) as j:
            total = f.let(f"fadd {v.type} {v.load(v.place(goal, j))}, {v.load(v.place(source, j))}")
            v.store(total, v.place(goal, j))
        with f.loop(whole, count) as j:
            one, other = (v.load(v.place(a, j), v.element) for a in (goal, source))
            f.do(f"store {v.element} {f.let(f'fadd {v.element} {one}, {other}')}, ptr {v.place(goal, j)}")

    with f.loop("%lo", "%hi") as item:
        outer, y = f.split(item, H)
        n, z = f.split(outer, D)
        row = v.place(out, f.mul(item, f.mul(W, C)))
        f.do(f"call void @llvm.memset.p0.i64(ptr {row}, i8 0, i64 {f.mul(f.mul(W, C), stored.size)}, i1 false)")
        with (
            f.loop(f.whole(zs, z), f.whole(zs, f.add(z, 1))) as a,
            f.loop(f.whole(ys, y), f.whole(ys, f.add(y, 1))) as b,
        ):
            given = f.add(f.mul(f.add(f.mul(n, oD), f.whole(z_list, a)), oH), f.whole(y_list, b))
            source = v.place(grad, f.mul(given, f.mul(oW, C)))
            added(v.place(row, f.mul(first, C)), v.place(source, f.mul(begin, C)), f.mul(f.sub(end, begin), C))
            for start, stop in (("0", begin), (end, oW)):
                with f.loop(start, stop) as o:
                    added(v.place(row, f.mul(f.whole(xs, o), C)), v.place(source, f.mul(o, C)), C)
    return v.declarations() + f.text()
