"""Convolutions of every channel by itself, as LLVM IR: planes in the first cache, rows that several outputs share.

A plane that fits is padded on the stack and worked on while it is in the first cache; larger ones come padded in memory. The
last vector of an output row begins early enough to end with the row, and computes again what the one before it has: stores
under a mask cost as much as all else.
"""

from __future__ import annotations

from dataclasses import dataclass

from tenfold.llvm.products import HEAD, Tile, fill_plane, module
from tenfold.llvm.writer import Function, Vectors, registers

LOCAL_BYTES = 1 << 16  # of a padded plane on the stack
MOST_ROWS = 8  # of a tile
HEIGHTS = range(2, 8)  # of windows whose rows of the input are read once for all outputs of a tile


@dataclass(frozen=True)
class Taps:
    """How a window's taps lie: `height` rows right below each other, the first one uppermost or `falling`; 0: anywhere."""

    height: int = 0
    falling: bool = False


def tile_rows(vectors: int, rows: int, taps: Taps) -> int:
    """The rows of a tile: as many as leave registers for a column of weights and the pixels."""
    room = registers().count - 1 - max(1, taps.height) - vectors
    return max(1, min(rows, room // vectors, MOST_ROWS if registers().count == 32 else 4))


class _Planes:
    """The planes of an item: padded on the stack from the images (stride > 0), or in memory as they are."""

    def __init__(self, f: Function, v: Vectors, stride: int) -> None:
        self.f, self.v, self.stride = f, v, stride
        names = ["*sources", "*phases", *["number"] * 6]
        self.sources, self.phases, self.inputs, self.width, self.bytes, self.groups, self.image, self.apart = f.words(names)
        if stride:
            self.local = f.variable(f"[{LOCAL_BYTES} x i8]")
            f.do(f"call void @llvm.memset.p0.i64(ptr {self.local}, i8 0, i64 {self.bytes}, i1 false)")

    def plane(self, x: str, n: str, g: str) -> str:
        """The padded plane of a group of an image."""
        f = self.f
        if not self.stride:
            return f.at(x, f.add(f.mul(n, self.image), f.mul(g, self.apart)))
        source = self.v.place(x, f.mul(f.add(f.mul(n, self.groups), g), f.mul(self.inputs, self.width)))
        tables = (self.sources, self.phases, self.inputs, self.width)
        fill_plane(f, self.v, self.stride, source, self.local, *tables, alone=True)
        return self.local


WORDS = 8  # of the context that _Planes reads


def correlation(tile: Tile, stride: int, taps: Taps) -> str:
    """Items are (image, group), and where planes are not padded here parts of their rows, the last fastest.

    Context: the words of the planes; x, weights (channel, tap), bias, out, places of the rows, steps of the taps; a row's
    pixels, rows, taps, channels of a group, parts of a tile's rows, bytes from a row of a padded plane to the next.
    """
    f = Function(HEAD)
    v = Vectors(f, tile.stored, tile.lanes)
    planes = _Planes(f, v, stride)
    x, w, bias, out, places, steps, length, rows, count, channels, parts, line = f.words(
        ["*x", "*w", "*bias", "*out", "*places", "*steps", *["number"] * 6], WORDS
    )
    latest = f.most(0, f.sub(length, tile.lanes))  # where the last vector of a row begins
    sums = [[f.variable(v.type) for _ in range(tile.vectors)] for _ in range(tile.rows)]

    def tiles(plane: str, n: str, g: str, part: str) -> None:
        top = f.least(f.mul(part, tile.rows), f.sub(rows, tile.rows))
        ys = [f.add(top, m) for m in range(tile.rows)]
        with f.loop(0, channels) as multiple, f.loop(0, length, tile.width) as j:
            o = f.add(f.mul(g, channels), multiple)
            weights = v.place(w, f.mul(o, count))
            start = v.splat(v.load(v.place(bias, o), v.element))
            for row in sums:
                for place in row:
                    f.do(f"store {v.type} {start}, ptr {place}")
            columns = [f.least(f.add(j, k * tile.lanes), latest) for k in range(tile.vectors)]
            if taps.height:
                first = f.at(plane, f.whole(places, top))
                _by_column(f, v, taps, first, line, columns, weights, steps, count, sums)
            else:
                lines = [f.at(plane, f.whole(places, y)) for y in ys]
                _by_tap(f, v, lines, columns, weights, steps, count, sums)
            channel = f.add(f.mul(f.mul(n, planes.groups), channels), o)
            for y, row in zip(ys, sums, strict=True):
                target = v.place(out, f.mul(f.add(f.mul(channel, rows), y), length))
                # What a whole vector writes behind a short row, the next one of the same plane writes over.
                left = f.mul(f.sub(rows, y), length) if stride else length
                for place, column in zip(row, columns, strict=True):
                    value = f.let(f"load {v.type}, ptr {place}")
                    v.store_first(value, v.place(target, column), f.sub(left, column))

    with f.loop("%lo", "%hi") as item:
        if stride:
            n, g = f.split(item, planes.groups)
            plane = planes.plane(x, n, g)
            with f.loop(0, parts) as part:
                tiles(plane, n, g, part)
        else:
            rest, part = f.split(item, parts)
            n, g = f.split(rest, planes.groups)
            tiles(planes.plane(x, n, g), n, g, part)
    return module(f, v)


Sums = list[list[str]]


def _add(f: Function, v: Vectors, place: str, pixels: str, number: str, mask: str = "") -> None:
    """Add products to a sum: in the lanes of a mask alone, since a pixel that is no finite number times zero is none either."""
    before = f.let(f"load {v.type}, ptr {place}")
    value = v.fma(pixels, number, before)
    if mask:
        value = f.let(f"select <{v.lanes} x i1> {mask}, {v.type} {value}, {v.type} {before}")
    f.do(f"store {v.type} {value}, ptr {place}")


def _by_tap(
    f: Function, v: Vectors, lines: list[str], columns: list[str], weights: str, steps: str, count: str, sums: Sums
) -> None:
    """Tap after tap, each read anew for each row."""
    with f.loop(0, count) as r:
        number = v.splat(v.load(v.place(weights, r), v.element))
        step = f.whole(steps, r)
        for line, row in zip(lines, sums, strict=True):
            for place, column in zip(row, columns, strict=True):
                _add(f, v, place, v.load(v.place(f.at(line, step), column)), number)


def _by_column(
    f: Function,
    v: Vectors,
    taps: Taps,
    first: str,
    line: str,
    columns: list[str],
    weights: str,
    steps: str,
    count: str,
    sums: Sums,
) -> None:
    """A column of taps after the other: a row of the input is read once for all rows of the output that it is in."""
    height = taps.height
    width = f.let(f"udiv i64 {count}, {height}")
    upper = f.at(steps, f.mul(width, height - 1 if taps.falling else 0), "i64")
    with f.loop(0, width) as r:
        numbers = [v.splat(v.load(v.place(weights, f.add(f.mul(width, k), r)), v.element)) for k in range(height)]
        if taps.falling:
            numbers.reverse()
        here = f.at(first, f.whole(upper, r))
        places = [v.place(here, column) for column in columns]
        for i in range(len(sums) + height - 1):
            for k in range(len(columns)):
                pixels = v.load(places[k])
                for m, row in enumerate(sums):
                    if 0 <= i - m < height:
                        _add(f, v, row[k], pixels, numbers[i - m])
            places = [f.at(place, line) for place in places]


def gradient(tile: Tile, stride: int) -> str:
    """The weights' gradient; items are output channels. A tile's rows are taps.

    Context: the words of the planes; x, gradient, out, places of the rows, steps of the taps filled up to whole tiles; a row's
    pixels, rows, taps, images, output channels, output channels of a group.
    """
    f = Function(HEAD)
    v = Vectors(f, tile.stored, tile.lanes)
    planes = _Planes(f, v, stride)
    x, grad, out, places, steps, length, rows, taps, images, channels, multiple = f.words(
        ["*x", "*grad", "*out", "*places", "*steps", *["number"] * 6], WORDS
    )
    size = f.mul(rows, length)
    end = f.let(f"and i64 {length}, {-tile.lanes}")
    kept = v.below(f.sub(length, end))
    sums = [f.variable(v.type) for _ in range(tile.rows)]
    with f.loop("%lo", "%hi") as o, f.loop(0, taps, tile.rows) as first:
        g = f.let(f"udiv i64 {o}, {multiple}")
        moves = [f.whole(steps, f.add(first, m)) for m in range(tile.rows)]
        for sum_ in sums:
            f.do(f"store {v.type} zeroinitializer, ptr {sum_}")
        with f.loop(0, images) as n:
            plane = planes.plane(x, n, g)
            given = v.place(grad, f.mul(f.add(f.mul(n, channels), o), size))
            with f.loop(0, rows) as y:
                line, other = f.at(plane, f.whole(places, y)), v.place(given, f.mul(y, length))
                with f.loop(0, length, tile.lanes) as j, f.either(f.let(f"icmp slt i64 {j}, {end}")) as otherwise:
                    for mask in ("", kept):
                        some = v.read(v.place(other, j), mask)
                        for move, sum_ in zip(moves, sums, strict=True):
                            _add(f, v, sum_, v.load(v.place(f.at(line, move), j)), some, mask)
                        if not mask:
                            otherwise()
        for m, sum_ in enumerate(sums):
            total = v.total(f.let(f"load {v.type}, ptr {sum_}"))
            t = f.add(first, m)
            with f.when(f.let(f"icmp slt i64 {t}, {taps}")):
                place = v.place(out, f.add(f.mul(o, taps), t))
                f.do(f"store {v.element} {total}, ptr {place}, align {tile.stored.size}")
    return module(f, v)
