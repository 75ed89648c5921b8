"""Convolutions of windows of 3x3 by minimal filtering, as LLVM IR (`winograd_matrices` has the formulas).

A window's results for m x m neighbouring pixels are a tile. Rows of tiles are worked on a few at a time, a block, whose numbers
stay in the second cache: the tiles' inputs are transformed, (position, channel, tile); at each position they are multiplied with
the transformed weights, (position, output channel, tile); and these are transformed to pixels. Tiles lie side by side in
vectors everywhere, so that nothing is transposed but pairs of neighbouring pixels.
"""

from __future__ import annotations

from tenfold.llvm.products import HEAD, Tile
from tenfold.llvm.storage import Stored
from tenfold.llvm.winograd_matrices import TAPS, applied, forms
from tenfold.llvm.writer import Function, Vectors, registers

SLOT_WORDS = 8  # of the flag that a thread's memory is in use: a line of the cache
UNROLLED = 2


def tile_of(stored: Stored) -> Tile:
    """Output channels by tiles: as many sums as registers hold beside what they are made of."""
    return Tile(stored, registers().lanes(stored) // 2, 3)


def weights(stored: Stored, m: int, turned: bool) -> str:
    """G g G' of panels of weights (panel, channel, tap, output channel) as (position, panel, channel, output channel).

    Items are (panel, channel). `turned`: windows are read from their last tap to their first. Context: panels, target; items.
    """
    f = Function(HEAD)
    v = Vectors(f, stored, registers().lanes(stored))
    source, target, items = f.words(["*source", "*target", "number"])
    matrix = forms(m).taps
    with f.loop("%lo", "%hi") as item:
        here, there = v.place(source, f.mul(item, TAPS * TAPS * v.lanes)), v.place(target, f.mul(item, v.lanes))
        taps = [v.load(v.place(here, k * v.lanes)) for k in range(TAPS * TAPS)]
        if turned:
            taps.reverse()
        rows = [applied(f, v, matrix, taps[TAPS * i : TAPS * (i + 1)]) for i in range(TAPS)]
        columns = [applied(f, v, matrix, [row[j] for row in rows]) for j in range(len(matrix))]
        step = f.mul(items, v.lanes)
        for i in range(len(matrix)):
            for j, column in enumerate(columns):
                v.store(column[i], v.place(there, f.mul(step, i * len(matrix) + j)))
    return v.declarations() + f.text()


class _Block:
    """What a block of rows of tiles is computed from, in the kernel's function."""

    WORDS = (
        "*x", "*u", "*bias", "*out", "*inside", "*nothing", "*slots", "*scratch", "*flags",
        "channels", "outer", "panels", "H", "W", "high", "wide", "top", "left",
        "down", "across", "rows", "most", "line", "in_step", "out_step", "slot",
    )  # fmt: skip

    def __init__(self, stored: Stored, m: int) -> None:
        self.m, self.n, self.stored, self.tile = m, m + TAPS - 1, stored, tile_of(stored)
        self.f = f = Function(HEAD)
        self.v = Vectors(f, stored, registers().lanes(stored))
        self.words = dict(zip([name.lstrip("*") for name in self.WORDS], f.words(self.WORDS), strict=True))
        self.mask = f"<{self.v.lanes} x i32>"

    def text(self) -> str:
        f, v, w = self.f, self.v, self.words
        zero = f"store {v.type} zeroinitializer, ptr"
        slot = self._taken()
        self.inputs = v.place(w["scratch"], f.mul(slot, w["slot"]))
        self.results = v.place(self.inputs, f.mul(w["in_step"], self.n * self.n))
        strange = f.variable(v.type)
        with f.loop("%lo", "%hi") as item:
            first = f.mul(item, w["most"])
            count = f.least(w["most"], f.sub(w["rows"], first))
            f.do(f"{zero} {strange}")
            self._transform(first, count)
            self._multiply(f.mul(count, w["across"]))
            self._finish(first, count, strange)
            # The sum is no number where a result was none.
            total = v.total(f.let(f"load {v.type}, ptr {strange}"))
            odd = f.let(f"fcmp uno {v.element} {total}, {total}")
            f.do(f"store i64 {f.let(f'zext i1 {odd} to i64')}, ptr {f.at(w['flags'], item, 'i64')}")
        f.do(f"store atomic i64 0, ptr {f.at(w['slots'], f.mul(slot, SLOT_WORDS), 'i64')} release, align 8")
        return v.declarations() + _tile(self.stored, self.tile) + f.text()

    def _taken(self) -> str:
        """The number of a place in the scratch memory that no other thread works in: there are more than threads."""
        f = self.f
        f.count += 1
        n = f.count
        f.do(f"br label %try{n}")
        f.lines.append(f"try{n}:")
        f.do(f"%slot{n} = phi i64 [0, %entry], [%next{n}, %try{n}]")
        place = f.at(self.words["slots"], f.mul(f"%slot{n}", SLOT_WORDS), "i64")
        pair = f.let(f"cmpxchg ptr {place}, i64 0, i64 1 acquire monotonic")
        free = f.let(f"extractvalue {{ i64, i1 }} {pair}, 1")
        f.do(f"%next{n} = add i64 %slot{n}, 1")
        f.do(f"br i1 {free}, label %taken{n}, label %try{n}")
        f.lines.append(f"taken{n}:")
        return f"%slot{n}"

    def _transform(self, first: str, count: str) -> None:
        """B' d B of all channels."""
        f, w, lanes = self.f, self.words, self.v.lanes
        plane = f.mul(w["H"], w["W"])
        self._clear(f.mul(count, w["across"]))
        with f.loop(0, w["channels"]) as c, f.loop(0, count) as r:
            n, ty = f.split(f.add(first, r), w["down"])
            here = f.mul(f.add(f.mul(n, w["channels"]), c), plane)
            begin = f.sub(f.mul(ty, self.m), w["top"])
            lines = [self._line(here, f.add(begin, i)) for i in range(self.n)]
            goal = f.add(f.mul(c, w["line"]), f.mul(r, w["across"]))
            with f.loop(0, w["across"], lanes) as tx:
                self._square(lines, f.mul(tx, self.m), self.v.place(self.inputs, f.add(goal, tx)))

    def _clear(self, tiles: str) -> None:
        """Zeros behind the tiles, as far as products go: of subnormal numbers, which may lie there, some processors take long."""
        f, v, w, width = self.f, self.v, self.words, self.tile.width
        whole, rest = f.split(tiles, str(width))
        end = f.mul(f.add(whole, f.let(f"zext i1 {f.let(f'icmp ne i64 {rest}, 0')} to i64")), width)
        with f.loop(0, w["channels"]) as c, f.loop(tiles, end, v.lanes) as t:
            goal = f.add(f.mul(c, w["line"]), t)
            for p in range(self.n * self.n):
                v.store("zeroinitializer", v.place(self.inputs, f.add(goal, f.mul(w["in_step"], p))))

    def _line(self, plane: str, y: str) -> str:
        """Where a row begins with its padding; rows of padding are nothing but that."""
        f, w = self.f, self.words
        there = f.let(f"icmp ult i64 {y}, {w['H']}")
        place = self.v.place(w["x"], f.sub(f.add(plane, f.mul(y, w["W"])), w["left"]))
        return f.let(f"select i1 {there}, ptr {place}, ptr {w['nothing']}")

    def _square(self, lines: list[str], column: str, goal: str) -> None:
        """The tiles of a vector, whose first one begins at this column of the padded rows."""
        f, v, m, n = self.f, self.v, self.m, self.n
        starts = [f.add(column, first + k * v.lanes) for first in (0, m) for k in range(m)]
        masks = [self._inside(start) for start in starts]
        rows = []
        for line in lines:
            parts = [v.load_some(v.place(line, start), mask) for start, mask in zip(starts, masks, strict=True)]
            pixels = _apart(f, v, parts[:m]) + _apart(f, v, parts[m:])
            rows.append(applied(f, v, forms(m).inputs, pixels[:n]))
        for j in range(n):
            for i, value in enumerate(applied(f, v, forms(m).inputs, [row[j] for row in rows])):
                v.store(value, v.place(goal, f.mul(self.words["in_step"], i * n + j)))

    def _inside(self, column: str) -> str:
        """Which columns from this one on are none of the padding."""
        mask = self.f.let(f"load {self.mask}, ptr {self.f.at(self.words['inside'], column, 'i32')}, align 4")
        return self.f.let(f"icmp slt {self.mask} {mask}, zeroinitializer")

    def _multiply(self, tiles: str) -> None:
        """The products of weights and inputs at every position."""
        f, v, w, tile = self.f, self.v, self.words, self.tile
        size = f.mul(f.mul(w["panels"], w["channels"]), v.lanes)
        pitch = f.mul(w["line"], v.stored.size)
        with f.loop(0, self.n * self.n) as p, f.loop(0, tiles, tile.width) as t:
            b = v.place(self.inputs, f.add(f.mul(p, w["in_step"]), t))
            goal = v.place(self.results, f.add(f.mul(p, w["out_step"]), t))
            there = v.place(w["u"], f.mul(p, size))
            with f.loop(0, w["panels"]) as panel:
                panels = v.place(there, f.mul(panel, f.mul(w["channels"], v.lanes)))
                for row in range(0, v.lanes, tile.rows):
                    to = f.at(goal, f.mul(f.add(f.mul(panel, v.lanes), row), pitch))
                    f.do(f"call void @tile(ptr {v.place(panels, row)}, ptr {b}, i64 {w['channels']}, ptr {to}, i64 {pitch})")

    def _finish(self, first: str, count: str, strange: str) -> None:
        """A' M A and the bias, of all output channels."""
        f, w, lanes = self.f, self.words, self.v.lanes
        plane = f.mul(w["high"], w["wide"])
        with f.loop(0, w["outer"]) as o:
            bias = self.v.splat(self.v.load(self.v.place(w["bias"], o), self.v.element))
            with f.loop(0, count) as r:
                n, ty = f.split(f.add(first, r), w["down"])
                here = f.mul(f.add(f.mul(n, w["outer"]), o), plane)
                y = f.mul(ty, self.m)
                source = f.add(f.mul(o, w["line"]), f.mul(r, w["across"]))
                with f.loop(0, w["across"], lanes) as tx:
                    pixels = self._pixels(self.v.place(self.results, f.add(source, tx)), f.sub(w["across"], tx), strange)
                    self._written(pixels, bias, here, y, f.mul(tx, self.m))

    def _pixels(self, source: str, left: str, strange: str) -> list[list[str]]:
        """Rows of m vectors of tiles; `strange` sums 0 times each of the `left` first, which is no number for infinities."""
        f, v, m, n = self.f, self.v, self.m, self.n
        matrix = forms(m).results
        cells = [v.load(v.place(source, f.mul(self.words["out_step"], p))) for p in range(n * n)]
        rows = [applied(f, v, matrix, cells[n * i : n * (i + 1)]) for i in range(n)]
        columns = [applied(f, v, matrix, [row[j] for row in rows]) for j in range(m)]
        mask = v.below(left)
        for column in columns:
            for value in column:
                some = f.let(f"select <{v.lanes} x i1> {mask}, {v.type} {value}, {v.type} zeroinitializer")
                total = v.fma(some, "zeroinitializer", f.let(f"load {v.type}, ptr {strange}"))
                f.do(f"store {v.type} {total}, ptr {strange}")
        return [[column[i] for column in columns] for i in range(m)]

    def _written(self, pixels: list[list[str]], bias: str, plane: str, y: str, x: str) -> None:
        f, v, w = self.f, self.v, self.words
        for i, row in enumerate(pixels):
            line = f.add(y, i)
            with f.when(f.let(f"icmp slt i64 {line}, {w['high']}")):
                values = _together(f, v, [f.let(f"fadd {v.type} {value}, {bias}") for value in row])
                goal = v.place(w["out"], f.add(f.add(plane, f.mul(line, w["wide"])), x))
                left = f.sub(w["wide"], x)
                for k, value in enumerate(values):
                    here = f.sub(left, k * v.lanes)
                    with f.when(f.let(f"icmp sgt i64 {here}, 0")):
                        v.store_first(value, v.place(goal, k * v.lanes), here)


def convolution(stored: Stored, m: int) -> str:
    """Convolutions in tiles of m x m; items are blocks of rows of tiles."""
    return _Block(stored, m).text()


def _shuffled(f: Function, v: Vectors, a: str, b: str, order: list[int]) -> str:
    lanes = ", ".join(f"i32 {k}" for k in order)
    return f.let(f"shufflevector {v.type} {a}, {v.type} {b}, <{v.lanes} x i32> <{lanes}>")


def _apart(f: Function, v: Vectors, row: list[str]) -> list[str]:
    """Vectors side by side, as many (a power of 2) as there are phases of their numbers, as a vector of each phase."""
    if len(row) == 1:
        return row
    pairs = list(zip(row[::2], row[1::2], strict=True))
    even, odd = ([_shuffled(f, v, a, b, list(range(first, 2 * v.lanes, 2))) for a, b in pairs] for first in (0, 1))
    halves = _apart(f, v, even), _apart(f, v, odd)
    return [value for pair in zip(*halves, strict=True) for value in pair]


def _together(f: Function, v: Vectors, phases: list[str]) -> list[str]:
    """What `_apart` took apart."""
    if len(phases) == 1:
        return phases
    pairs = zip(_together(f, v, phases[::2]), _together(f, v, phases[1::2]), strict=True)
    order = [k + side for k in range(v.lanes) for side in (0, v.lanes)]
    half = v.lanes
    return [_shuffled(f, v, a, b, part) for a, b in pairs for part in (order[:half], order[half:])]


def _tile(stored: Stored, tile: Tile) -> str:
    """out = a @ b for a tile; the numbers of a for one step lie side by side, steps a vector apart; distances in bytes."""
    f = Function(
        "internal void @tile(ptr noalias %a, ptr noalias %b, i64 %k, ptr noalias %out, i64 %row)",
        'noinline nounwind "prefer-vector-width"="512"',
    )
    v = Vectors(f, stored, tile.lanes)
    sums = [[f.variable(v.type, "zeroinitializer") for _ in range(tile.vectors)] for _ in range(tile.rows)]
    with f.loop(0, "%k") as q:
        factors, line = v.place("%a", f.mul(q, v.lanes)), f.at("%b", f.mul(q, "%row"))
        columns = [v.load(v.place(line, k * v.lanes)) for k in range(tile.vectors)]
        for m, row in enumerate(sums):
            factor = v.splat(v.load(v.place(factors, m), v.element))
            for column, place in zip(columns, row, strict=True):
                f.do(f"store {v.type} {v.fma(factor, column, f.let(f'load {v.type}, ptr {place}'))}, ptr {place}")
    for m, row in enumerate(sums):
        goal = f.at("%out", f.mul("%row", m))
        for k, place in enumerate(row):
            v.store(f.let(f"load {v.type}, ptr {place}"), v.place(goal, k * v.lanes))
    return f.text()
