"""Extremes with their positions, and elements taken along a dimension, as LLVM IR.

NumPy needs several passes and arrays of positions for these, which for small arrays cost many times the work. Arrays are seen as
(outer, length, inner), of which the middle is searched; items are outer and inner, the last fastest.
"""

from __future__ import annotations

from tenfold.llvm.products import HEAD
from tenfold.llvm.programs import Compiled
from tenfold.llvm.storage import INT64, Stored
from tenfold.llvm.writer import Function, Vectors, registers


def extreme(stored: Stored, kind: str, values_too: bool) -> str:
    """The first extreme, or the first nan, and its position.

    Context: x, positions, values; length, inner.
    """
    f = Function(HEAD)
    type = stored.memory
    x, positions, values, length, inner = f.words(["*x", "*positions", "*values", "length", "inner"])
    with f.loop("%lo", "%hi") as item:
        outer, i = f.split(item, inner)
        start = f.at(x, f.add(f.mul(f.mul(outer, length), inner), i), type)
        best, where = f.variable(type, f.let(f"load {type}, ptr {start}")), f.variable("i64", "0")
        with f.loop(1, length) as j:
            value = f.let(f"load {type}, ptr {f.at(start, f.mul(j, inner), type)}")
            so_far, at = f.let(f"load {type}, ptr {best}"), f.let(f"load i64, ptr {where}")
            beyond = f.let(f"fcmp {'ugt' if kind == 'largest' else 'ult'} {type} {value}, {so_far}")  # or one is nan
            better = f.let(f"and i1 {beyond}, {f.let(f'fcmp ord {type} {so_far}, {so_far}')}")
            f.do(f"store {type} {f.let(f'select i1 {better}, {type} {value}, {type} {so_far}')}, ptr {best}")
            f.do(f"store i64 {f.let(f'select i1 {better}, i64 {j}, i64 {at}')}, ptr {where}")
        f.do(f"store i64 {f.let(f'load i64, ptr {where}')}, ptr {f.at(positions, item, 'i64')}")
        if values_too:
            f.do(f"store {type} {f.let(f'load {type}, ptr {best}')}, ptr {f.at(values, item, type)}")
    return f.text()


def gathered(memory: str) -> str:
    """out[o, j, i] = x[o, index[o, j, i], i]; a flag where an index is beyond the length. Items are outer.

    Context: x, index, out, flag; length of x, length of the index, inner.
    """
    f = Function(HEAD)
    x, index, out, flag, length, count, inner = f.words(["*x", "*index", "*out", "*flag", "length", "count", "inner"])
    with f.loop("%lo", "%hi") as outer:
        start = f.at(x, f.mul(f.mul(outer, length), inner), memory)
        with f.loop(0, count) as j, f.loop(0, inner) as i:
            place = f.add(f.mul(f.add(f.mul(outer, count), j), inner), i)
            chosen = f.whole(index, place)
            with f.either(f.let(f"icmp ult i64 {chosen}, {length}")) as otherwise:
                value = f.let(f"load {memory}, ptr {f.at(start, f.add(f.mul(chosen, inner), i), memory)}")
                f.do(f"store {memory} {value}, ptr {f.at(out, place, memory)}")
                otherwise()
                f.do(f"store i64 1, ptr {flag}")
    return f.text()


def one_hot() -> str:
    """Rows of zeros with a 1 at each index; a flag where an index is no class. Items are indices.

    Context: index, out, flag; classes.
    """
    f = Function(HEAD)
    index, out, flag, classes = f.words(["*index", "*out", "*flag", "classes"])
    with f.loop("%lo", "%hi") as item:
        row = f.at(out, f.mul(item, classes), "i64")
        chosen = f.whole(index, item)
        with f.loop(0, classes) as j:
            one = f.let(f"zext i1 {f.let(f'icmp eq i64 {j}, {chosen}')} to i64")
            f.do(f"store i64 {one}, ptr {f.at(row, j, 'i64')}")
        with f.when(f.let(f"icmp uge i64 {chosen}, {classes}")):
            f.do(f"store i64 1, ptr {flag}")
    return f.text()


def added_rows(stored: Stored) -> str:
    """out[index[i]] += rows[i] for all i in their order. Items are columns, so that no two threads add to one place.

    Context: rows, index, out; number of rows, columns.
    """
    f = Function(HEAD)
    v = Vectors(f, stored, registers().lanes(stored))
    add = "add" if stored is INT64 else "fadd"
    rows, index, out, count, columns = f.words(["*rows", "*index", "*out", "count", "columns"])
    whole = f.add("%lo", f.let(f"and i64 {f.sub('%hi', '%lo')}, {-v.lanes}"))
    with f.loop(0, count) as i:
        source = v.place(rows, f.mul(i, columns))
        goal = v.place(out, f.mul(f.whole(index, i), columns))
        with f.loop("%lo", whole, v.lanes) as j:
            term, before = (v.load(v.place(x, j)) for x in (source, goal))
            v.store(f.let(f"{add} {v.type} {before}, {term}"), v.place(goal, j))
        with f.loop(whole, "%hi") as j:
            term, before = (v.load(v.place(x, j), v.element) for x in (source, goal))
            f.do(f"store {v.element} {f.let(f'{add} {v.element} {before}, {term}')}, ptr {v.place(goal, j)}")
    return v.declarations() + f.text()


ADDED = Compiled("rows added up by index", added_rows)
