"""The triangles of matrices, `tril` and `triu`: of each row a part is copied and the rest is zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.products import HEAD
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import BY_DTYPE
from tenfold.llvm.writer import Function

Array = np.ndarray[Any, Any]

WORK = 1 << 14
FARTHEST = 1 << 40  # a diagonal beyond which there is nothing to tell


def triangle(lower: bool) -> str:
    """Items are rows. Context: source, target; bytes of an element, rows and columns of a matrix, the diagonal, which is kept."""
    f = Function(HEAD)
    source, target, size, rows, columns, diagonal = f.words(["*source", "*target", "size", "rows", "columns", "diagonal"])
    line = f.mul(columns, size)
    with f.loop("%lo", "%hi") as item:
        _, row = f.split(item, rows)
        end = f.add(f.add(row, diagonal), int(lower))  # of the lower part
        part = f.mul(f.most(0, f.least(end, columns)), size)
        rest = f.sub(line, part)
        start, goal = f.at(source, f.mul(item, line)), f.at(target, f.mul(item, line))
        if lower:
            f.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {goal}, ptr {start}, i64 {part}, i1 false)")
            f.do(f"call void @llvm.memset.p0.i64(ptr {f.at(goal, part)}, i8 0, i64 {rest}, i1 false)")
        else:
            f.do(f"call void @llvm.memset.p0.i64(ptr {goal}, i8 0, i64 {part}, i1 false)")
            f.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {f.at(goal, part)}, ptr {f.at(start, part)}, i64 {rest}, i1 false)")
    declared = ("i64 @llvm.smin.i64(i64, i64)", "i64 @llvm.smax.i64(i64, i64)", "void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    copies = "void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    return "".join(f"declare {line}\n" for line in (*declared, copies)) + f.text()


TRIANGLE = Compiled("triangles of matrices", triangle, vectors=True)


def serve(input: Array, diagonal: int, *, lower: bool) -> Any:
    if input.ndim < 2 or not input.size or not input.flags.carray or type(diagonal) is not int or abs(diagonal) > FARTHEST:
        return NotImplemented
    rows, columns = input.shape[-2:]
    out = empty(input.shape, BY_DTYPE[input.dtype])
    numbers = (input.itemsize, rows, columns, diagonal)
    done = TRIANGLE.run((lower,), input.size // columns, max(1, WORK // columns), input, out, *numbers)
    return out if done else NotImplemented


for _name in ("tril", "triu"):
    chosen(_name, lambda input, diagonal, lower=_name == "tril": serve(input, diagonal, lower=lower), 2, "floats in one piece")
