"""Products of gathered numbers, as LLVM IR: what convolutions and their gradients are made of.

All are out[m, j] = sum over r of x[place(m) + step(r)] * w[r, j], where `place` and `step` are tables of distances in bytes:
a convolution's columns are read where they lie in the padded planes and are never written out. A tile of results stays in
registers. Which side is the vector depends on the sizes:

- `by_pixel`: m are output pixels, r the taps of all input channels, j output channels, whose weights `transposition` laid side
  by side in panels; results are transposed on their way out. `by_place` leaves them as they come: for the weights' gradient,
  where m are taps, r pixels and j the channels of the incoming gradient, and for planes of few pixels.
- `by_row`: for few output channels. j are pixels of one output row, m output channels.
- `depthwise`: every channel by itself; j are pixels of one row, m neighbouring rows. `depthwise_gradient` likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

GROUP = 48  # pixels, or taps, that share the weights in the first cache: a multiple of all tiles and vectors
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


def panel_tile(stored: Stored, channels: int) -> Tile:
    """The tile for `by_pixel`: the one that leaves the fewest lanes without a channel, the widest of those."""
    here = registers()
    rows = {4: 6, 3: 8, 2: 8, 1: 8} if here.count == 32 else {2: 6, 3: 4, 1: 6}
    needed = -(-channels // here.lanes(stored))
    vectors = min(rows, key=lambda count: -(-needed // count) * count)
    return Tile(stored, rows[vectors], vectors)


def _module(function: Function, vectors: Vectors) -> str:
    return vectors.declarations() + function.text()


def _gathered(f: Function, v: Vectors, tile: Tile, x: str, places: str, steps: str, count: str, w: str, out: str) -> None:
    """Add to a tile at `out`, whose rows lie side by side, the products of `count` steps."""
    rows = [f.at(x, f.whole(places, m)) for m in range(tile.rows)]
    cells = [[v.place(out, m * tile.width + k * tile.lanes) for k in range(tile.vectors)] for m in range(tile.rows)]
    sums = [[f.variable(v.type) for _ in row] for row in cells]
    for m, row in enumerate(sums):
        for k, place in enumerate(row):
            f.do(f"store {v.type} {v.load(cells[m][k])}, ptr {place}")
    with f.loop(0, count) as r:
        step = f.whole(steps, r)
        line = v.place(w, f.mul(r, tile.width))
        weights = [v.load(v.place(line, k * tile.lanes)) for k in range(tile.vectors)]
        for m in range(tile.rows):
            number = v.splat(v.load(f.at(rows[m], step), v.element))
            for k in range(tile.vectors):
                sum_ = v.fma(number, weights[k], f.let(f"load {v.type}, ptr {sums[m][k]}"))
                f.do(f"store {v.type} {sum_}, ptr {sums[m][k]}")
    for m, row in enumerate(sums):
        for k, place in enumerate(row):
            v.store(f.let(f"load {v.type}, ptr {place}"), cells[m][k])


def _in_depths(f: Function, v: Vectors, tile: Tile, total: str, count: str, run: Callable[[str, str, str, str], None]) -> None:
    """run(first step, steps, its weights' row, first row of a tile) over all tiles of a group, a depth of weights at a time."""
    depth = DEPTH_BYTES // (tile.width * tile.stored.size)
    with f.loop(0, total, depth) as first:
        steps = f.least(depth, f.sub(total, first))
        row = f.mul(first, tile.width)
        with f.loop(0, count, tile.rows) as t:
            run(first, steps, row, t)


def by_pixel(tile: Tile) -> str:
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

        def run(step: str, many: str, row: str, t: str) -> None:
            there = f.at(places, f.add(first, t), "i64")
            target = v.place(cells, f.mul(t, tile.width))
            _gathered(f, v, tile, plane, there, f.at(steps, step, "i64"), many, v.place(weights, row), target)

        _in_depths(f, v, tile, taps, count, run)
        before = f.mul(panel, tile.width)
        to = f.add(f.mul(f.add(f.mul(f.add(f.mul(n, groups), g), channels), before), pixels), first)
        _spread_out(f, v, tile, cells, count, f.sub(channels, before), v.place(out, to), pixels)
    return _module(f, v)


def _spread_out(f: Function, v: Vectors, tile: Tile, cells: str, count: str, channels: str, out: str, pixels: str) -> None:
    """Write `count` pixels of cells (pixel, channel) to planes of channels."""
    with f.loop(0, count, tile.lanes) as p, f.loop(0, tile.width, tile.lanes) as c:
        square = [v.load(v.place(cells, f.add(f.mul(f.add(p, k), tile.width), c))) for k in range(tile.lanes)]
        here, left = f.sub(count, p), f.sub(channels, c)
        target = v.place(out, f.add(f.mul(c, pixels), p))
        for k, column in enumerate(v.transposed(square)):
            with f.when(f.let(f"icmp sgt i64 {left}, {k}")):
                v.store_first(column, v.place(target, f.mul(pixels, k)), here)


def by_place(tile: Tile) -> str:
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

        def run(step: str, many: str, row: str, t: str) -> None:
            there = f.at(places, f.add(first, t), "i64")
            cells = v.place(target, f.mul(t, tile.width))
            _gathered(f, v, tile, plane, there, f.at(steps, step, "i64"), many, v.place(weights, row), cells)

        _in_depths(f, v, tile, pixels, count, run)
    return _module(f, v)


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
    return _module(f, v)


def by_row(tile: Tile) -> str:
    """Items are (image, group of channels, output row), the last fastest.

    Context: x, weights (channel, tap), bias, out, places of the rows, steps of the taps; a row's pixels, rows, taps, groups of
    channels, channels in a group, bytes from an image of x to the next, and from a group.
    """
    f = Function(HEAD)
    v = Vectors(f, tile.stored, tile.lanes)
    x, w, bias, out, places, steps, length, rows, taps, groups, channels, image, apart = f.words(
        ["*x", "*w", "*bias", "*out", "*places", "*steps", *["number"] * 7]
    )
    last = f.sub(channels, 1)
    with f.loop("%lo", "%hi") as item:
        rest, y = f.split(item, rows)
        n, g = f.split(rest, groups)
        line = f.at(x, f.add(f.add(f.mul(n, image), f.mul(g, apart)), f.whole(places, y)))
        before = f.mul(g, channels)
        with f.loop(0, length, tile.width) as j, f.loop(0, channels, tile.rows) as first:
            # A tile that reaches beyond the last channel computes it again.
            numbers = [f.add(before, f.least(f.add(first, m), last)) for m in range(tile.rows)]
            weights = [v.place(w, f.mul(o, taps)) for o in numbers]
            start = [v.splat(v.load(v.place(bias, o), v.element)) for o in numbers]
            sums = [[f.variable(v.type) for _ in range(tile.vectors)] for _ in numbers]
            _keep(f, v, sums, [[value] * tile.vectors for value in start])
            with f.loop(0, taps) as r:
                place = v.place(f.at(line, f.whole(steps, r)), j)
                pixels = [v.load(v.place(place, k * tile.lanes)) for k in range(tile.vectors)]
                for m, row in enumerate(sums):
                    number = v.splat(v.load(v.place(weights[m], r), v.element))
                    for k, sum_ in enumerate(row):
                        value = v.fma(pixels[k], number, f.let(f"load {v.type}, ptr {sum_}"))
                        f.do(f"store {v.type} {value}, ptr {sum_}")
            left = f.sub(length, j)
            for m, row in enumerate(sums):
                o = f.add(f.mul(f.mul(n, groups), channels), numbers[m])
                _store_row(f, v, row, v.place(out, f.add(f.mul(f.add(f.mul(o, rows), y), length), j)), left)
    return _module(f, v)


def depthwise(tile: Tile) -> str:
    """As `by_row` with a tile's rows of the output in one item, and one input channel in each group."""
    f = Function(HEAD)
    v = Vectors(f, tile.stored, tile.lanes)
    x, w, bias, out, places, steps, length, rows, taps, groups, channels, image, apart, parts = f.words(
        ["*x", "*w", "*bias", "*out", "*places", "*steps", *["number"] * 8]
    )
    last = f.sub(rows, 1)
    with f.loop("%lo", "%hi") as item:
        rest, part = f.split(item, parts)
        n, g = f.split(rest, groups)
        plane = f.at(x, f.add(f.mul(n, image), f.mul(g, apart)))
        ys = [f.least(f.add(f.mul(part, tile.rows), m), last) for m in range(tile.rows)]
        lines = [f.at(plane, f.whole(places, y)) for y in ys]
        with f.loop(0, channels) as multiple, f.loop(0, length, tile.width) as j:
            o = f.add(f.mul(g, channels), multiple)
            weights = v.place(w, f.mul(o, taps))
            start = v.splat(v.load(v.place(bias, o), v.element))
            sums = [[f.variable(v.type) for _ in range(tile.vectors)] for _ in ys]
            _keep(f, v, sums, [[start] * tile.vectors for _ in ys])
            with f.loop(0, taps) as r:
                number = v.splat(v.load(v.place(weights, r), v.element))
                step = f.whole(steps, r)
                for m, row in enumerate(sums):
                    place = v.place(f.at(lines[m], step), j)
                    for k, sum_ in enumerate(row):
                        pixels = v.load(v.place(place, k * tile.lanes))
                        value = v.fma(pixels, number, f.let(f"load {v.type}, ptr {sum_}"))
                        f.do(f"store {v.type} {value}, ptr {sum_}")
            left = f.sub(length, j)
            channel = f.add(f.mul(f.mul(n, groups), channels), o)
            for m, row in enumerate(sums):
                _store_row(f, v, row, v.place(out, f.add(f.mul(f.add(f.mul(channel, rows), ys[m]), length), j)), left)
    return _module(f, v)


def _keep(f: Function, v: Vectors, places: list[list[str]], values: list[list[str]]) -> None:
    for row, line in zip(places, values, strict=True):
        for place, value in zip(row, line, strict=True):
            f.do(f"store {v.type} {value}, ptr {place}")


def _store_row(f: Function, v: Vectors, sums: list[str], target: str, left: str) -> None:
    """Store the first `left` of the numbers in some vectors."""
    for k, place in enumerate(sums):
        here = f.sub(left, k * v.lanes)
        v.store_first(f.let(f"load {v.type}, ptr {place}"), v.place(target, k * v.lanes), here)


def padding(tile: Tile, stride: int) -> str:
    """Rows of planes into larger planes, whose other elements are zero before; items are planes.

    With a stride a row's elements part into as many phases. Context: source, target, places of the rows in the target in bytes,
    then of each phase its first element, where that goes, and its elements; rows, a row's elements, elements of a target plane.
    """
    f = Function(HEAD)
    v = Vectors(f, tile.stored, tile.lanes)
    source, target, places, phases, rows, length, plane = f.words(["*source", "*target", "*places", "*phases", *["number"] * 3])
    size = f.mul(rows, length)
    parts = [[f.whole(phases, 3 * k + i) for i in range(3)] for k in range(stride)]
    with f.loop("%lo", "%hi") as item:
        here, there = v.place(source, f.mul(item, size)), v.place(target, f.mul(item, plane))
        with f.loop(0, rows) as y:
            line, goal = v.place(here, f.mul(y, length)), f.at(there, f.whole(places, y))
            for start, offset, count in parts:
                first, to = v.place(line, start), v.place(goal, offset)
                if stride == 1:
                    with f.loop(0, count, tile.lanes) as j:
                        left = f.sub(count, j)
                        with f.either(f.let(f"icmp sge i64 {left}, {tile.lanes}")) as otherwise:
                            v.store(v.load(v.place(first, j)), v.place(to, j))
                            otherwise()
                            mask = v.below(left)
                            v.store_some(v.load_some(v.place(first, j), mask), v.place(to, j), mask)
                elif stride == 2:
                    _every_second(f, v, first, to, count)
                else:
                    _every(f, v, stride, first, to, "0", count)
    return _module(f, v)


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


def depthwise_gradient(tile: Tile) -> str:
    """The weights' gradient where every group has one input channel; items are output channels. A tile's rows are taps.

    Context: x, gradient, out, places of the rows, steps of the taps filled up to whole tiles; a row's pixels, rows, taps,
    images, output channels, output channels of a group, bytes from an image of x to the next, and from a group.
    """
    f = Function(HEAD)
    v = Vectors(f, tile.stored, tile.lanes)
    x, grad, out, places, steps, length, rows, taps, images, channels, multiple, image, apart = f.words(
        ["*x", "*grad", "*out", "*places", "*steps", *["number"] * 8]
    )
    plane = f.mul(rows, length)
    with f.loop("%lo", "%hi") as o, f.loop(0, taps, tile.rows) as first:
        g = f.let(f"udiv i64 {o}, {multiple}")
        moves = [f.whole(steps, f.add(first, m)) for m in range(tile.rows)]
        sums = [f.variable(v.type) for _ in moves]
        _keep(f, v, [sums], [["zeroinitializer"] * tile.rows])
        with f.loop(0, images) as n:
            start = f.at(x, f.add(f.mul(n, image), f.mul(g, apart)))
            given = v.place(grad, f.mul(f.add(f.mul(n, channels), o), plane))
            with f.loop(0, rows) as y:
                line, other = f.at(start, f.whole(places, y)), v.place(given, f.mul(y, length))
                with f.loop(0, length, tile.lanes) as j:
                    some = v.load_first(v.place(other, j), f.sub(length, j))
                    for move, sum_ in zip(moves, sums, strict=True):
                        pixels = v.load(v.place(f.at(line, move), j))
                        value = v.fma(pixels, some, f.let(f"load {v.type}, ptr {sum_}"))
                        f.do(f"store {v.type} {value}, ptr {sum_}")
        for m, sum_ in enumerate(sums):
            total = v.total(f.let(f"load {v.type}, ptr {sum_}"))
            t = f.add(first, m)
            with f.when(f.let(f"icmp slt i64 {t}, {taps}")):
                place = v.place(out, f.add(f.mul(o, taps), t))
                f.do(f"store {v.element} {total}, ptr {place}, align {tile.stored.size}")
    return _module(f, v)
