"""Products of large matrices, as LLVM IR: out = start + a @ b.

A tile of results stays in registers over a depth of a panel: a tile's columns of the second matrix, laid out in the first cache
for all tiles of a block of rows; what they read of the first matrix stays in the second cache (Goto and van de Geijn, "Anatomy of
High-Performance Matrix Multiplication", 2008). Rows in one piece are read where
they lie; others, and those whose distance lets them displace each other in the cache, are laid side by side on the way.
A result is the sum of its depths' sums in their order, whoever computes it: threads change no number.
"""

from __future__ import annotations

from collections.abc import Callable

from tenfold.llvm.packing import DECLARED, LINE, fetch, laid_across, laid_along, laid_panel, strip_of
from tenfold.llvm.products import HEAD, Tile
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

BLOCK_ROWS = 264  # at most, of a block that is laid out: a multiple of all tiles' rows
DEPTH_BYTES = 1 << 10  # of a row, in one go
UNROLLED = 4
NAME = "tile_{}_{}"


def tile_of(stored: Stored) -> Tile:
    """As many results as registers hold beside the numbers that they are made of."""
    return Tile(stored, 12 if registers().count == 32 else 6, 2)


def depth_of(stored: Stored) -> int:
    """The most steps in one go."""
    return DEPTH_BYTES // stored.size


def products(stored: Stored, turned: bool, laid: bool, b_turned: bool) -> str:
    """out = start + a @ b for a block of rows and a span of columns.

    Items are (block, span), the last fastest. `turned`: the columns of a are in one piece; else its rows are, which `laid` has
    laid out; `b_turned`: so are those of b. Context: a, b, start or null, out; bytes from a's row, or column, to the next, and
    from b's; bytes from a row of start to the next, 0 where it is one; rows, columns, depth; rows of a block, columns of a span,
    spans, depth of a step.
    """
    tile = tile_of(stored)
    f = Function(HEAD)
    v = Vectors(f, stored, tile.lanes)
    a, b, start, out, across, down, start_row, rows, columns, depth, block, span, spans, step = f.words(
        ["*a", "*b", "*start", "*out", *["number"] * 10]
    )
    f.variables.append(f"%panel = alloca [{depth_of(stored) * tile.width} x {v.element}], align 64")
    if turned or laid:
        f.variables.append(f"%strip = alloca [{(BLOCK_ROWS + 2 * tile.rows) * (depth_of(stored) + 1)} x {v.element}], align 64")
    f.variables.append(f"%wide = alloca [{tile.width * tile.rows} x {v.element}], align 64")
    f.variables.append(f"%zeros = alloca [{tile.width} x {v.element}], align 64")
    for k in range(0, tile.width, v.lanes):
        v.store("zeroinitializer", v.place("%zeros", k))
    pitch = f.mul(columns, stored.size)
    bare = f.let(f"icmp eq ptr {start}, null")
    with f.loop("%lo", "%hi") as item, f.loop(0, depth, step) as p:
        part, side = f.split(item, spans)
        first, left = f.mul(part, block), f.mul(side, span)
        right = f.least(f.add(left, span), columns)
        count, deep = f.least(block, f.sub(rows, first)), f.least(step, f.sub(depth, p))
        if turned:
            corner = v.place(f.at(a, f.mul(p, across)), first)
            laid_across(f, v, tile, corner, across, count, deep)
        else:
            corner = v.place(f.at(a, f.mul(first, across)), p)
            if laid:
                laid_along(f, v, tile, corner, across, count, deep)
        again = f.let(f"icmp sgt i64 {p}, 0")
        with f.loop(left, right, tile.width) as j:
            laid_panel(f, v, tile, b_turned, (b, down), (p, j), f.sub(columns, j), deep)
            here = v.place(out, f.add(f.mul(first, columns), j))
            begun = v.place(f.at(start, f.mul(first, start_row)), j)
            fresh = f.let(f"select i1 {bare}, ptr %zeros, ptr {begun}")
            above = f.let(f"select i1 {again}, ptr {here}, ptr {fresh}")
            above_row = f.let(f"select i1 {again}, i64 {pitch}, i64 {start_row}")
            sizes = (count, f.sub(columns, j), deep)
            _panel(f, v, tile, turned or laid, (corner, across), sizes, (here, pitch), (above, above_row))
    kinds = [(tile.rows, tile.vectors)] if turned or laid else [(tile.rows, tile.vectors), (1, tile.vectors)]
    kinds.append((_slim_rows(tile, turned or laid), 1))
    tiles = "".join(_tile(stored, tile, *kind, turned or laid) for kind in kinds)
    return v.declarations() + DECLARED + tiles + f.text()


def _panel(
    f: Function, v: Vectors, tile: Tile, laid: bool, a: tuple[str, str], sizes: tuple[str, str, str],
    out: tuple[str, str], above: tuple[str, str],
) -> None:  # fmt: skip
    """All tiles of a block that stand above one another."""
    count, left, _ = sizes
    slim = f.let(f"icmp sle i64 {left}, {v.lanes}")
    if not laid:  # where they lie there are no further rows to be read
        slim = f.let(f"and i1 {slim}, {f.let(f'icmp sge i64 {count}, {_slim_rows(tile, laid)}')}")
    with f.either(slim) as otherwise:
        _slim(f, v, tile, laid, a, sizes, out, above)
        otherwise()
        _wide(f, v, tile, laid, a, sizes, out, above)


def _slim_rows(tile: Tile, laid: bool) -> int:
    """Rows of a tile of one vector: two strips, whose sums are as many as a whole tile's; where rows are read in place, one's."""
    return 2 * tile.rows if laid else tile.rows


def _slim(
    f: Function, v: Vectors, tile: Tile, laid: bool, a: tuple[str, str], sizes: tuple[str, str, str],
    out: tuple[str, str], above: tuple[str, str],
) -> None:  # fmt: skip
    """The same of a last panel whose columns one vector holds: the other one of a whole tile would be for nothing."""
    (count, left, deep), (corner, across), rows = sizes, a, _slim_rows(tile, laid)
    with f.loop(0, count, rows) as i:
        begin = i if laid else f.least(i, f.sub(count, rows))  # strips have rows behind the last one
        start = strip_of(f, v, i, deep) if laid else f.at(corner, f.mul(begin, across))
        f.do(
            f"call void @{NAME.format(rows, 1)}(ptr {start}, i64 {across}, ptr %panel, i64 {deep}, ptr %wide, "
            f"i64 {v.lanes * v.stored.size}, ptr %zeros, i64 0)"
        )
        to, term = f.at(out[0], f.mul(i, out[1])), f.at(above[0], f.mul(i, above[1]))
        few = f.least(rows, f.sub(count, i))
        _cut(f, v, v.lanes, few, left, f.sub(i, begin), (to, out[1]), (term, above[1]))


def _wide(
    f: Function, v: Vectors, tile: Tile, laid: bool, a: tuple[str, str], sizes: tuple[str, str, str],
    out: tuple[str, str], above: tuple[str, str],
) -> None:  # fmt: skip
    """Tiles of all their columns, and those that reach over the edge."""
    count, left, deep = sizes
    corner, across = a
    full = f.let(f"icmp sge i64 {left}, {tile.width}")
    last = f.sub(count, tile.rows)
    enough = f.let(f"icmp sge i64 {last}, 0")

    def call(rows: int, i: str, to: str, row: str | int, term: str, term_row: str | int) -> None:
        start = strip_of(f, v, i, deep) if laid else f.at(corner, f.mul(i, across))
        f.do(
            f"call void @{NAME.format(rows, tile.vectors)}(ptr {start}, i64 {across}, ptr %panel, i64 {deep}, ptr {to}, "
            f"i64 {row}, ptr {term}, i64 {term_row})"
        )

    with f.loop(0, count, tile.rows) as i:
        to, term = f.at(out[0], f.mul(i, out[1])), f.at(above[0], f.mul(i, above[1]))
        whole = f.let(f"and i1 {full}, {f.let(f'icmp sle i64 {i}, {last}')}")
        with f.either(whole) as otherwise:
            call(tile.rows, i, to, out[1], term, above[1])
            otherwise()
            few = f.least(tile.rows, f.sub(count, i))
            skipped = f.variable("i64", "0")  # rows of the tile that another one has
            if laid:  # numbers of rows that are none were laid down as well
                call(tile.rows, i, "%wide", tile.width * v.stored.size, "%zeros", 0)
            else:
                with f.either(enough) as alone:
                    begin = f.least(i, last)
                    f.do(f"store i64 {f.sub(i, begin)}, ptr {skipped}")
                    call(tile.rows, begin, "%wide", tile.width * v.stored.size, "%zeros", 0)
                    alone()
                    with f.loop(0, few) as m:
                        call(1, f.add(i, m), v.place("%wide", f.mul(m, tile.width)), 0, "%zeros", 0)
            skip = f.let(f"load i64, ptr {skipped}")
            _cut(f, v, tile.width, few, f.least(left, tile.width), skip, (to, out[1]), (term, above[1]))


def _cut(
    f: Function, v: Vectors, width: int, rows: str, columns: str, skip: str, out: tuple[str, str], above: tuple[str, str]
) -> None:
    """The sums of a tile that reaches over the edge, to the rows and columns that there are."""
    with f.loop(0, rows) as m:
        line = v.place("%wide", f.mul(f.add(m, skip), width))
        to, term = f.at(out[0], f.mul(m, out[1])), f.at(above[0], f.mul(m, above[1]))
        whole = f.let(f"and i64 {columns}, {-v.lanes}")
        with f.loop(0, whole, v.lanes) as c:
            total, before = (v.load(v.place(x, c)) for x in (line, term))
            v.store(f.let(f"fadd {v.type} {total}, {before}"), v.place(to, c))
        with f.loop(whole, columns) as c:
            total, before = (v.load(v.place(x, c), v.element) for x in (line, term))
            f.do(f"store {v.element} {f.let(f'fadd {v.element} {total}, {before}')}, ptr {v.place(to, c)}")


def _tile(stored: Stored, tile: Tile, rows: int, vectors: int, laid: bool) -> str:
    """out = above + a @ b, a tile or some of its vectors; distances in bytes. `laid`: the rows lie side by side, in strips."""
    f = Function(
        f"internal void @{NAME.format(rows, vectors)}(ptr noalias %a, i64 %across, ptr noalias %b, i64 %k, ptr %out, "
        "i64 %row, ptr %above, i64 %above_row)",
        'noinline nounwind "prefer-vector-width"="512"',
    )
    v = Vectors(f, stored, tile.lanes)
    for m in range(rows):  # the memory of the results is on its way while they are computed
        for byte in range(0, vectors * v.lanes * stored.size, LINE):
            fetch(f, f.at(f.at("%out", f.mul("%row", m)), byte), written=True)
    sums = [[f.variable(v.type, "zeroinitializer") for _ in range(vectors)] for _ in range(rows)]
    _added(f, v, tile, sums, laid)

    for m, row in enumerate(sums):
        goal, term = f.at("%out", f.mul("%row", m)), f.at("%above", f.mul("%above_row", m))
        for k, place in enumerate(row):
            total, before = f.let(f"load {v.type}, ptr {place}"), v.load(v.place(term, k * v.lanes))
            v.store(f.let(f"fadd {v.type} {total}, {before}"), v.place(goal, k * v.lanes))
    return f.text()


def _rows(f: Function, v: Vectors, tile: Tile, rows: int, laid: bool, q: str) -> Callable[[int, int], str]:
    """Where the first factor of a row is, u steps behind step q; what the next tile reads there is fetched."""
    if laid:
        strips = [v.place(strip_of(f, v, str(i), "%k", "%a"), f.mul(q, tile.rows)) for i in range(0, rows, tile.rows)]
        return lambda u, m: v.place(strips[m // tile.rows], u * tile.rows + m % tile.rows)
    here = v.place("%a", q)
    lines = [f.at(here, f.mul("%across", m)) for m in range(rows)]
    following = f.at(here, f.mul("%across", rows))
    for m in range(rows if rows > 1 else 0):
        fetch(f, f.at(following, f.mul("%across", m)))
    return lambda u, m: v.place(lines[m], u)


def _added(f: Function, v: Vectors, tile: Tile, sums: list[list[str]], laid: bool) -> None:
    """The products of all steps."""

    def add(q: str, steps: int) -> None:
        number = _rows(f, v, tile, len(sums), laid, q)
        panel = v.place("%b", f.mul(q, tile.width))
        for u in range(steps):
            columns = [v.load(v.place(panel, u * tile.width + k * v.lanes)) for k in range(len(sums[0]))]
            for m, row in enumerate(sums):
                factor = v.splat(v.load(number(u, m), v.element))
                for column, place in zip(columns, row, strict=True):
                    f.do(f"store {v.type} {v.fma(factor, column, f.let(f'load {v.type}, ptr {place}'))}, ptr {place}")

    whole = f.let(f"and i64 %k, {-UNROLLED}")
    with f.loop(0, whole, UNROLLED) as q:
        add(q, UNROLLED)
    with f.loop(whole, "%k") as q:
        add(q, 1)
