"""Matrices laid out for large products, as LLVM IR: a panel of the second one's columns, strips of the first one's rows."""

from __future__ import annotations

from typing import NamedTuple

from tenfold.llvm.products import Tile
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors

STEPS = 8  # of all strips at a time
LINE = 64  # bytes of the cache
DECLARED = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"


def fetch(f: Function, address: str, *, written: bool = False, level: int = 3) -> None:
    """Let a line of memory come to the first cache (level 3) or the second (2); any address is fine."""
    f.do(f"call void @llvm.prefetch.p0(ptr {address}, i32 {int(written)}, i32 {level}, i32 1)")


class Following(NamedTuple):
    """The lines of memory of the panel that comes next: `outer` pieces of 2**`inner` lines; a tile's share of them."""

    start: str
    outer_step: str  # bytes
    inner_step: str
    inner: str
    share: str  # lines for each row of the tiles, in 1 / 2**SHARE_BITS


SHARE_BITS = 16


def next_panel(
    f: Function, v: Vectors, tile: Tile, turned: str, b: tuple[str, str], first: tuple[str, str], deep: str, count: str
) -> Following:
    """What laid_panel will read for the next columns, to be fetched while the tiles of these are computed.

    Asked for all at once, the lines would wait for one another.
    """
    p, j = first
    following = f.add(j, tile.width)
    columns, rows = tile.width, max(1, tile.width * v.stored.size // LINE)
    pieces = f.let(f"lshr i64 {f.add(f.mul(deep, v.stored.size), LINE - 1)}, {LINE.bit_length() - 1}")
    start = f.at(f.at(b[0], f.mul(p, v.stored.size)), f.mul(following, b[1]))
    other = f.at(f.at(b[0], f.mul(p, b[1])), f.mul(following, v.stored.size))

    def chosen(type: str, one: str | int, another: str | int) -> str:
        return f.let(f"select i1 {turned}, {type} {one}, {type} {another}")

    outer, inner = chosen("i64", pieces, deep), chosen("i64", columns.bit_length() - 1, rows.bit_length() - 1)
    lines = f.let(f"shl i64 {outer}, {f.add(inner, SHARE_BITS)}")
    share = f.let(f"udiv i64 {f.sub(f.add(lines, count), 1)}, {count}")
    return Following(chosen("ptr", start, other), chosen("i64", LINE, b[1]), chosen("i64", b[1], LINE), inner, share)


def fetch_some(f: Function, following: Following, i: str, rows: int) -> None:
    """Let the lines come that are the share of the tile whose first row is number i."""
    start, outer, inner, bits, share = following
    ends = [f.let(f"lshr i64 {f.mul(k, share)}, {SHARE_BITS}") for k in (i, f.add(i, rows))]
    with f.loop(*ends) as q:
        high = f.let(f"lshr i64 {q}, {bits}")
        low = f.sub(q, f.let(f"shl i64 {high}, {bits}"))
        fetch(f, f.at(f.at(start, f.mul(high, outer)), f.mul(low, inner)), level=2)


def laid_panel(
    f: Function, v: Vectors, tile: Tile, turned: str, b: tuple[str, str], first: tuple[str, str], left: str, deep: str
) -> None:
    """A tile's columns of `deep` rows in %panel, from a row and column on; behind the last column is that one again, or zeros.

    `turned`: the columns of b are in one piece, and b[1] bytes apart; else the rows are.
    """
    p, j = first
    with f.either(turned) as otherwise:
        start, last = v.place(f.at(b[0], f.mul(j, b[1])), p), f.least(f.sub(left, 1), tile.width - 1)
        lines = [f.at(start, f.mul(f.least(c, last), b[1])) for c in range(tile.width)]
        _turned(f, v, lines, deep, "%panel", tile.width)
        otherwise()
        _copied(f, v, tile, v.place(f.at(b[0], f.mul(p, b[1])), j), b[1], left, deep)


def _copied(f: Function, v: Vectors, tile: Tile, start: str, across: str, left: str, count: str) -> None:
    """A panel's columns, of which there are `left`, of `count` rows in one piece."""
    starts = range(0, tile.width, tile.lanes)
    with f.either(f.let(f"icmp sge i64 {left}, {tile.width}")) as otherwise:
        with f.loop(0, count) as p:
            line, to = f.at(start, f.mul(p, across)), v.place("%panel", f.mul(p, tile.width))
            for c in starts:
                v.store(v.load(v.place(line, c)), v.place(to, c))
        otherwise()
        masks = [v.below(f.sub(left, c)) for c in starts]
        with f.loop(0, count) as p:
            line, to = f.at(start, f.mul(p, across)), v.place("%panel", f.mul(p, tile.width))
            for c, mask in zip(starts, masks, strict=True):
                v.store(v.load_some(v.place(line, c), mask), v.place(to, c))


def _turned(f: Function, v: Vectors, lines: list[str], depth: str, goal: str, width: int, ahead: str = "") -> None:
    """Element p of all lines side by side, `width` elements behind those of p - 1; squares are turned in registers.

    What a register holds beyond the lines is written where the next elements come, or behind the last: there is room. The
    lines `ahead` bytes away are fetched, for the next call, if that is not empty.
    """
    whole = f.let(f"and i64 {depth}, {-v.lanes}")
    padded = lines + lines[-1:] * (-len(lines) % v.lanes)
    with f.loop(0, whole, v.lanes) as p:
        to = v.place(goal, f.mul(p, width))
        for line in lines if ahead else ():
            fetch(f, f.at(v.place(line, p), ahead), level=2)
        squares = [
            v.transposed([v.load(v.place(line, p)) for line in padded[c : c + v.lanes]]) for c in range(0, len(padded), v.lanes)
        ]
        for k in range(v.lanes):
            for c, square in enumerate(squares):
                v.store(square[k], v.place(to, k * width + c * v.lanes))
    with f.loop(whole, depth) as p:
        for c, line in enumerate(lines):
            f.do(f"store {v.element} {v.load(v.place(line, p), v.element)}, ptr {v.place(goal, f.add(f.mul(p, width), c))}")


def strip_of(f: Function, v: Vectors, i: str, deep: str, strips: str = "%strip") -> str:
    """Where the strip of the tile whose first row is number i begins; a step's room is left between strips."""
    return v.place(strips, f.mul(i, f.add(deep, 1)))


def laid_along(f: Function, v: Vectors, tile: Tile, corner: str, across: str, i: str, count: str, deep: str) -> None:
    """The rows of a tile, the first of which is number i, side by side in %strip; behind the last row is that one again."""
    first, last = f.at(corner, f.mul(i, across)), f.sub(f.sub(count, i), 1)
    f.do(f"call void @along(ptr {first}, i64 {across}, i64 {last}, i64 {deep}, ptr {strip_of(f, v, i, deep)})")


def along(stored: Stored, tile: Tile) -> str:
    """What laid_along calls; the rows of the next tile are fetched."""
    f = Function("internal void @along(ptr %row, i64 %across, i64 %last, i64 %deep, ptr %strip)", "noinline nounwind")
    lines = [f.at("%row", f.mul(f.least(m, "%last"), "%across")) for m in range(tile.rows)]
    _turned(f, Vectors(f, stored, tile.lanes), lines, "%deep", "%strip", tile.rows, f.mul("%across", tile.rows))
    return f.text()


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
                fetch(f, f.at(line, f.mul(across, STEPS)), level=2)
                for c in starts:
                    v.store(v.load(v.place(line, c)), v.place(to, c))
            otherwise()
            with f.loop(begin, end) as q:
                line, to = f.at(source, f.mul(q, across)), v.place(strip, f.mul(q, tile.rows))
                for m in range(tile.rows):
                    number = v.load(v.place(line, f.least(m, f.sub(left, 1))), v.element)
                    f.do(f"store {v.element} {number}, ptr {v.place(to, m)}")
