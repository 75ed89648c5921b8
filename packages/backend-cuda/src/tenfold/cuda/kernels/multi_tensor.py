"""One launch for many arrays: they are cut into pieces, and a table on the device has the addresses of each piece.

The table is made again only when an address has changed. Arrays of an entry are the same elements at the same places.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tenfold.cuda import capturing, runtime
from tenfold.cuda.kernels.handwritten import FLOATS, Handwritten, start
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
    pointers = now.pointers([a for e in entries for a in e.arrays])
    firsts = [e.arrays[0] for e in entries]
    sizes = tuple([(a.size, a.dtype.itemsize) for a in firsts])
    key = (*capturing.place(now, index), len(entries[0].arrays), sizes, *pointers, *[e.address for e in entries])
    make = lambda: _table(np.array(pointers, np.int64).reshape(len(entries), -1), [e.address for e in entries], sizes)  # noqa: E731
    return _kept(now, key, make, index)


def _kept(now: Any, key: tuple[Any, ...], make: Callable[[], Any], index: int) -> tuple[Any, int]:
    """(a table on the device, how many rows it has), made where it is not kept."""
    found = _tables.get(key)
    if found is None:
        table = make()
        found = _tables[key] = capturing.constant(now, table, index), len(table)
        while len(_tables) > KEPT:
            _tables.popitem(last=False)
    capturing.hold(found[0])
    return found


def first_parts(now: Any, sizes: tuple[int, ...], index: int) -> Any:
    """Which piece is the first of each of arrays of so many elements, and how many there are, on the device."""
    ends = lambda: np.cumsum([0, *[-(-size // PIECE) for size in sizes]], dtype=np.int64)  # noqa: E731
    return _kept(now, (*capturing.place(now, index), "first parts", sizes), ends, index)[0]


def _table(pointers: Any, addresses: Sequence[int], sizes: tuple[tuple[int, int], ...]) -> Any:
    """The rows of a table: addresses of arrays change, such as those of gradients, what is known of their pieces does not."""
    of, starts, lengths = _pieces(sizes)
    table = np.empty((len(of), COLUMNS + 2), np.int64)
    table[:, :COLUMNS] = pointers[of, :1] + starts[:, None]
    table[:, : pointers.shape[1]] = pointers[of] + starts[:, None]
    table[:, COLUMNS], table[:, COLUMNS + 1] = np.array(addresses, np.int64)[of], lengths
    return table


@lru_cache(maxsize=KEPT)
def _pieces(sizes: tuple[tuple[int, int], ...]) -> tuple[Any, Any, Any]:
    """(of which entry each piece is, its first byte, its elements), of entries of so many elements of so many bytes."""
    counts = [-(-size // PIECE) for size, _ in sizes]
    first = [np.arange(n, dtype=np.int64) * PIECE for n in counts]
    starts = np.concatenate([f * itemsize for f, (_, itemsize) in zip(first, sizes, strict=True)])
    lengths = np.concatenate([np.minimum(PIECE, size - f) for f, (size, _) in zip(first, sizes, strict=True)])
    return np.repeat(np.arange(len(sizes)), counts), starts, lengths


def fits(arrays: Sequence[Any]) -> bool:
    """Whether a piece is the same elements in all arrays: one dtype that the kernels have, and one dense layout."""
    first = arrays[0]
    if first.dtype not in FLOATS or not first.size:
        return False
    return all(a.shape == first.shape and a.dtype == first.dtype and a.flags.c_contiguous for a in arrays)


def launch(
    name: str, entries: Sequence[Entry], arguments: tuple[Any, ...], constants: tuple[tuple[str, Any], ...], index: int
) -> None:
    """Start a kernel of the table and `arguments`, a program for each piece; None stands for an array that is not read."""
    table, pieces = table_of(runtime.current(), entries, index)
    given = (table if x is None else x for x in arguments)
    start(Handwritten(name, (*constants, ("BLOCK", PIECE)), 8), (pieces,), (table, *given), index)


def written(tensors: Sequence[Any]) -> None:
    """Count a write, so that a gradient that needs the old value can tell."""
    for t in tensors:
        if t._storage is None:
            t._storage = Storage(t._array, t._key)
        t._storage.version += 1


def guarded(tensors: Sequence[Any]) -> bool:
    """Whether a write to one of the tensors has to be looked at first."""
    for t in tensors:
        storage = t._storage
        if storage is not None and storage.guarded and refused(t):
            return True
    return False
