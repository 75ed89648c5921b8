"""Copies of strided arrays into row-major order, as LLVM IR, where rows of the result have two to four elements.

NumPy's copies take a call for each row, which costs more than what is in a short one: those of a shuffle of pixels, or of images
whose three colours go last. Here the rows are written out in one loop, of which LLVM makes vectors.
"""

from __future__ import annotations

from tenfold.llvm.loops import ATTRIBUTES
from tenfold.llvm.products import HEAD
from tenfold.llvm.writer import Function

OUTER = 4  # dimensions around the last two
SHORT = 4  # elements of a row, above which NumPy's loop takes about as long
STEPS = (0, 1, 2, 3, 4)  # in elements, that are constants
ANY = -1  # in the place of a constant


def copied(size: int, length: int, near: int, far: int) -> str:
    """Arrays of elements of `size` bytes in rows of `length`, copied row by row; items are those of the two outermost
    dimensions.

    `near`: from an element of a row to the next in the source; `far`: from a row to the next; in elements, or ANY. Context:
    source, target; of the four outer dimensions the length, the source's step and the target's in bytes; rows; far and near
    steps in bytes.
    """
    f = Function(HEAD)
    source, target, *rest = f.words(["*source", "*target", *["number"] * (3 * OUTER + 3)])
    outer, (rows, away, beside) = rest[: 3 * OUTER], rest[3 * OUTER :]
    with f.loop("%lo", "%hi") as item:
        first, second = f.split(item, outer[3])
        start, goal = source, target
        for index, d in ((first, 0), (second, 1)):
            start, goal = f.at(start, f.mul(index, outer[3 * d + 1])), f.at(goal, f.mul(index, outer[3 * d + 2]))
        with f.loop(0, outer[6]) as i, f.loop(0, outer[9]) as j:
            here = f.at(f.at(start, f.mul(i, outer[7])), f.mul(j, outer[10]))
            there = f.at(f.at(goal, f.mul(i, outer[8])), f.mul(j, outer[11]))
            f.do(f"call void @rows(ptr {here}, ptr {there}, i64 {rows}, i64 {away}, i64 {beside})")
    return _rows(f"i{8 * size}", size, length, near, far) + f.text()


def _rows(type: str, size: int, length: int, near: int, far: int) -> str:
    """Rows one after the other, of a source that is not the target, which tells LLVM that vectors may be made."""
    arguments = "ptr noalias %source, ptr noalias %target, i64 %count, i64 %away, i64 %beside"
    f = Function(f"internal void @rows({arguments})", f"alwaysinline {ATTRIBUTES}")
    with f.loop(0, "%count") as k:
        here = f.at("%source", f.mul(k, "%away" if far == ANY else far * size))
        there = f.at("%target", f.mul(k, length * size))
        for e in range(length):
            place = f.at(here, f.mul(e, "%beside") if near == ANY else e * near * size)
            value = f.let(f"load {type}, ptr {place}, align 1")
            f.do(f"store {type} {value}, ptr {f.at(there, e * size)}, align 1")
    return f.text()
