"""Copies of transposed arrays into row-major order: the operator of tenfold-core behind `contiguous` and `clone`.

Copies of other layouts are left to NumPy, whose loops take half the time of compiled ones.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.operators import op
from tenfold.llvm import session as sessions
from tenfold.llvm.conversions import Conversions
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64
from tenfold.llvm.turning import OUTER, ROWS, turned
from tenfold.tensor.tensor import Tensor

Array = np.ndarray[Any, Any]

TURNED = Compiled("transposed copies", turned, vectors=True)
LEAST = 1 << 12  # elements, below which NumPy's loop takes less time than the choice in Python
NARROWEST = 8  # rows and columns of a matrix that is worth turning
WORK = 1 << 14
AS_FLOATS = {4: FLOAT32, 8: FLOAT64}  # by bytes


def clone(input: Array, memory_format: Any) -> Any:
    if memory_format is None or memory_format.order != () or input.flags.c_contiguous or not input.flags.aligned:
        return NotImplemented
    if input.dtype.kind in "iu" and input.itemsize in AS_FLOATS:  # the same bits
        found = clone(input.view(AS_FLOATS[input.itemsize].dtype), memory_format)
        return found if found is NotImplemented else found.view(input.dtype)
    stored = BY_DTYPE.get(input.dtype)
    if stored is not FLOAT32 and stored is not FLOAT64:
        return NotImplemented
    plan = _plan(input.shape, input.strides, input.itemsize)
    if plan is None:
        return NotImplemented
    items, grain, numbers = plan
    out = empty(input.shape, stored)
    return out if TURNED.run((stored,), items, grain, input, out, *numbers) else NotImplemented


@lru_cache(maxsize=4096)
def _plan(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> tuple[int, int, tuple[int, ...]] | None:
    """Items, grain, and the numbers of the context; None where no matrix is to be turned."""
    dims: list[list[int]] = []  # length, steps of the source and of the result; neighbours that are one in both are one
    step = size
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n > 1:
            if dims and stride == dims[-1][0] * dims[-1][1]:
                dims[-1][0] *= n
            else:
                dims.append([n, stride, step])
        step *= n
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


_session = sessions.session()
if _session is not None and _session.paths is not None:
    Conversions(_session).lead(_session.paths, Tensor, op.to.fn)
chosen("clone", clone, 2, "transposed arrays of 4 and 8 bytes", LEAST)
