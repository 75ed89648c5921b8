"""What other packages ask of a backend for many tensors at once (`Backend.many`): zeros, a common norm, scaling; one launch each.

Each function says by False or None that it does not serve the tensors, which are then taken one after the other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tenfold.cuda import capturing, runtime
from tenfold.cuda.capturing import CAPTURES
from tenfold.cuda.kernels.argument_types import TYPE_OF
from tenfold.cuda.kernels.handwritten import F32, F64, FLOATS, Handwritten, start, statistics_dtype
from tenfold.cuda.kernels.multi_tensor import KEPT, PIECE, Entry, first_parts, fits, guarded, launch, table_of, written
from tenfold.dispatch.kernels import table
from tenfold.dispatch.runtime import STATE
from tenfold.tensor.tensor import wrap

FEW = 2  # tensors for which nothing is gained
ORDERS = {float("inf"): 0, 1.0: 1, 2.0: 2}
BITS = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}
ADDRESS = 2**48 - 1  # the bits of an address: above them a checker of accesses numbers arrays
PARTS = 1024  # numbers that a program sums at a time


def _served(tensors: Sequence[Any], floats: bool = True, leaves: bool = False) -> bool:
    """Whether one launch can be for all: on one GPU, plain, dense, and no write has to be looked at.

    `leaves`: written where nothing is recorded, those that require gradients as well.
    """
    if len(tensors) < FEW or STATE.beneath or STATE.layers:  # who watches operators is to see those of each tensor
        return False
    first = tensors[0]
    for t in tensors:
        array = getattr(t, "_array", None)
        if array is None or t._key is not first._key or t._key.level is not None or not array.size:
            return False
        if t.requires_grad and (STATE.grad_enabled or not leaves):
            return False
        if array.dtype != first._array.dtype or (floats and not fits([array])) or not array.flags.c_contiguous:
            return False
    return not guarded(tensors)


def _index(tensors: Sequence[Any]) -> int:
    return int(runtime.current().index_of(tensors[0]._array))


def _write(name: str, tensors: Sequence[Any], arguments: tuple[Any, ...]) -> bool:
    dtype = tensors[0]._array.dtype
    constants = (("KIND", TYPE_OF[dtype]), ("DOUBLE", int(dtype == F64)))
    launch(name, [Entry([t._array]) for t in tensors], arguments, constants, _index(tensors))
    written(tensors)
    return True


def zero(tensors: Sequence[Any]) -> bool:
    """Fill with zeros."""
    if not _served(tensors, False) or tensors[0]._array.dtype.itemsize not in BITS:
        return False
    constants = (("KIND", BITS[tensors[0]._array.dtype.itemsize]),)
    launch("zero_many", [Entry([t._array]) for t in tensors], (), constants, _index(tensors))
    written(tensors)
    return True


def change(what: str, tensors: Sequence[Any], others: Sequence[Sequence[Any]], a: float, b: float = 0.0) -> bool:
    """What an elementwise operator makes of each tensor, of those beside it in up to two lists, and of numbers; in place."""
    if not _served(tensors, leaves=True):
        return False
    first = tensors[0]
    for t in (t for column in others for t in column):
        if getattr(t, "_array", None) is None or t._key is not first._key or (t.requires_grad and STATE.grad_enabled):
            return False
    rows = [tuple([t._array for t in row]) for row in zip(tensors, *others, strict=True)]
    if not all(map(fits, rows)) or not _apart(rows):
        return False
    dtype = first._array.dtype
    constants = ("WHAT", what), ("OTHERS", len(others)), ("KIND", TYPE_OF[dtype]), ("DOUBLE", int(dtype == F64))
    launch("change_many", [Entry(row) for row in rows], (float(a), float(b)), constants, _index(tensors))
    written(tensors)
    return True


def _apart(rows: Sequence[tuple[Any, ...]]) -> bool:
    """Whether what is written of one row, its first array, shares no memory with other rows, or with part of its own."""
    pointers = runtime.current().pointers([array for row in rows for array in row])
    return _disjoint(tuple([p & ADDRESS for p in pointers]), tuple([row[0].nbytes for row in rows]))


@lru_cache(maxsize=64)
def _disjoint(pointers: tuple[int, ...], sizes: tuple[int, ...]) -> bool:
    each = len(pointers) // len(sizes)
    parts = {(pointers[k * each + j], size, k) for k, size in enumerate(sizes) for j in range(each)}
    written_to = {(pointers[k * each], size, k) for k, size in enumerate(sizes)}
    ends = -1
    for part in sorted(written_to):
        if part[0] < ends:
            return False
        ends = part[0] + part[1]
    starts = sorted(written_to)
    for begin, size, _ in parts - written_to:  # what is only read
        k = bisect_left(starts, (begin + size,))
        if k and starts[k - 1][0] + starts[k - 1][1] > begin:
            return False
    return True


def unscale(tensors: Sequence[Any], found_inf: Any, inverse: Any) -> bool:
    """Multiply by a float32 number on the device; `found_inf` becomes 1 where an element is not finite."""
    numbers = [x._array for x in (found_inf, inverse)]
    if not _served(tensors) or any(a.dtype != F32 or a.size != 1 or x._key is not tensors[0]._key
                                   for a, x in zip(numbers, (found_inf, inverse))):  # fmt: skip
        return False
    written([found_inf])
    return _write("unscale_many", tensors, tuple(numbers))


def update_scale(scale: Any, steps: Any, found_inf: Any, growth_factor: float, backoff_factor: float, interval: int) -> bool:
    """The next scale of losses, and the steps since it was changed, from whether a gradient was not finite: all on the device."""
    arrays = [x._array for x in (scale, steps, found_inf)]
    if STATE.beneath or STATE.layers or not scale._key is steps._key is found_inf._key:
        return False
    if (
        arrays[0].dtype != F32
        or arrays[1].dtype != np.dtype(np.int32)
        or arrays[2].dtype != F32
        or any(a.size != 1 for a in arrays)
    ):
        return False
    numbers = (float(growth_factor), float(backoff_factor), int(interval))
    start(Handwritten("next_scale", ()), (1,), (*arrays, *numbers), _index([scale]))
    written([scale, steps])
    return True


def clip(tensors: Sequence[Any], total: Any, most: float) -> bool:
    """Multiply by `most / (total + 1e-6)`, where that is less than 1."""
    if not _served(tensors) or total._key is not tensors[0]._key:
        return False
    if total._array.dtype not in (tensors[0]._array.dtype, statistics_dtype(tensors[0]._array.dtype)):
        return False
    return _write("clip_many", tensors, (total._array, float(most)))


def norm(tensors: Sequence[Any], order: float, wide: bool = False) -> Any:
    """The norm of all elements of all tensors, 0-d and of their dtype, or float32 instead of half precision if `wide`.

    None for orders other than 1, 2 and infinity.
    """
    if order not in ORDERS or not _served(tensors):
        return None
    now, index, dtype = runtime.current(), _index(tensors), tensors[0]._array.dtype
    kind = statistics_dtype(dtype) if wide else np.dtype(dtype)
    parts, _ = _norms_of_pieces(now, [Entry([t._array]) for t in tensors], ORDERS[order], index)
    total = now.empty((), kind, index)
    kernel = Handwritten("norm_of_parts", (("ORDER", ORDERS[order]), ("BLOCK", PARTS)))
    start(kernel, (1,), (total, parts, parts.size), index)
    return wrap(total, tensors[0]._key)


def norms(tensors: Sequence[Any], order: float) -> list[Any] | None:
    """The norm of each tensor, 0-d and of its dtype, in two launches for all; None for orders other than 1, 2 and infinity."""
    if order not in ORDERS or not _served(tensors):
        return None
    now, index, dtype = runtime.current(), _index(tensors), tensors[0]._array.dtype
    found = [now.empty((), np.dtype(dtype), index) for _ in tensors]
    entries = [Entry([t._array], address) for t, address in zip(tensors, now.pointers(found), strict=True)]
    parts, table = _norms_of_pieces(now, entries, ORDERS[order], index)
    firsts = first_parts(now, tuple([t._array.size for t in tensors]), index)
    kernel = Handwritten("norm_of_each", (("ORDER", ORDERS[order]), ("KIND", TYPE_OF[dtype]), ("BLOCK", PARTS)))
    start(kernel, (len(tensors),), (table, parts, firsts), index)
    return [wrap(one, t._key) for one, t in zip(found, tensors, strict=True)]


def _norms_of_pieces(now: Any, entries: Sequence[Entry], order: int, index: int) -> tuple[Any, Any]:
    """(what the pieces have, the table of them)."""
    dtype = entries[0].arrays[0].dtype
    table, pieces = table_of(now, entries, index)
    parts = now.empty((pieces,), statistics_dtype(dtype), index)
    fixed = (("ORDER", order), ("KIND", TYPE_OF[dtype]), ("DOUBLE", int(dtype == F64)), ("BLOCK", PIECE))
    start(Handwritten("norms_of_pieces", fixed, 8), (pieces,), (table, parts), index)
    return parts, table


_ones: dict[tuple[Any, ...], Any] = {}
runtime.ON_REPLACE.append(_ones.clear)
runtime.AFTER_FORK.append(_ones.clear)


def one(tensor: Any) -> Any:
    """A 1 of a 0-d tensor's dtype on its GPU, as gradients begin with: a product with a 1 that is kept, a short call."""
    array, now = tensor._array, runtime.current()
    if array.shape or array.dtype not in FLOATS or CAPTURES or runtime.is_replaced():
        return None
    index = now.index_of(array)
    key = (index, now.stream_pointer(index), array.dtype)
    kept = _ones.get(key)
    if kept is None:
        kept = _ones[key] = now.from_host(np.broadcast_to(np.ones((), array.dtype), ()), index)
    return wrap(table("cuda").mul(kept, 1), tensor._key)


_numbers: dict[tuple[Any, ...], Any] = {}
runtime.ON_REPLACE.append(_numbers.clear)
runtime.AFTER_FORK.append(_numbers.clear)


def number_beside(number: Any, beside: Any) -> Any:
    """A 0-d array of a number (NumPy's) on the GPU of another array: kept, by its bits, and only read."""
    now = runtime.current()
    index = now.index_of(beside)
    key = (*capturing.place(now, index), number.dtype, number.tobytes())
    found = _numbers.get(key)
    if found is None:
        if len(_numbers) >= KEPT:
            _numbers.clear()
        found = _numbers[key] = capturing.constant(now, np.asarray(number), index)
    capturing.hold(found)
    return found


def follow(running: Sequence[Any], batch: Sequence[Any], momentum: float, unbias: float) -> bool:
    """Let running statistics, a mean and a variance of which one may be None, go `momentum` of the way to a batch's."""
    there = [t for t in running if t is not None]
    new = [b._array for t, b in zip(running, batch, strict=True) if t is not None]
    old = [t._array for t in there]
    if not there or STATE.beneath or guarded(there) or not all(getattr(layer, "only_casts", False) for layer in STATE.layers):
        return False
    if any(t._key is not batch[0]._key or t._key.level is not None or t.requires_grad for t in there):
        return False
    if any(a.dtype not in FLOATS or not a.size or not a.flags.c_contiguous for a in (*old, *new)):
        return False
    now, channels = runtime.current(), old[0].size
    fixed = [("MEAN", int(running[0] is not None)), ("VAR", int(running[1] is not None))]
    program = Handwritten("follow_statistics", (*fixed, ("DOUBLE", int(new[0].dtype == F64)), ("BLOCK", PARTS)))
    arrays = (old[0], old[-1], new[0], new[-1])
    start(program, (-(-channels // PARTS),), (*arrays, channels, float(momentum), float(unbias)), now.index_of(old[0]))
    written(there)
    return True
