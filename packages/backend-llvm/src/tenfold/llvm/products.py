"""Products of gathered numbers, as LLVM IR: what convolutions and their gradients are made of.

All are out[m, j] = sum over r of x[place(m) + step(r)] * w[r, j], where `place` and `step` are tables of distances in bytes:
a convolution's columns are read where they lie in the padded planes and are never written out. A tile of results stays in
registers. Which side is the vector depends on the sizes:

- `by_pixel`: m are output pixels, r the taps of all input channels, j output channels, whose weights `transposition` laid side
  by side in panels; results are transposed on their way out. `by_place` leaves them as they come: for the weights' gradient,
  where m are taps, r pixels and j the channels of the incoming gradient, and for planes of few pixels.
- `by_row`: for few output channels or few taps. j are pixels of one output row, m output channels.

Where every channel is worked on by itself, see depthwise.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

GROUP = 48  # pixels, or taps, that share the weights in the first cache: a multiple of all tiles and vectors
ROW_TAPS, PIXEL_TAPS = 7, 15  # taps that take as long as what is done before and after those of a tile
DEPTH_BYTES = 1 << 14  # of weights that stay there meanwhile
HEAD = "void @kernel(ptr %ctx, i64 %lo, i64 %hi)"


@dataclass(frozen=True)
class Tile:
    """Results that registers hold: `rows` of `vectors`."""

    stored: Stored
    rows: int
    vectors: int

    @property
    def lanes(self) -> int:
        return registers().lanes(self.stored)

    @property
    def width(self) -> int:
        """The columns of a tile."""
        return self.vectors * self.lanes


@dataclass(frozen=True)
class Run:
    """Taps side by side, `gap` elements apart, whose places are known by the first one's."""

    count: int = 1
    gap: int = 0


def panel_tile(stored: Stored, channels: int) -> Tile:
    """The tile for `by_pixel`: the one that leaves the fewest lanes without a channel, the widest of those."""
    here = registers()
    rows = {4: 6, 3: 8, 2: 8, 1: 8} if here.count == 32 else {2: 6, 3: 4, 1: 6}
    needed = -(-channels // here.lanes(stored))
    vectors = min(rows, key=lambda count: -(-needed // count) * count)
    return Tile(stored, rows[vectors], vectors)


def row_tile(stored: Stored, length: int, channels: int) -> Tile:
    """The tile for `by_row`: the one that computes the fewest pixels twice."""
    here = registers()
    needed = -(-length // here.lanes(stored))
    most = {1: 8, 2: 8, 3: 8} if here.count == 32 else {1: 12, 2: 6, 3: 4}
    rows = {vectors: -(-channels // -(-channels // many)) for vectors, many in most.items()}
    vectors = 1 if needed == 1 else min((2, 3), key=lambda v: -(-needed // v) * v * -(-channels // rows[v]) * rows[v])
    return Tile(stored, rows[vectors], vectors)


def by_rows(stored: Stored, taps: int, pixels: int, length: int, channels: int) -> bool:
    """Whether `by_row` takes less time than `by_pixel` for a plane of rows of this length.

    What that takes: products of whole tiles, with some more taps for what is done before and after each. A product of
    `by_row` takes a twelfth longer, since its taps are looked up one by one.
    """
    row, panel = row_tile(stored, length, channels), panel_tile(stored, channels)
    covered = pixels // length * whole(length, row.width) * whole(channels, row.rows)
    gathered = whole(pixels, panel.rows) * whole(channels, panel.width)
    return covered * (taps + ROW_TAPS) * 13 < gathered * (taps + PIXEL_TAPS) * 12


def whole(count: int, part: int) -> int:
    """`count` filled up to whole parts."""
    return -(-count // part) * part


def module(function: Function, vectors: Vectors) -> str:
    return vectors.declarations() + function.text()


def _gathered(
    f: Function, v: Vectors, tile: Tile, x: str, places: str, steps: str, count: str, w: str, out: str, run: Run
) -> None:
    """Add to a tile at `out`, whose rows lie side by side, the products of `count` steps."""
    rows = [f.at(x, f.whole(places, m)) for m in range(tile.rows)]
    cells = [[v.place(out, m * tile.width + k * tile.lanes) for k in range(tile.vectors)] for m in range(tile.rows)]
    sums = [[f.variable(v.type) for _ in row] for row in cells]
    for m, row in enumerate(sums):
        for k, place in enumerate(row):
            f.do(f"store {v.type} {v.load(cells[m][k])}, ptr {place}")
    with f.loop(0, count, run.count) as r:
        step = f.whole(steps, r)
        line = v.place(w, f.mul(r, tile.width))
        heads = [f.at(row, step) for row in rows]
        for i in range(run.count):
            weights = [v.place(line, i * tile.width + k * tile.lanes) for k in range(tile.vectors)]
            numbers = [v.place(head, i * run.gap) for head in heads]
            _multiplied(f, v, numbers, weights, sums)
    for m, row in enumerate(sums):
        for k, place in enumerate(row):
            v.store(f.let(f"load {v.type}, ptr {place}"), cells[m][k])


def _multiplied(f: Function, v: Vectors, numbers: list[str], vectors: list[str], sums: list[list[str]]) -> None:
    """Add the products of every number with every vector. What there is less of stays in registers."""

    def add(number: str, vector: str, place: str) -> None:
        f.do(f"store {v.type} {v.fma(number, vector, f.let(f'load {v.type}, ptr {place}'))}, ptr {place}")

    if len(vectors) <= len(numbers):
        given = [v.load(vector) for vector in vectors]
        for number, row in zip(numbers, sums, strict=True):
            every = v.splat(v.load(number, v.element))
            for value, place in zip(given, row, strict=True):
                add(every, value, place)
        return
    spread = [v.splat(v.load(number, v.element)) for number in numbers]
    for k, vector in enumerate(vectors):
        value = v.load(vector)
        for every, row in zip(spread, sums, strict=True):
            add(every, value, row[k])


def _in_depths(
    f: Function, v: Vectors, tile: Tile, run: Run, total: str, count: str, do: Callable[[str, str, str, str], None]
) -> None:
    """do(first step, steps, its weights' row, first row of a tile) over all tiles of a group, a depth of weights at a time."""
    depth = max(1, DEPTH_BYTES // (tile.width * tile.stored.size * run.count)) * run.count
    with f.loop(0, total, depth) as first:
        steps = f.least(depth, f.sub(total, first))
        row = f.mul(first, tile.width)
        with f.loop(0, count, tile.rows) as t:
            do(first, steps, row, t)


def by_pixel(tile: Tile, run: Run) -> str:
    """Items are (image, group of channels, panel, group of pixels), the last fastest.

    Context: x, panels of weights, bias in panels, out, places of the pixels, steps of the taps; pixels, taps, groups of pixels,
    panels, groups of channels, channels in a group; bytes from an image of x to the next, and from a group.
    """
    f = Function(HEAD)
    v = Vectors(f, tile.stored, tile.lanes)
    x, w, bias, out, places, steps, pixels, taps, parts, panels, groups, channels, image, apart = f.words(
        ["*x", "*w", "*bias", "*out", "*places", "*steps", *["number"] * 8]
    )
    cells = f.variable(f"[{GROUP * tile.width} x {v.element}]")
    with f.loop("%lo", "%hi") as item:
        rest, part = f.split(item, parts)
        rest, panel = f.split(rest, panels)
        n, g = f.split(rest, groups)
        plane = f.at(x, f.add(f.mul(n, image), f.mul(g, apart)))
        column = f.add(f.mul(g, panels), panel)
        weights = v.place(w, f.mul(f.mul(column, taps), tile.width))
        first = f.mul(part, GROUP)
        count = f.least(GROUP, f.sub(pixels, first))
        start = [v.load(v.place(bias, f.add(f.mul(column, tile.width), k * tile.lanes))) for k in range(tile.vectors)]
        with f.loop(0, GROUP) as p:
            for k, value in enumerate(start):
                v.store(value, v.place(cells, f.add(f.mul(p, tile.width), k * tile.lanes)))

        def do(step: str, many: str, row: str, t: str) -> None:
            there = f.at(places, f.add(first, t), "i64")
            target = v.place(cells, f.mul(t, tile.width))
            _gathered(f, v, tile, plane, there, f.at(steps, step, "i64"), many, v.place(weights, row), target, run)

        _in_depths(f, v, tile, run, taps, count, do)
        before = f.mul(panel, tile.width)
        to = f.add(f.mul(f.add(f.mul(f.add(f.mul(n, groups), g), channels), before), pixels), first)
        _spread_out(f, v, tile, cells, count, f.sub(channels, before), v.place(out, to), pixels)
    return module(f, v)


def _spread_out(f: Function, v: Vectors, tile: Tile, cells: str, count: str, channels: str, out: str, pixels: str) -> None:
    """Write `count` pixels of cells (pixel, channel) to planes of channels."""
    with f.loop(0, count, tile.lanes) as p, f.loop(0, tile.width, tile.lanes) as c:
        square = [v.load(v.place(cells, f.add(f.mul(f.add(p, k), tile.width), c))) for k in range(tile.lanes)]
        here, left = f.sub(count, p), f.sub(channels, c)
        target = v.place(out, f.add(f.mul(c, pixels), p))
        for k, column in enumerate(v.transposed(square)):
            with f.when(f.let(f"icmp sgt i64 {left}, {k}")):
                v.store_first(column, v.place(target, f.mul(pixels, k)), here)


def by_place(tile: Tile, run: Run = Run()) -> str:
    """Items are (group of channels, panel, group of places), the last fastest; adds to what `out` holds, (…, place, channel).

    Context: x, panels of weights, out, places, steps; numbers of places, of steps, of groups of places and of panels; bytes from
    a group of channels of x to the next. For the weights' gradient the places are taps, the steps pixels, and the gradient of
    the result stands in the panels.
    """
    f = Function(HEAD)
    v = Vectors(f, tile.stored, tile.lanes)
    x, w, out, places, steps, taps, pixels, parts, panels, apart = f.words(
        ["*x", "*w", "*out", "*places", "*steps", *["number"] * 5]
    )
    with f.loop("%lo", "%hi") as item:
        column, part = f.split(item, parts)
        g, _ = f.split(column, panels)
        plane = f.at(x, f.mul(g, apart))
        weights = v.place(w, f.mul(f.mul(column, pixels), tile.width))
        first = f.mul(part, GROUP)
        count = f.least(GROUP, f.sub(taps, first))
        # Rows that fill the last tile up are in `out` too.
        target = v.place(out, f.mul(f.add(f.mul(column, f.mul(parts, GROUP)), first), tile.width))

        def do(step: str, many: str, row: str, t: str) -> None:
            there = f.at(places, f.add(first, t), "i64")
            cells = v.place(target, f.mul(t, tile.width))
            _gathered(f, v, tile, plane, there, f.at(steps, step, "i64"), many, v.place(weights, row), cells, run)

        _in_depths(f, v, tile, run, pixels, count, do)
    return module(f, v)


def transposition(tile: Tile) -> str:
    """Matrices (channel, element) laid out as panels (element, channel), a tile's columns wide; items are (outer, panel, inner).

    Context: source, target; channels in all, elements of a row, elements from a channel to the next, from an element to the next
    in the target, panels, inner items; then the distances of outer, panel and inner items in the source, and the same in the
    target, in elements.
    """
    f = Function(HEAD)
    v = Vectors(f, tile.stored, tile.lanes)
    source, target, channels, length, row, goal_row, panels, inner, *far = f.words(["*source", "*target", *["number"] * 12])
    with f.loop("%lo", "%hi") as item:
        rest, i = f.split(item, inner)
        o, panel = f.split(rest, panels)

        def beginning(steps: list[str]) -> str:
            return f.add(f.add(f.mul(o, steps[0]), f.mul(panel, steps[1])), f.mul(i, steps[2]))

        start, goal = v.place(source, beginning(far[:3])), v.place(target, beginning(far[3:]))
        count = f.least(tile.width, f.sub(channels, f.mul(panel, tile.width)))
        last = f.sub(count, 1)
        with f.loop(0, tile.width, tile.lanes) as c, f.loop(0, length, tile.lanes) as j:
            left = f.sub(length, j)
            mask = v.below(left)
            lines = [f.mul(f.least(f.add(c, k), last), row) for k in range(tile.lanes)]
            square = [v.load_some(v.place(start, f.add(line, j)), mask) for line in lines]
            some = f.sub(count, c)
            for k, column in enumerate(v.transposed(square)):
                with f.when(f.let(f"icmp sgt i64 {left}, {k}")):
                    v.store_first(column, v.place(goal, f.add(f.mul(f.add(j, k), goal_row), c)), some)
    return module(f, v)


def by_row(tile: Tile) -> str:
    """Items are (image, group of channels, block of output rows), the last fastest.

    Context: x, weights (channel, tap), bias, out, places of the rows, steps of the taps; a row's pixels, rows, taps, groups of
    channels, channels in a group, bytes from an image of x to the next, and from a group, rows of a block, blocks. The last
    vector of a row begins early enough to end with it, since stores under a mask cost as much as a tile; what one writes behind
    a row that is shorter, the next row of the block writes over.
    """
    f = Function(HEAD)
    v = Vectors(f, tile.stored, tile.lanes)
    x, w, bias, out, places, steps, length, rows, taps, groups, channels, image, apart, block, blocks = f.words(
        ["*x", "*w", "*bias", "*out", "*places", "*steps", *["number"] * 9]
    )
    last = f.sub(channels, 1)
    latest = f.most(0, f.sub(length, tile.lanes))
    sums = [[f.variable(v.type) for _ in range(tile.vectors)] for _ in range(tile.rows)]
    with f.loop("%lo", "%hi") as item:
        rest, part = f.split(item, blocks)
        n, g = f.split(rest, groups)
        plane = f.at(x, f.add(f.mul(n, image), f.mul(g, apart)))
        before = f.mul(g, channels)
        top = f.mul(part, block)
        end = f.least(rows, f.add(top, block))
        with f.loop(0, channels, tile.rows) as first:
            # A tile that reaches beyond the last channel computes it again.
            numbers = [f.add(before, f.least(f.add(first, m), last)) for m in range(tile.rows)]
            weights = [v.place(w, f.mul(o, taps)) for o in numbers]
            start = [v.splat(v.load(v.place(bias, o), v.element)) for o in numbers]
            image_out = f.mul(f.mul(n, groups), channels)
            planes = [v.place(out, f.mul(f.mul(f.add(image_out, o), rows), length)) for o in numbers]
            with f.loop(top, end) as y, f.loop(0, length, tile.width) as j:
                line = f.at(plane, f.whole(places, y))
                columns = [f.least(f.add(j, k * tile.lanes), latest) for k in range(tile.vectors)]
                _keep(f, v, sums, [[value] * tile.vectors for value in start])
                heads = [v.place(line, column) for column in columns]
                with f.loop(0, taps) as r:
                    step = f.whole(steps, r)
                    numbers_at = [v.place(weight, r) for weight in weights]
                    _multiplied(f, v, numbers_at, [f.at(head, step) for head in heads], sums)
                behind = f.mul(f.sub(end, y), length)
                for target, row in zip(planes, sums, strict=True):
                    there = v.place(target, f.mul(y, length))
                    for place, column in zip(row, columns, strict=True):
                        v.store_first(f.let(f"load {v.type}, ptr {place}"), v.place(there, column), f.sub(behind, column))
    return module(f, v)


def _keep(f: Function, v: Vectors, places: list[list[str]], values: list[list[str]]) -> None:
    for row, line in zip(places, values, strict=True):
        for place, value in zip(row, line, strict=True):
            f.do(f"store {v.type} {value}, ptr {place}")


def padding(tile: Tile, stride: int) -> str:
    """Rows of planes into larger planes, whose other elements are zero before; items are planes.

    With a stride a row's elements part into as many phases. Context: source, target, places of the rows in the target in bytes,
    then of each phase its first element, where that goes, and its elements; rows, a row's elements, elements of a target plane.
    """
    f = Function(HEAD)
    v = Vectors(f, tile.stored, tile.lanes)
    source, target, places, phases, rows, length, plane = f.words(["*source", "*target", "*places", "*phases", *["number"] * 3])
    size = f.mul(rows, length)
    with f.loop("%lo", "%hi") as item:
        here, there = v.place(source, f.mul(item, size)), v.place(target, f.mul(item, plane))
        fill_plane(f, v, stride, here, there, places, phases, rows, length)
    return module(f, v)


def fill_plane(
    f: Function,
    v: Vectors,
    stride: int,
    source: str,
    target: str,
    places: str,
    phases: str,
    rows: str,
    length: str,
    *,
    alone: bool = False,
) -> None:
    """Write the rows of a plane into a padded one; the last whole vector of each is written over what is there already.

    `alone`: behind the plane is room for a vector, so that short rows may be written with zeros behind them.
    """
    parts = [[f.whole(phases, 3 * k + i) for i in range(3)] for k in range(stride)]
    with f.loop(0, rows) as y:
        line, goal = v.place(source, f.mul(y, length)), f.at(target, f.whole(places, y))
        for start, offset, count in parts:
            first, to = v.place(line, start), v.place(goal, offset)
            if stride == 1:
                latest = f.sub(count, v.lanes)
                with f.either(f.let(f"icmp sge i64 {latest}, 0")) as otherwise:
                    with f.loop(0, count, v.lanes) as j:
                        here = f.least(j, latest)
                        v.store(v.load(v.place(first, here)), v.place(to, here))
                    otherwise()
                    mask = v.below(count)
                    short = v.load_some(first, mask)
                    v.store(short, to) if alone else v.store_some(short, to, mask)
            elif stride == 2:
                _every_second(f, v, first, to, count)
            else:
                _every(f, v, stride, first, to, "0", count)


def _every(f: Function, v: Vectors, stride: int, source: str, target: str, start: str, count: str) -> None:
    """Copy elements that lie a stride apart, one by one."""
    with f.loop(start, count) as j:
        number = v.load(v.place(source, f.mul(j, stride)), v.element)
        f.do(f"store {v.element} {number}, ptr {v.place(target, j)}, align {v.stored.size}")


def _every_second(f: Function, v: Vectors, source: str, target: str, count: str) -> None:
    """Copy every second element: two vectors are read for one, up to the last element, behind which nothing may be read.

    The last whole vector is written over what is there already.
    """
    order = ", ".join(f"i32 {2 * k}" for k in range(v.lanes))
    last = f.sub(count, 1)
    with f.either(f.let(f"icmp sgt i64 {count}, {v.lanes}")) as otherwise:
        with f.loop(0, last, v.lanes) as j:
            here = f.least(j, f.sub(last, v.lanes))
            pair = [v.load(v.place(source, f.add(f.mul(here, 2), k * v.lanes))) for k in range(2)]
            chosen = f"shufflevector {v.type} {pair[0]}, {v.type} {pair[1]}, <{v.lanes} x i32> <{order}>"
            v.store(f.let(chosen), v.place(target, here))
        _every(f, v, 2, source, target, last, count)
        otherwise()
        _every(f, v, 2, source, target, "0", count)
