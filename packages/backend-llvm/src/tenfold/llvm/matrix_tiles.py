"""Matrices of bfloat16 laid out as tiles of the processor's unit for them, as LLVM IR: 32 rows of a, or columns of b, at a time.

A step of 32 of the depth is two tiles of 16 rows of 64 bytes. Lines in one piece along the depth are a's rows as they are, and
b's columns, of which squares are turned; of lines across the depth two by two are b's pairs, and squares of these a's rows. What
is missing to whole steps is zeros. `listed`: the distances of the lines are in a table, else they are the same.
"""

from __future__ import annotations

from collections.abc import Callable

from tenfold.llvm.writer import Function

SIDE = 32  # rows and columns that are computed at once, and the depth of a step: a line of the cache
TILE = 1024  # bytes
PAIR = 2 * TILE  # what a step of 32 rows, or columns, takes
NUMBERS, WORDS, MASK = "<32 x i16>", "<16 x i32>", "<32 x i1>"
DECLARED = f"""declare {NUMBERS} @llvm.masked.load.v32i16.p0(ptr, i32, {MASK}, {NUMBERS})
declare void @llvm.masked.store.v32i16.p0({NUMBERS}, ptr, i32, {MASK})
declare i64 @llvm.smin.i64(i64, i64)
"""
_EACH = f"<{', '.join(f'i16 {k}' for k in range(SIDE))}>"


def along(name: str, listed: bool = False) -> str:
    """Lines in one piece along the depth. Behind the last is that one again."""
    f = _function(f"along_{name}", listed)
    last = f.sub("%left", 1)
    whole = f.let(f"sdiv i64 %deep, {SIDE}")
    with f.loop(0, 2) as half:
        lines = [_line(f, listed, f.least(f.add(f.mul(half, 16), m), last)) for m in range(16)]
        goal = f.at("%goal", f.mul(half, TILE))

        def put(step: str, mask: str) -> None:
            found = [_words(f, read(f, f.at(line, f.mul(step, 64)), mask)) for line in lines]
            _store(f, name == "b", found, f.at(goal, f.mul(step, PAIR)))

        with f.loop(0, whole) as step:
            put(step, "")
        with f.when(f.let(f"icmp slt i64 {f.mul(whole, SIDE)}, %deep")):
            put(whole, below(f, f.sub("%deep", f.mul(whole, SIDE))))
    return f.text()


def across(name: str, listed: bool = False) -> str:
    """Lines in one piece across the depth, two by two."""
    f = _function(f"across_{name}", listed)
    whole, last = f.let(f"sdiv i64 %deep, {SIDE}"), f.sub("%deep", 1)
    halves = [", ".join(f"i32 {i}" for k in range(16) for i in (first + k, SIDE + first + k)) for first in (0, 16)]

    def put(step: str, get: Callable[[int], str]) -> None:
        tiles: tuple[list[str], list[str]] = ([], [])
        for p in range(0, SIDE, 2):
            pair = f"{NUMBERS} {get(p)}, {NUMBERS} {get(p + 1)}"
            for tile, order in zip(tiles, halves, strict=True):
                tile.append(_words(f, f.let(f"shufflevector {pair}, <{SIDE} x i32> <{order}>")))
        for k, tile in enumerate(tiles):
            _store(f, name == "a", tile, f.at(f.at("%goal", f.mul(step, PAIR)), k * TILE))

    swift = f.let(f"select i1 {f.let(f'icmp sge i64 %left, {SIDE}')}, i64 {whole}, i64 0")
    with f.loop(0, swift) as step:
        first = f.mul(step, SIDE)
        put(step, lambda p: read(f, _line(f, listed, f.add(first, p)), ""))
    some = below(f, "%left")
    with f.loop(swift, f.let(f"sdiv i64 {f.add('%deep', SIDE - 1)}, {SIDE}")) as step:
        begin = f.mul(step, SIDE)

        def get(p: int) -> str:
            line = f.least(f.add(begin, p), last)
            there = f.let(f"icmp sge i64 {last}, {f.add(begin, p)}")
            return read(f, _line(f, listed, line), f.let(f"select i1 {there}, {MASK} {some}, {MASK} zeroinitializer"))

        put(step, get)
    return f.text()


def read(f: Function, place: str, mask: str) -> str:
    """32 numbers; zeros where a mask has none, and memory is not read."""
    if not mask:
        return f.let(f"load {NUMBERS}, ptr {place}, align 2")
    return f.let(f"call {NUMBERS} @llvm.masked.load.v32i16.p0(ptr {place}, i32 2, {MASK} {mask}, {NUMBERS} zeroinitializer)")


def below(f: Function, count: str) -> str:
    """A mask of the first `count` of 32."""
    few = f.let(f"trunc i64 {f.least(count, SIDE)} to i16")
    one = f.let(f"insertelement {NUMBERS} poison, i16 {few}, i64 0")
    every = f.let(f"shufflevector {NUMBERS} {one}, {NUMBERS} poison, <{SIDE} x i32> zeroinitializer")
    return f.let(f"icmp slt {NUMBERS} {_EACH}, {every}")


def transposed(f: Function, rows: list[str]) -> list[str]:
    """The columns of a square of words: four times, the first half of the vectors is interleaved with the second."""
    orders = [", ".join(f"i32 {i}" for k in range(8) for i in (first + k, 16 + first + k)) for first in (0, 8)]
    for _ in range(4):
        rows = [
            f.let(f"shufflevector {WORDS} {a}, {WORDS} {b}, <16 x i32> <{order}>")
            for a, b in zip(rows[:8], rows[8:], strict=True)
            for order in orders
        ]
    return rows


def _function(name: str, listed: bool) -> Function:
    lines = "ptr %places" if listed else "i64 %apart"
    return Function(f"internal void @{name}(ptr %source, {lines}, i64 %left, i64 %deep, ptr %goal)", "noinline nounwind")


def _line(f: Function, listed: bool, number: str) -> str:
    return f.at("%source", f.whole("%places", number) if listed else f.mul(number, "%apart"))


def _words(f: Function, numbers: str) -> str:
    return f.let(f"bitcast {NUMBERS} {numbers} to {WORDS}")


def _store(f: Function, turn: bool, rows: list[str], goal: str) -> None:
    """A tile, or what it is when its rows become columns."""
    for p, row in enumerate(transposed(f, rows) if turn else rows):
        f.do(f"store {WORDS} {row}, ptr {f.at(goal, 64 * p)}, align 64")
