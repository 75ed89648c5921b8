"""Products of large matrices, as LLVM IR: out = start + a @ b.

A tile of results stays in registers over a depth of a panel: a tile's columns of the second matrix, laid out in the first cache
for all tiles of a block of rows; what they read of the first matrix stays in the second cache (Goto and van de Geijn, "Anatomy of
High-Performance Matrix Multiplication", 2008). The rows of a tile are laid side by side, in strips: rows that are
read where they lie take a tenth more time where another program shares the core's caches, and as much where none does.
A result is the sum of its depths' sums in their order, whoever computes it: threads change no number.
"""

from __future__ import annotations

from collections.abc import Callable

from tenfold.llvm.packing import (
    DECLARED,
    LINE,
    along,
    fetch,
    fetch_some,
    laid_across,
    laid_along,
    laid_panel,
    next_panel,
    strip_of,
)
from tenfold.llvm.products import HEAD, Tile
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

BLOCK_ROWS = 792  # at most, of a block: a multiple of all tiles' rows
DEPTH_BYTES = 1 << 10  # of a row, in one go
UNROLLED = 4
NAME = "tile_{}_{}"


def tile_of(stored: Stored) -> Tile:
    """As many results as registers hold beside the numbers that they are made of."""
    return Tile(stored, 12 if registers().count == 32 else 6, 2)


def depth_of(stored: Stored) -> int:
    """The most steps in one go."""
    return DEPTH_BYTES // stored.size


def products(stored: Stored) -> str:
    """out = start + a @ b, or several at once: out[n] = start + the sum over t of a[n, t] @ b[n, t].

    Items are (block of rows, group of n, span of columns), the last fastest. Context: a, b, start or null, out; 1 where the
    columns of a are in one piece, 0 where its rows are; the same of b; bytes from a's row, or column, to the next, and from b's;
    bytes from a row of start to the next, 0 where it is one; 0 where start is as wide as a tile, for all columns, else 1; rows,
    columns, depth; rows of a block, columns of a span, spans, depth of a step; how many n there are, in a group, groups; bytes
    from a[n] to the next (0, or a group has one), from b[n], and from out[n]; how many t there are for each n, for all together,
    bytes from a[t] to the next, and from b[t].
    """
    tile = tile_of(stored)
    f = Function(HEAD)
    v = Vectors(f, stored, tile.lanes)
    a, b, start, out, *numbers = f.words(["*a", "*b", "*start", "*out", *["number"] * 23])
    a_turned, b_turned, across, down, start_row, start_step, rows, columns, depth, block, span, spans, step, *many = numbers
    images, group, groups, a_image, b_image, out_image, terms, every, a_term, b_term = many
    f.variables.append(f"%panel = alloca [{depth_of(stored) * tile.width} x {v.element}], align 64")
    f.variables.append(f"%strip = alloca [{(BLOCK_ROWS + 2 * tile.rows) * (depth_of(stored) + 1)} x {v.element}], align 64")
    f.variables.append(f"%wide = alloca [{tile.width * tile.rows} x {v.element}], align 64")
    f.variables.append(f"%zeros = alloca [{tile.width} x {v.element}], align 64")
    for k in range(0, tile.width, v.lanes):
        v.store("zeroinitializer", v.place("%zeros", k))
    pitch = f.mul(columns, stored.size)
    bare = f.let(f"icmp eq ptr {start}, null")
    a_turned, b_turned = (f.let(f"icmp ne i64 {turned}, 0") for turned in (a_turned, b_turned))
    with f.loop("%lo", "%hi") as item:
        rest, side = f.split(item, spans)
        part, some = f.split(rest, groups)
        first, left, image = f.mul(part, block), f.mul(side, span), f.mul(some, group)
        right, last = f.least(f.add(left, span), columns), f.least(f.add(image, group), images)
        before = f.mul(image, terms)
        with f.loop(0, f.least(terms, f.sub(every, before))) as t, f.loop(0, depth, step) as p:
            count, deep = f.least(block, f.sub(rows, first)), f.least(step, f.sub(depth, p))
            a_here = f.at(f.at(a, f.mul(image, a_image)), f.mul(t, a_term))
            corners = v.place(f.at(a_here, f.mul(p, across)), first), v.place(f.at(a_here, f.mul(first, across)), p)
            with f.when(a_turned):
                laid_across(f, v, tile, corners[0], across, count, deep)
            again = f.let(f"icmp sgt i64 {f.add(t, p)}, 0")
            with f.loop(image, last) as n, f.loop(left, right, tile.width) as j:
                b_here = f.at(f.at(b, f.mul(n, b_image)), f.mul(t, b_term))
                laid_panel(f, v, tile, b_turned, (b_here, down), (p, j), f.sub(columns, j), deep)
                here = v.place(f.at(out, f.mul(n, out_image)), f.add(f.mul(first, columns), j))
                begun = v.place(f.at(start, f.mul(first, start_row)), f.mul(j, start_step))
                fresh = f.let(f"select i1 {bare}, ptr %zeros, ptr {begun}")
                above = f.let(f"select i1 {again}, ptr {here}, ptr {fresh}")
                above_row = f.let(f"select i1 {again}, i64 {pitch}, i64 {start_row}")
                following = next_panel(f, v, tile, b_turned, (b_here, down), (p, j), deep, count)
                begins = f.let(f"and i1 {f.let(f'icmp eq i64 {n}, {image}')}, {f.let(f'icmp eq i64 {j}, {left}')}")
                unlaid = f.let(f"select i1 {a_turned}, i1 false, i1 {begins}")

                def prepare(i: str) -> None:
                    fetch_some(f, following, i, tile.rows)
                    with f.when(unlaid):  # rows, when the first panel comes to them: the stores end behind a tile's products
                        laid_along(f, v, tile, corners[1], across, i, count, deep)

                _panel(f, v, tile, (count, f.sub(columns, j), deep), (here, pitch), (above, above_row), prepare)
    kinds = ((tile.rows, tile.vectors), (2 * tile.rows, 1))
    return v.declarations() + DECLARED + along(stored, tile) + "".join(_tile(stored, tile, *kind) for kind in kinds) + f.text()


def _panel(
    f: Function, v: Vectors, tile: Tile, sizes: tuple[str, str, str], out: tuple[str, str], above: tuple[str, str],
    prepare: Callable[[str], None],
) -> None:  # fmt: skip
    """All tiles of a block that stand above one another."""
    with f.either(f.let(f"icmp sle i64 {sizes[1]}, {v.lanes}")) as otherwise:
        _slim(f, v, tile, sizes, out, above, prepare)
        otherwise()
        _wide(f, v, tile, sizes, out, above, prepare)


def _call(
    f: Function, v: Vectors, kind: tuple[int, int], i: str, deep: str, to: tuple[str, str | int], term: tuple[str, str | int]
) -> None:
    """The sums of the tile whose first row is number i."""
    strip = strip_of(f, v, i, deep)
    f.do(
        f"call void @{NAME.format(*kind)}(ptr {strip}, ptr %panel, i64 {deep}, ptr {to[0]}, i64 {to[1]}, ptr {term[0]}, "
        f"i64 {term[1]})"
    )


def _slim(
    f: Function, v: Vectors, tile: Tile, sizes: tuple[str, str, str], out: tuple[str, str], above: tuple[str, str],
    prepare: Callable[[str], None],
) -> None:  # fmt: skip
    """The tiles of a last panel whose columns one vector holds: two strips together, whose sums are as many as a whole tile's."""
    (count, left, deep), rows = sizes, 2 * tile.rows
    with f.loop(0, count, rows) as i:
        prepare(i)
        prepare(f.add(i, tile.rows))
        _call(f, v, (rows, 1), i, deep, ("%wide", v.lanes * v.stored.size), ("%zeros", 0))
        to, term = f.at(out[0], f.mul(i, out[1])), f.at(above[0], f.mul(i, above[1]))
        _cut(f, v, v.lanes, f.least(rows, f.sub(count, i)), left, (to, out[1]), (term, above[1]))


def _wide(
    f: Function, v: Vectors, tile: Tile, sizes: tuple[str, str, str], out: tuple[str, str], above: tuple[str, str],
    prepare: Callable[[str], None],
) -> None:  # fmt: skip
    """Tiles of all their columns, and those that reach over the edge: behind the last row, strips have that one again."""
    (count, left, deep), kind = sizes, (tile.rows, tile.vectors)
    full = f.let(f"icmp sge i64 {left}, {tile.width}")
    last = f.sub(count, tile.rows)
    with f.loop(0, count, tile.rows) as i:
        prepare(i)
        to, term = f.at(out[0], f.mul(i, out[1])), f.at(above[0], f.mul(i, above[1]))
        whole = f.let(f"and i1 {full}, {f.let(f'icmp sle i64 {i}, {last}')}")
        with f.either(whole) as otherwise:
            _call(f, v, kind, i, deep, (to, out[1]), (term, above[1]))
            otherwise()
            _call(f, v, kind, i, deep, ("%wide", tile.width * v.stored.size), ("%zeros", 0))
            few = f.least(tile.rows, f.sub(count, i))
            _cut(f, v, tile.width, few, f.least(left, tile.width), (to, out[1]), (term, above[1]))


def _cut(f: Function, v: Vectors, width: int, rows: str, columns: str, out: tuple[str, str], above: tuple[str, str]) -> None:
    """The sums of a tile that reaches over the edge, to the rows and columns that there are."""
    with f.loop(0, rows) as m:
        line = v.place("%wide", f.mul(m, width))
        to, term = f.at(out[0], f.mul(m, out[1])), f.at(above[0], f.mul(m, above[1]))
        whole = f.let(f"and i64 {columns}, {-v.lanes}")
        with f.loop(0, whole, v.lanes) as c:
            total, before = (v.load(v.place(x, c)) for x in (line, term))
            v.store(f.let(f"fadd {v.type} {total}, {before}"), v.place(to, c))
        with f.loop(whole, columns) as c:
            total, before = (v.load(v.place(x, c), v.element) for x in (line, term))
            f.do(f"store {v.element} {f.let(f'fadd {v.element} {total}, {before}')}, ptr {v.place(to, c)}")


def _tile(stored: Stored, tile: Tile, rows: int, vectors: int) -> str:
    """out = above + a @ b, a tile or two of one vector; a lies in strips of a tile's rows; distances in bytes."""
    f = Function(
        f"internal void @{NAME.format(rows, vectors)}(ptr noalias %a, ptr noalias %b, i64 %k, ptr %out, i64 %row, ptr %above, "
        "i64 %above_row)",
        'noinline nounwind "prefer-vector-width"="512"',
    )
    v = Vectors(f, stored, tile.lanes)
    for m in range(rows):  # the memory of the results is on its way while they are computed
        for byte in range(0, vectors * v.lanes * stored.size, LINE):
            fetch(f, f.at(f.at("%out", f.mul("%row", m)), byte), written=True)
    sums = [[f.variable(v.type, "zeroinitializer") for _ in range(vectors)] for _ in range(rows)]
    strips = [strip_of(f, v, str(i), "%k", "%a") for i in range(0, rows, tile.rows)]
    whole = f.let(f"and i64 %k, {-UNROLLED}")
    with f.loop(0, whole, UNROLLED) as q:
        _add(f, v, tile, sums, strips, q, UNROLLED)
    with f.loop(whole, "%k") as q:
        _add(f, v, tile, sums, strips, q, 1)

    for m, row in enumerate(sums):
        goal, term = f.at("%out", f.mul("%row", m)), f.at("%above", f.mul("%above_row", m))
        for k, place in enumerate(row):
            total, before = f.let(f"load {v.type}, ptr {place}"), v.load(v.place(term, k * v.lanes))
            v.store(f.let(f"fadd {v.type} {total}, {before}"), v.place(goal, k * v.lanes))
    return f.text()


def _add(f: Function, v: Vectors, tile: Tile, sums: list[list[str]], strips: list[str], q: str, steps: int) -> None:
    """The products of some steps from number q on."""
    here = [v.place(strip, f.mul(q, tile.rows)) for strip in strips]
    panel = v.place("%b", f.mul(q, tile.width))
    for u in range(steps):
        columns = [v.load(v.place(panel, u * tile.width + k * v.lanes)) for k in range(len(sums[0]))]
        for m, row in enumerate(sums):
            place = v.place(here[m // tile.rows], u * tile.rows + m % tile.rows)
            factor = v.splat(v.load(place, v.element))
            for column, sum_ in zip(columns, row, strict=True):
                f.do(f"store {v.type} {v.fma(factor, column, f.let(f'load {v.type}, ptr {sum_}'))}, ptr {sum_}")
