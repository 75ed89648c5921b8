"""One launch for many arrays: they are cut into pieces, and a table on the device has the addresses of each piece.

The table is made again only when an address has changed. Arrays of an entry are the same elements at the same places.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tenfold.cuda import capturing, runtime
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, start
from tenfold.tensor.storage import Storage, refused

PIECE = 2048  # elements that a program works on: with twice as many only one program fits a multiprocessor at a time
COLUMNS = 5  # arrays of an entry at most; a row of the table has another address and the piece's length besides
KEPT = 64  # tables
_tables: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


class Entry(NamedTuple):
    """Arrays of which a program works on the same piece, and an address that is the same for all pieces."""

    arrays: Sequence[Any]
    address: int = 0


def table_of(now: Any, entries: Sequence[Entry], index: int) -> tuple[Any, int]:
    """(rows of addresses and lengths on the device, how many)."""
    key = (index, *[(now.pointer(a), a.dtype.itemsize, a.size) for e in entries for a in e.arrays], *[e.address for e in entries])
    found = _tables.get(key)
    if found is None:
        table = np.concatenate([_rows(now, entry) for entry in entries]).astype(np.int64)
        found = _tables[key] = capturing.constant(now, table, index), len(table)
        while len(_tables) > KEPT:
            _tables.popitem(last=False)
    capturing.hold(found[0])
    return found


def _rows(now: Any, entry: Entry) -> Any:
    size = entry.arrays[0].size
    starts = np.arange(0, size, PIECE)
    columns = [now.pointer(a) + starts * a.dtype.itemsize for a in entry.arrays]
    columns += [columns[0]] * (COLUMNS - len(columns))
    return np.stack([*columns, np.full_like(starts, entry.address), np.minimum(PIECE, size - starts)], 1)


def fits(arrays: Sequence[Any]) -> bool:
    """Whether a piece is the same elements in all arrays: one dtype that the kernels have, and one dense layout."""
    first = arrays[0]
    if first.dtype not in FLOATS or first.dtype == F64 or not first.size:
        return False
    return all(a.shape == first.shape and a.dtype == first.dtype and a.flags.c_contiguous for a in arrays)


def launch(
    name: str, entries: Sequence[Entry], arguments: tuple[Any, ...], constants: tuple[tuple[str, Any], ...], index: int
) -> None:
    """Start a kernel of the table and `arguments`, a program for each piece."""
    table, pieces = table_of(runtime.current(), entries, index)
    start(Handwritten(name, (*constants, ("BLOCK", PIECE)), 8), (pieces,), (table, *arguments), index)


def written(tensors: Sequence[Any]) -> None:
    """Count a write, so that a gradient that needs the old value can tell."""
    for t in tensors:
        if t._storage is None:
            t._storage = Storage(t._array, t._key)
        t._storage.version += 1


def guarded(tensors: Sequence[Any]) -> bool:
    """Whether a write to one of the tensors has to be looked at first."""
    return any(t._storage is not None and t._storage.guarded and refused(t) for t in tensors)
