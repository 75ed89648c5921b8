"""Matrices laid out for large products, as LLVM IR: panels of the second one's columns, strips of the first one's rows."""

from __future__ import annotations

from tenfold.llvm.products import HEAD, Tile
from tenfold.llvm.writer import Function, Vectors

STEPS = 8  # of all strips at a time
LINE = 64  # bytes of the cache
CHUNK = 16  # rows of an item
AHEAD = 48  # elements of a row that are on their way
DECLARED = """
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
"""


def fetch(f: Function, address: str, written: bool = False) -> None:
    """Let a line of memory come to the first cache; any address is fine."""
    f.do(f"call void @llvm.prefetch.p0(ptr {address}, i32 {int(written)}, i32 3, i32 1)")


def aligned(f: Function, address: str) -> str:
    """The first line of the cache that begins in an array, which has room for one more than it needs."""
    return f.let(f"call ptr @llvm.ptrmask.p0.i64(ptr {f.at(address, LINE - 1)}, i64 -{LINE})")


def panels(tile: Tile, turned: bool) -> str:
    """A matrix in panels (panel, row, column); behind the last column is that one again, or zeros.

    `turned`: the columns are in one piece, and items are panels; else the rows are, and items are CHUNK rows. Context: matrix,
    panels; bytes from a row, or column, to the next; columns, rows.
    """
    f = Function(HEAD)
    v = Vectors(f, tile.stored, tile.lanes)
    b, out, across, columns, depth = f.words(["*b", "*out", *["number"] * 3])
    out = aligned(f, out)
    with f.loop("%lo", "%hi") as item:
        if turned:
            first = f.mul(item, tile.width)
            start, last = f.at(b, f.mul(first, across)), f.least(f.sub(f.sub(columns, first), 1), tile.width - 1)
            lines = [f.at(start, f.mul(f.least(c, last), across)) for c in range(tile.width)]
            _turned(f, v, lines, depth, v.place(out, f.mul(first, depth)), tile.width, f.mul(across, tile.width))
        else:
            first = f.mul(item, CHUNK)
            count, start = f.least(CHUNK, f.sub(depth, first)), f.at(b, f.mul(first, across))
            with f.loop(0, columns, tile.width) as j:
                goal = v.place(out, f.add(f.mul(j, depth), f.mul(first, tile.width)))
                _copied(f, v, tile, v.place(start, j), across, f.sub(columns, j), count, goal)
    return v.declarations() + DECLARED + f.text()


def _copied(f: Function, v: Vectors, tile: Tile, start: str, across: str, left: str, count: str, goal: str) -> None:
    """A panel's columns, of which there are `left`, of `count` rows in one piece."""
    starts = range(0, tile.width, tile.lanes)
    with f.either(f.let(f"icmp sge i64 {left}, {tile.width}")) as otherwise:
        with f.loop(0, count) as p:
            line, to = f.at(start, f.mul(p, across)), v.place(goal, f.mul(p, tile.width))
            fetch(f, v.place(line, AHEAD))
            for c in starts:
                v.store(v.load(v.place(line, c)), v.place(to, c))
        otherwise()
        masks = [v.below(f.sub(left, c)) for c in starts]
        with f.loop(0, count) as p:
            line, to = f.at(start, f.mul(p, across)), v.place(goal, f.mul(p, tile.width))
            for c, mask in zip(starts, masks, strict=True):
                v.store(v.load_some(v.place(line, c), mask), v.place(to, c))


def _turned(f: Function, v: Vectors, lines: list[str], depth: str, goal: str, width: int, ahead: str) -> None:
    """Element p of all lines side by side, `width` elements behind those of p - 1; squares are turned in registers.

    What a register holds beyond the lines is written where the next elements come, or behind the last: there is room. The
    lines `ahead` bytes away are fetched, for the next call.
    """
    whole = f.let(f"and i64 {depth}, {-v.lanes}")
    padded = lines + lines[-1:] * (-len(lines) % v.lanes)
    with f.loop(0, whole, v.lanes) as p:
        to = v.place(goal, f.mul(p, width))
        for line in lines:
            fetch(f, f.at(v.place(line, p), ahead))
        squares = [
            v.transposed([v.load(v.place(line, p)) for line in padded[c : c + v.lanes]]) for c in range(0, len(padded), v.lanes)
        ]
        for k in range(v.lanes):
            for c, square in enumerate(squares):
                v.store(square[k], v.place(to, k * width + c * v.lanes))
    with f.loop(whole, depth) as p:
        for c, line in enumerate(lines):
            f.do(f"store {v.element} {v.load(v.place(line, p), v.element)}, ptr {v.place(goal, f.add(f.mul(p, width), c))}")


def strip_of(f: Function, v: Vectors, i: str, deep: str) -> str:
    """Where the strip of the tile whose first row is number i begins; a step's room is left between strips."""
    return v.place("%strip", f.mul(i, f.add(deep, 1)))


def laid_along(f: Function, v: Vectors, tile: Tile, corner: str, across: str, count: str, deep: str) -> None:
    """Rows in one piece, a tile's side by side in %strip; behind the last row is that one again."""
    with f.loop(0, count, tile.rows) as i:
        last = f.sub(f.sub(count, i), 1)
        lines = [f.at(corner, f.mul(f.add(i, f.least(m, last)), across)) for m in range(tile.rows)]
        _turned(f, v, lines, deep, strip_of(f, v, i, deep), tile.rows, f.mul(across, tile.rows))


def laid_across(f: Function, v: Vectors, tile: Tile, corner: str, across: str, count: str, deep: str) -> None:
    """The same for columns in one piece: whole registers, of which the next step writes over what is too much.

    A few steps of all strips at a time: what a line of the cache holds is used before it is displaced.
    """
    starts = range(0, tile.rows, v.lanes)
    with f.loop(0, deep, STEPS) as begin, f.loop(0, count, tile.rows) as i:
        end = f.least(f.add(begin, STEPS), deep)
        source, strip, left = v.place(corner, i), strip_of(f, v, i, deep), f.sub(count, i)
        with f.either(f.let(f"icmp sge i64 {left}, {starts[-1] + v.lanes}")) as otherwise:
            with f.loop(begin, end) as q:
                line, to = f.at(source, f.mul(q, across)), v.place(strip, f.mul(q, tile.rows))
                for c in starts:
                    v.store(v.load(v.place(line, c)), v.place(to, c))
            otherwise()
            with f.loop(begin, end) as q:
                line, to = f.at(source, f.mul(q, across)), v.place(strip, f.mul(q, tile.rows))
                for m in range(tile.rows):
                    number = v.load(v.place(line, f.least(m, f.sub(left, 1))), v.element)
                    f.do(f"store {v.element} {number}, ptr {v.place(to, m)}")
