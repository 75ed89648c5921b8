"""Copies of strided arrays into row-major order: the operator of tenfold-core behind `contiguous` and `clone`.

Matrices are turned in registers, very short rows are written out; copies of other layouts are left to NumPy, whose loops take
no longer than compiled ones.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.dispatch.operators import op
from tenfold.llvm import session as sessions
from tenfold.llvm.conversions import Conversions
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.kernels.selecting import before
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import FLOAT16, FLOAT32, FLOAT64
from tenfold.llvm.strided_copies import ANY, OUTER as AROUND, SHORT, STEPS, copied
from tenfold.llvm.turning import OUTER, ROWS, turned
from tenfold.tensor.tensor import Tensor

Array = np.ndarray[Any, Any]

TURNED = Compiled("transposed copies", turned, vectors=True)
COPIED = Compiled("copies of short rows", copied)
LEAST = 1 << 12  # elements, below which NumPy's loop takes less time than the choice of a matrix in Python
FEWEST, LEAST_ROWS = 1 << 10, 1 << 8  # the same of elements and rows that are short
NARROWEST = 8  # rows and columns of a matrix that is worth turning
WORK = 1 << 14
CONVERTED = frozenset(np.dtype(name) for name in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "?"))
CONVERTED_TO = CONVERTED | {np.dtype(np.complex64), np.dtype(np.complex128)}
AS_FLOATS = {2: FLOAT16, 4: FLOAT32, 8: FLOAT64}  # by bytes


def _in_order(input: Any) -> bool:
    """Whether dimensions follow each other as in memory row by row, maybe with gaps."""
    last = 0
    for step in reversed(input.strides):
        if step <= last:
            return False
        last = step
    return bool(input.size)


def small(input: Any, memory_format: Any) -> Any:
    """Copies that keep the order of dimensions, where that is at hand."""
    if memory_format is None or memory_format.order is None:
        if input.flags.forc:
            return input.copy("K")
        if input.size < LEAST and _in_order(input):
            return input.copy("C")
    return NotImplemented


def clone(input: Any, memory_format: Any) -> Any:
    if memory_format is None or memory_format.order != () or input.flags.c_contiguous or not input.flags.aligned:
        return NotImplemented
    if input.size < LEAST:
        return _short_rows(input) if input.size >= FEWEST else NotImplemented
    found = _turned(input)
    return _short_rows(input) if found is NotImplemented else found


def _turned(input: Any) -> Any:
    stored = AS_FLOATS.get(input.itemsize)
    if stored is None or input.dtype.kind not in "iufV":
        return NotImplemented
    if input.dtype != stored.dtype:  # the same bits
        found = _turned(input.view(stored.dtype))
        return found if found is NotImplemented else found.view(input.dtype)
    plan = _plan(input.shape, input.strides, input.itemsize)
    if plan is None:
        return NotImplemented
    items, grain, numbers = plan
    out = empty(input.shape, stored)
    return out if TURNED.run((stored,), items, grain, input, out, *numbers) else NotImplemented


def _short_rows(input: Any) -> Any:
    plan = _rows_plan(input.shape, input.strides, input.itemsize) if input.dtype.kind in "iufbV" else None
    if plan is None:
        return NotImplemented
    key, items, grain, numbers = plan
    session = sessions.session()
    assert session is not None
    out = session.memory.empty(input.shape, input.dtype)
    return out if COPIED.run(key, items, grain, input, out, *numbers) else NotImplemented


@lru_cache(maxsize=4096)
def _plan(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> tuple[int, int, tuple[int, ...]] | None:
    """Items, grain, and the numbers of the context; None where no matrix is to be turned."""
    dims = _dimensions(shape, strides, size)
    rows = next((d for d in dims[1:] if d[1] == size), None)
    if rows is None or not dims[0][1] or len(dims) > OUTER + 2 or min(rows[0], dims[0][0]) < NARROWEST or prod(shape) < LEAST:
        return None
    columns = dims[0]
    outer = [d for d in dims[1:] if d is not rows]
    outer += [[1, 0, 0]] * (OUTER - len(outer))
    blocks = -(-rows[0] // ROWS)
    grain = max(1, WORK // (columns[0] * min(rows[0], ROWS)))
    numbers = (rows[0], columns[0], blocks, columns[1], rows[2], *(n for d in outer for n in d))
    return blocks * prod(d[0] for d in outer), grain, numbers


def _dimensions(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> list[list[int]]:
    """From the last one on the length, and steps of the source and of the result; neighbours that are one in both are one."""
    dims: list[list[int]] = []
    step = size
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n > 1:
            if dims and stride == dims[-1][0] * dims[-1][1]:
                dims[-1][0] *= n
            else:
                dims.append([n, stride, step])
        step *= n
    return dims


@lru_cache(maxsize=4096)
def _rows_plan(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> Any:
    """The program's key, items, grain, and the numbers of the context; None where NumPy takes no longer."""
    dims = _dimensions(shape, strides, size)
    if len(dims) < 2 or len(dims) > AROUND + 2 or size not in (1, 2, 4, 8):
        return None
    (count, beside, _), (rows, away, _), *outer = dims
    if count > SHORT or beside == size or prod(shape) // count < LEAST_ROWS:
        return None  # NumPy takes a run of bytes at once
    near, far = (step // size if step % size == 0 and step // size in STEPS else ANY for step in (beside, away))
    around = [[1, 0, 0]] * (AROUND - len(outer)) + outer[::-1]
    while around[0][0] == 1 and any(d[0] > 1 for d in around):  # items are those of the outermost ones
        around = [*around[1:], around[0]]
    items = around[0][0] * around[1][0]
    numbers = (*(n for d in around for n in d), rows, away, beside)
    return (size, count, near, far), items, max(1, WORK * items // prod(shape)), numbers


_session = sessions.session()
if _session is not None and _session.paths is not None:
    Conversions(_session).lead(_session.paths, Tensor, op.to.fn)


@quiet
def _cast(array: Any, dtype: Any) -> Any:
    return array.astype(dtype)


def to_dtype(input: Any, dtype: Any) -> Any:
    """Arrays without gaps of dtypes that NumPy converts as PyTorch does: all but double to uint8, which goes by way of int64."""
    source, target = input.dtype, dtype.numpy
    if source not in CONVERTED or target not in CONVERTED_TO or not input.flags.forc:
        return NotImplemented
    return NotImplemented if source.char == "d" and target.char == "B" else _cast(input, target)


before("to_dtype", to_dtype, "arrays without gaps")
before("clone", small, "small arrays")
chosen("clone", clone, 2, "transposed arrays of 2, 4 and 8 bytes, arrays of short rows", FEWEST)
