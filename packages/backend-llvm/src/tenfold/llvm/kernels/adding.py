"""Rows and numbers added up at places, as the gradient of an index has them: a form of the operator `index_put`."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.positions import ADDED
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled
from tenfold.llvm.sending import HALVES, added_halves, flattened
from tenfold.llvm.storage import BY_DTYPE, FLOATING, INT64, Stored

Array = np.ndarray[Any, Any]
_add_at: Any = quiet(np.add.at)
ADDED_HALVES = Compiled("rows of half precision added up by index", added_halves)
FLATTENED = Compiled("positions of rows", flattened)
LEAST = 1 << 6  # numbers in all
MOST = 4  # dimensions that are indexed


def add_rows(stored: Stored, rows: Array, index: Array, out: Array, width: int) -> bool:
    """out[index[i]] += rows[i] for all i in their order, of arrays in one piece; False where there is no code."""
    grain = max(1, GRAIN_ELEMENTS // index.size)
    if stored not in HALVES:
        return ADDED.run((stored,), width, grain, rows, index, out, index.size, width)
    return ADDED_HALVES.run((stored, width == 1), width, grain, rows, index, out, index.size, width)


def index_put(input: Array, indices: Any, values: Any, accumulate: bool, out: Array | None = None) -> Any:
    """What is added where positions name the first dimensions; NotImplemented for all other forms."""
    target = input if out is None else out
    count = len(indices)
    if not accumulate or not 0 < count <= min(MOST, target.ndim) or not _plain(target, indices, values):
        return NotImplemented
    if input.dtype != target.dtype:
        return NotImplemented
    shape, rest = indices[0].shape, target.shape[count:]
    if values.shape != shape + rest:
        if values.ndim and values.shape != (1,):
            return NotImplemented
        values = np.broadcast_to(values, shape + rest)  # such as the gradient of a sum, one number for all
    if values.size < LEAST:
        return _few(input, indices, values, out)
    if out is not None and any(np.may_share_memory(target, a) for a in (*indices, values)):
        return NotImplemented
    where, flag = np.empty(shape, np.int64), np.zeros((), np.int64)
    sizes = target.shape[:count]
    if not FLATTENED.run((count,), where.size, GRAIN_ELEMENTS, where, flag, *indices, *sizes) or flag:
        return NotImplemented
    made = input.copy() if out is None else out
    if out is not None and out is not input:
        np.copyto(out, input)
    rows = values if values.flags.carray else np.ascontiguousarray(values)
    return made if add_rows(BY_DTYPE[made.dtype], rows, where, made, prod(rest)) else NotImplemented


def _few(input: Array, indices: Any, values: Any, out: Array | None) -> Any:
    """The same of few numbers, which NumPy adds sooner than a loop is called: into memory that is surely not theirs."""
    if input.itemsize == 2 or (out is not None and (out is not input or not all(_apart(out, a) for a in (*indices, values)))):
        return NotImplemented
    made = input.copy() if out is None else out
    try:
        _add_at(made, tuple(indices), values)
    except (IndexError, ValueError):  # which the kernel beneath has the words for
        return NotImplemented
    return made


def _apart(target: Array, other: Array) -> bool:
    """Whether an array that owns its memory is surely not another's."""
    base = other.base
    return target.base is None and other is not target and base is not target and getattr(base, "base", None) is None


def _plain(target: Array, indices: Any, values: Any) -> bool:
    """Whether a call is of arrays of a dtype that is served, and of positions in one piece and of one shape."""
    if type(values) is not np.ndarray or values.dtype != target.dtype or not target.flags.carray:
        return False
    if BY_DTYPE.get(target.dtype) not in (*FLOATING, INT64):
        return False
    for index in indices:
        if type(index) is not np.ndarray or index.dtype is not INT64.dtype or not index.flags.carray:
            return False
        if index.shape != indices[0].shape or not index.size:
            return False
    return True


def _wrapped(beneath: Any) -> Any:
    def put(input: Any, indices: Any, values: Any, accumulate: bool, out: Any = None) -> Any:
        found = index_put(input, indices, values, accumulate, out)
        if found is not NotImplemented:
            return found
        into = {} if out is None else {"out": out}
        return beneath(input, indices, values, accumulate, **into)

    put.__module__ = getattr(beneath, "__module__", __name__)  # native writes at places stand for core's kernel, and no other
    return put


ACCELERATED["index_put"] = index_put
kernel(op.index_put, device="cpu", wrap=True, into=True, note="rows added up, floats and int64 in one piece")(_wrapped)
