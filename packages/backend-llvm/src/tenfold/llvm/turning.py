"""Copies of transposed arrays, as LLVM IR: squares of elements, turned in registers, written in whole cache lines."""

from __future__ import annotations

from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function, Vectors, registers

ROWS = 64  # of a block: few enough that what they read stays in the cache
OUTER = 3  # dimensions around the matrices


def turned(stored: Stored) -> str:
    """Matrices whose columns are in one piece, copied so that their rows are; items are (matrix, block of rows).

    Context: source, target; rows, columns, blocks of rows; bytes from a column of the source to the next and from a row of the
    target to the next; then of each dimension around the matrices its length, and its steps in the source and the target.
    """
    f = Function(HEAD)
    v = Vectors(f, stored, registers().lanes(stored))
    source, target, rows, columns, blocks, column, row, *outer = f.words(["*source", "*target", *["number"] * (5 + 3 * OUTER)])
    last = f.sub(columns, 1)
    with f.loop("%lo", "%hi") as item:
        rest, block = f.split(item, blocks)
        first = f.mul(block, ROWS)
        start, goal = v.place(source, first), f.at(target, f.mul(first, row))
        for d in range(OUTER):
            length, step, to = outer[3 * d : 3 * d + 3]
            rest, index = f.split(rest, length)
            start, goal = f.at(start, f.mul(index, step)), f.at(goal, f.mul(index, to))
        count = f.least(ROWS, f.sub(rows, first))
        with f.loop(0, columns, 2 * v.lanes) as j, f.loop(0, count, v.lanes) as i:
            left = f.sub(count, i)
            for half in range(2):
                # Columns behind the last one are that one again, and not written.
                at = [f.mul(f.least(f.add(j, half * v.lanes + k), last), column) for k in range(v.lanes)]
                lines = [f.at(v.place(start, i), step) for step in at]
                square = v.transposed(_loaded(f, v, lines, left))
                here = f.sub(columns, f.add(j, half * v.lanes))
                for k, line in enumerate(square):
                    with f.when(f.let(f"icmp slt i64 {k}, {left}")):
                        place = v.place(f.at(goal, f.mul(f.add(i, k), row)), f.add(j, half * v.lanes))
                        v.store_first(line, place, here)
    return v.declarations() + f.text()


def _loaded(f: Function, v: Vectors, lines: list[str], left: str) -> list[str]:
    """A vector from each place, of which `left` numbers may be read."""
    places = [f.variable(v.type) for _ in lines]
    with f.either(f.let(f"icmp sge i64 {left}, {v.lanes}")) as otherwise:
        for line, place in zip(lines, places, strict=True):
            f.do(f"store {v.type} {v.load(line)}, ptr {place}")
        otherwise()
        mask = v.below(left)
        for line, place in zip(lines, places, strict=True):
            f.do(f"store {v.type} {v.load_some(line, mask)}, ptr {place}")
    return [f.let(f"load {v.type}, ptr {place}") for place in places]
