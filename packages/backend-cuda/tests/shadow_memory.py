"""What one launch did to each piece of memory so far, and which of it a GPU may do in another order.

A launch's programs run one after the other in the interpreter, on a GPU all at once and each of them by many threads. Time is
cut into intervals here: a program begins one, and so does each `tl.debug_barrier()`, up to which all of its threads have come.
Of each cell of memory, the smallest piece that the launch tells apart, an array has the interval of the last store, another
that of the last load, and so on. Two accesses of a cell, one of them a store, are in order only if
- they are of one program and of different intervals, or of lanes that the compiler gives to one thread (see `Lanes`);
- they are of two programs, and the second one has learnt of the first one's interval through an atomic operation that released
  it there and acquires it here, which is how the program that is done last may read what all others wrote.
"""

from __future__ import annotations

import ctypes
from math import gcd, prod
from typing import ClassVar

import numpy as np

LARGE = 1 << 28  # bytes of memory of which more is not remembered: tests of positions beyond 32 bits use virtual memory
MANY = -1  # lanes: several, of which nothing more is known
UNWRITTEN = 0xFFFA  # each two bytes of memory that nobody has written: a NaN in every float, and an odd number in integers
PATTERNS = {
    n: np.dtype(f"u{n}").type(int.from_bytes(UNWRITTEN.to_bytes(2, "little") * 4, "little") >> 64 - 8 * n) for n in (2, 4, 8)
}


def bounds(array):
    """(address of the first byte, address behind the last) of an array's elements."""
    if not array.size:
        start = array.__array_interface__["data"][0]
        return start, start
    return np.lib.array_utils.byte_bounds(array)


def forget(array):
    """Fill an array that was just allocated, so that what reads it unwritten can be told."""
    if 0 < array.nbytes <= LARGE and array.flags.c_contiguous:
        raw = array.reshape(-1).view(np.uint8)
        raw[: len(raw) // 2 * 2].view(np.uint16)[:] = UNWRITTEN
        raw[len(raw) // 2 * 2 :] = UNWRITTEN & 255
    return array


class Lanes:
    """The lanes of one load, store or atomic operation: which there are, and what each of them is to others.

    Lanes of the same number, in blocks of the same shape, are of one thread: the compiler lays both blocks out in one way.
    """

    forms: ClassVar[dict[tuple[int, ...], int]] = {}

    def __init__(self, shape, active, threads):
        self.active = active  # numbers of the lanes that are not masked
        form = self.forms.setdefault(tuple(shape), len(self.forms))
        self.whole = prod(shape) >= threads  # otherwise several threads have the same element
        self.scalar = prod(shape) == 1
        self.by = active.astype(np.int64) + (form << 32)


class Memory:
    """One allocation, as a launch sees it."""

    FIELDS = ("writer", "writer_lane", "reader", "reader_lane", "other_reader", "atomic", "atomic_lane", "other_atomic")

    def __init__(self, low, high, keep):
        self.low, self.high, self.keep = low, high, keep
        self.large = high - low > LARGE
        self.grain = 0  # bytes of a cell
        self.bytes = np.frombuffer((ctypes.c_uint8 * max(1, high - low)).from_address(low), np.uint8)
        for name in self.FIELDS:
            setattr(self, name, None)

    def cells(self, addresses, size):
        """(the cells of elements of `size` bytes, how many cells an element has)."""
        offsets = (addresses - np.uint64(self.low)).astype(np.int64)
        grain = gcd(self.grain, size)
        if (offsets % grain).any():
            grain = gcd(grain, int(np.gcd.reduce(offsets)))
        if self.grain and grain != self.grain:
            for name in self.FIELDS:
                if getattr(self, name) is not None:
                    setattr(self, name, np.repeat(getattr(self, name), self.grain // grain))
        self.grain = grain
        each = size // grain
        first = offsets // grain
        return (first if each == 1 else (first[:, None] + np.arange(each)).reshape(-1)), each

    def field(self, name):
        found = getattr(self, name)
        if found is None or len(found) < (self.high - self.low) // self.grain + 1:
            lanes = name.endswith("lane")
            found = np.zeros((self.high - self.low) // self.grain + 1, np.int64 if lanes else np.int32)
            setattr(self, name, found)
        return found

    def bits(self, addresses, size):
        """The elements there, as whole numbers."""
        offsets = (addresses - np.uint64(self.low)).astype(np.int64)
        return self.bytes[offsets[:, None] + np.arange(size)].view(f"u{size}").reshape(-1)

    def unwritten(self, addresses, size):
        """Which of the elements nobody has written: of small ones the 8 bytes that they are in have to look like it."""
        if size < 4:
            around = addresses & ~np.uint64(7)
            inside = (around >= self.low) & (around + np.uint64(8) <= self.high)
            found = np.zeros(len(addresses), bool)
            found[inside] = self.bits(around[inside], 8) == PATTERNS[8]
            return found
        return self.bits(addresses, size) == PATTERNS[size]


class Order:
    """Which intervals come before what the running program does now."""

    def __init__(self):
        self.programs = np.zeros(64, np.int32)  # of each interval, from 1 on; 0 is "never"
        self.before = np.zeros(64, bool)
        self.mine = np.zeros(64, bool)
        self.last, self.now, self.program = 0, 0, -1  # `now` is when the current interval began
        self.released = {}  # what is known where an atomic operation released it

    def start(self, program):
        self.program = program
        self.before[:] = self.mine[:] = False
        self.before[0] = True
        self.next()

    def next(self):
        """A new interval begins."""
        self.now = self._moment()

    def _moment(self):
        self.last += 1
        if self.last == len(self.programs):
            for name in ("programs", "before", "mine"):
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros_like(old)]))
        self.programs[self.last] = self.program
        self.before[self.last] = self.mine[self.last] = True
        return self.last

    def release(self, place):
        """What came before the last barrier is known to who acquires, and the atomic operation itself, a moment of its own.

        Later stores are not: they may be of other threads than the atomic operation.
        """
        known = self.before.copy()
        known[self.now :] = False
        moment = self._moment()
        known = np.concatenate([known, np.zeros(len(self.before) - len(known), bool)])
        known[moment] = True
        old = self.released.get(place)
        if old is not None:
            known[: len(old)] |= old
        self.released[place] = known

    def acquire(self, place):
        known = self.released.get(place)
        if known is not None:
            self.before[: len(known)] |= known


BETWEEN = "of the same program, maybe of another thread, without tl.debug_barrier() between"


def conflicts(memory, order, cells, by, lanes, kind):
    """(what, which of the cells, when their other access was), for each sort of conflict of a "load", a "store" or another."""

    def against(name, same_lane_is_ordered=True, what=""):
        field = getattr(memory, name)
        if field is None:
            return
        then = field[cells]
        if not then.any():
            return
        apart = ~order.before[then]
        if apart.any():
            yield f"{what} of another program", np.flatnonzero(apart), then
        own = then >= order.now
        if own.any() and not name.startswith("other"):
            lane = getattr(memory, f"{name}_lane")[cells]
            unlike = own & (lane != by) if same_lane_is_ordered else own
            if unlike.any():
                yield f"{what} {BETWEEN}", np.flatnonzero(unlike), then

    # A block that is smaller than the threads is held by several of them, and stored by one: what it loads then is not its own.
    if kind == "load":
        yield from against("writer", lanes.whole, "a store")
        yield from against("atomic", lanes.whole, "an atomic operation")
        yield from against("other_atomic", what="an atomic operation")
    else:
        yield from against("writer", what="a store")
        yield from against("reader", what="a load")
        yield from against("other_reader", what="a load")
        if kind == "store":
            yield from against("atomic", what="an atomic operation")
            yield from against("other_atomic", what="an atomic operation")


def note(memory, order, cells, by, kind):
    """Remember an access."""
    if kind == "store":
        memory.field("writer")[cells] = order.now
        memory.field("writer_lane")[cells] = by
        return
    name = "reader" if kind == "load" else "atomic"
    last, lane = memory.field(name), memory.field(f"{name}_lane")
    then = last[cells]
    others = (then != 0) & ~order.mine[then]
    if others.any():
        memory.field(f"other_{name}")[cells[others]] = then[others]
    mixed = (then >= order.now) & (lane[cells] != by)
    last[cells], lane[cells] = order.now if kind == "load" else order.last, by
    mixed |= lane[cells] != by
    lane[cells[mixed]] = MANY
