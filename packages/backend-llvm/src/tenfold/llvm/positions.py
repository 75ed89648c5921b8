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
    """The first extreme, or the first nan, and its position: neighbours in vectors, or a row's elements, or one by one.

    Context: x, positions, values; length, inner.
    """
    f = Function(HEAD)
    v = Vectors(f, stored, registers().lanes(stored))
    type = stored.memory
    x, positions, values, length, inner = f.words(["*x", "*positions", "*values", "length", "inner"])
    now = f.variable("i64", "%lo")
    beside, wide = (f.let(f"icmp sge i64 {n}, {v.lanes}") for n in (inner, length))
    with f.until() as leave:
        item = f.let(f"load i64, ptr {now}")
        leave(f.let(f"icmp sge i64 {item}, %hi"))
        outer, i = f.split(item, inner)
        plane = f.at(x, f.mul(f.mul(outer, length), inner), type)
        with f.either(beside) as otherwise:
            first = f.least(i, f.sub(inner, v.lanes))  # the last ones again rather than fewer of them
            goal = f.add(f.mul(outer, inner), first)
            _side_by_side(v, kind, f.at(plane, first, type), (positions, values if values_too else "", goal), length, inner)
            f.do(f"store i64 {f.add(goal, v.lanes)}, ptr {now}")
            otherwise()
            start = f.at(plane, i, type)
            where = f.variable("i64")
            with f.either(f.let(f"and i1 {wide}, {f.let(f'icmp eq i64 {inner}, 1')}")) as slowly:
                _along(v, kind, start, where, length)
                slowly()
                _one_by_one(f, type, kind, start, where, length, inner)
            found = f.let(f"load i64, ptr {where}")
            f.do(f"store i64 {found}, ptr {f.at(positions, item, 'i64')}")
            if values_too:
                value = f.let(f"load {type}, ptr {f.at(start, f.mul(found, inner), type)}")
                f.do(f"store {type} {value}, ptr {f.at(values, item, type)}")
            f.do(f"store i64 {f.add(item, 1)}, ptr {now}")
    ends = "".join(
        f"declare {v.type} @llvm.{name}.{v.suffix}({v.type}, {v.type})\n"
        f"declare {v.element} @llvm.vector.reduce.f{name}.{v.suffix}({v.type})\n"
        for name in ("maximum", "minimum")
    )
    return f"{v.declarations()}{ends}declare i{v.lanes} @llvm.cttz.i{v.lanes}(i{v.lanes}, i1)\n{f.text()}"


def _one_by_one(f: Function, type: str, kind: str, start: str, where: str, length: str, inner: str) -> None:
    best = f.variable(type)
    f.do(f"store {type} {f.let(f'load {type}, ptr {start}')}, ptr {best}")
    f.do(f"store i64 0, ptr {where}")
    with f.loop(1, length) as j:
        value = f.let(f"load {type}, ptr {f.at(start, f.mul(j, inner), type)}")
        so_far, at = f.let(f"load {type}, ptr {best}"), f.let(f"load i64, ptr {where}")
        beyond = f.let(f"fcmp {'ugt' if kind == 'largest' else 'ult'} {type} {value}, {so_far}")  # or one is nan
        better = f.let(f"and i1 {beyond}, {f.let(f'fcmp ord {type} {so_far}, {so_far}')}")
        f.do(f"store {type} {f.let(f'select i1 {better}, {type} {value}, {type} {so_far}')}, ptr {best}")
        f.do(f"store i64 {f.let(f'select i1 {better}, i64 {j}, i64 {at}')}, ptr {where}")


def _side_by_side(v: Vectors, kind: str, start: str, goal: tuple[str, str, str], length: str, inner: str) -> None:
    """Of as many neighbours as a vector has lanes, whose positions are as wide as the numbers."""
    f, whole = v.f, f"i{8 * v.stored.size}"
    lanes, test = f"<{v.lanes} x {whole}>", f"<{v.lanes} x i1>"
    best, where = f.variable(v.type), f.variable(lanes)
    v.store(v.load(start), best)
    f.do(f"store {lanes} zeroinitializer, ptr {where}")
    with f.loop(1, length) as j:
        value = v.load(v.place(start, f.mul(j, inner)))
        so_far, at = f.let(f"load {v.type}, ptr {best}"), f.let(f"load {lanes}, ptr {where}")
        beyond = f.let(f"fcmp {'ugt' if kind == 'largest' else 'ult'} {v.type} {value}, {so_far}")
        better = f.let(f"and {test} {beyond}, {f.let(f'fcmp ord {v.type} {so_far}, {so_far}')}")
        f.do(f"store {v.type} {f.let(f'select {test} {better}, {v.type} {value}, {v.type} {so_far}')}, ptr {best}")
        number = j if whole == "i64" else f.let(f"trunc i64 {j} to {whole}")
        one = f.let(f"insertelement {lanes} poison, {whole} {number}, i64 0")
        every = f.let(f"shufflevector {lanes} {one}, {lanes} poison, <{v.lanes} x i32> zeroinitializer")
        f.do(f"store {lanes} {f.let(f'select {test} {better}, {lanes} {every}, {lanes} {at}')}, ptr {where}")
    positions, values, first = goal
    found = f.let(f"load {lanes}, ptr {where}")
    long = found if whole == "i64" else f.let(f"zext {lanes} {found} to <{v.lanes} x i64>")
    f.do(f"store <{v.lanes} x i64> {long}, ptr {f.at(positions, first, 'i64')}, align 8")
    if values:
        v.store(f.let(f"load {v.type}, ptr {best}"), v.place(values, first))


def _along(v: Vectors, kind: str, start: str, where: str, length: str) -> None:
    """Along a row: its extreme in vectors, the last of which may begin within the one before, and then the first place of it."""
    f, end = v.f, "maximum" if kind == "largest" else "minimum"
    last = f.sub(length, v.lanes)
    best = f.variable(v.type)
    v.store(v.load(start), best)
    with f.loop(0, length, v.lanes) as j:
        value = v.load(v.place(start, f.least(j, last)))
        so_far = f.let(f"load {v.type}, ptr {best}")
        v.store(f.let(f"call {v.type} @llvm.{end}.{v.suffix}({v.type} {so_far}, {v.type} {value})"), best)
    found = f.let(f"load {v.type}, ptr {best}")
    sought = v.splat(f.let(f"call {v.element} @llvm.vector.reduce.f{end}.{v.suffix}({v.type} {found})"))
    now = f.variable("i64", "0")
    with f.until() as leave:
        j = f.least(f.let(f"load i64, ptr {now}"), last)
        value = v.load(v.place(start, j))
        same = f.let(f"fcmp oeq {v.type} {value}, {sought}")
        here = f.let(f"or <{v.lanes} x i1> {same}, {f.let(f'fcmp uno {v.type} {value}, {value}')}")  # a nan is the extreme
        mask = f.let(f"bitcast <{v.lanes} x i1> {here} to i{v.lanes}")
        lane = f.let(f"call i{v.lanes} @llvm.cttz.i{v.lanes}(i{v.lanes} {mask}, i1 false)")
        f.do(f"store i64 {f.add(j, f.let(f'zext i{v.lanes} {lane} to i64'))}, ptr {where}")
        f.do(f"store i64 {f.add(j, v.lanes)}, ptr {now}")
        leave(f.let(f"icmp ne i{v.lanes} {mask}, 0"))


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
