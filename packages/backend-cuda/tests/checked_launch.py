"""A launch that is looked at, access by access, and what is found wrong: see checked_memory.py."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass, field

import numpy as np
from shadow_memory import Lanes, Memory, Order, bounds, conflicts, note

from tenfold.cpu.backend import owner_of
from tenfold.cuda import interpreter

SHIFT = np.uint64(48)
PLAIN = np.uint64((1 << 48) - 1)
REPORTS = "report_ptr"
LISTED = "an address from memory"
HERE = ("checked_memory.py", "checked_launch.py", "shadow_memory.py")


@dataclass
class Finding:
    """A fault of a kernel's line; the first of its occurrences."""

    kind: str
    what: str
    kernel: str
    argument: str
    line: str
    program: tuple[int, ...]
    call: str
    count: int = 1

    def __str__(self):
        return (
            f"{self.kind}: {self.kernel}, argument {self.argument}, program {self.program}: {self.what}\n"
            f"    {self.line}\n    launched by {self.call}" + (f"\n    {self.count} times" if self.count > 1 else "")
        )


@dataclass
class Findings:
    """All faults since the last look; a launch adds to them."""

    found: dict = field(default_factory=dict)
    launches: int = 0

    def take(self):
        """Those since the last call."""
        taken, self.found = list(self.found.values()), {}
        return taken


FINDINGS = Findings()


@dataclass
class Span:
    """What an argument's pointer may reach."""

    name: str
    low: int
    high: int
    itemsize: int
    memory: Memory
    array: object = None
    gaps: object = None  # of a strided array: which bytes are no element's

    def between(self, addresses, size):
        """Which of the elements are, wholly or in part, in the gaps of a strided array."""
        if self.gaps is None:
            dense = self.array is None or self.high - self.low <= self.array.nbytes
            self.gaps = False if dense else self._gaps()
        if self.gaps is False:
            return np.zeros(len(addresses), bool)
        offsets = (addresses - np.uint64(self.low)).astype(np.int64)
        return self.gaps[offsets[:, None] + np.arange(size)].any(1)

    def _gaps(self):
        gaps = np.ones(self.high - self.low, bool)
        first = self.array.__array_interface__["data"][0] - self.low
        shape, strides = (*self.array.shape, self.itemsize), (*self.array.strides, 1)
        np.ndarray(shape, bool, gaps.data, first, strides)[...] = False
        return gaps


class Launch:
    """One launch of a kernel, from its first program to its last."""

    def __init__(self, kernel, grid, known):
        self.kernel, self.grid, self.known = kernel, grid, known
        self.threads = 32 * kernel.warps
        self.spans, self.memories, self.tables = [], [], {}
        self.order, self.place = Order(), (0, 0, 0)

    def argument(self, name, kind, value):
        """The interpreter's form of an argument; of an array the address has the number of the argument."""
        found = interpreter._argument(kind, value)
        if kind.startswith("*"):
            low, high = bounds(value)
            self.spans.append(Span(name, low, high, value.itemsize, self._memory(value), value))
            found.handle.data = found.handle.data | (np.uint64(len(self.spans)) << SHIFT)
        return found

    def _memory(self, array):
        owner = owner_of(array)
        low, high = bounds(owner)
        first, last = bounds(array)
        low, high = min(low, first), max(high, last)
        for memory in self.memories:
            if memory.low <= low and high <= memory.high:
                return memory
        self.memories.append(Memory(low, high, owner))
        return self.memories[-1]

    def span(self, number):
        """What the pointers with a number may reach; None for no array."""
        if 0 < number <= len(self.spans):
            return self.spans[number - 1]
        if number not in self.tables:
            owner, low, high, itemsize = self.known.get(number, (lambda: None, 0, 0, 1))
            array = owner()
            self.tables[number] = None if array is None else Span(LISTED, low, high, itemsize, self._memory(array))
        return self.tables[number]

    def groups(self, pointers, mask):
        """Of an access: (span, numbers of the lanes, their addresses) for each argument that pointers began from."""
        active = np.flatnonzero(np.broadcast_to(mask, pointers.shape))
        addresses = pointers.reshape(-1)[active]
        numbers = addresses >> SHIFT
        for number in np.unique(numbers):
            which = numbers == number
            yield self.span(int(number)), active[which], addresses[which] & PLAIN

    def access(self, kind, pointers, mask, size, values=None):
        """Look at a load, store or atomic operation: the lanes that may be done."""
        allowed = np.array(np.broadcast_to(mask, pointers.shape), bool)
        for span, active, addresses in self.groups(pointers, mask):
            if span is None:
                self.report("outside", f"a {kind} at an address that is in no array ({len(active)} lanes)", None, addresses)
                allowed.reshape(-1)[active] = False
                continue
            wrong = (addresses < span.low) | (addresses + np.uint64(size) > span.high)
            if wrong.any():
                end = (span.high - span.low) // span.itemsize
                self.report("outside", f"a {kind} outside of its {end} elements ({wrong.sum()} lanes)", span, addresses[wrong])
                allowed.reshape(-1)[active[wrong]] = False
                active, addresses = active[~wrong], addresses[~wrong]
            if len(active):
                self.inside(kind, span, pointers.shape, active, addresses, size, values)
        return allowed

    def inside(self, kind, span, shape, active, addresses, size, values):
        lanes = Lanes(shape, active, self.threads)
        memory = span.memory
        if kind != "load" and not memory.large:
            lost = span.between(addresses, size)
            if lost.any():
                self.report("between", f"a {kind} between its elements", span, addresses[lost])
        if kind != "store":
            raw = memory.unwritten(addresses, size)
            if raw.any():
                self.report("unwritten", f"a {kind} of what nobody has written ({raw.sum()} lanes)", span, addresses[raw])
        if memory.large:
            return
        cells, each = memory.cells(addresses, size)
        by = lanes.by if each == 1 else np.repeat(lanes.by, each)
        bits = None
        if kind == "store":
            bits = np.ascontiguousarray(np.broadcast_to(values, shape)).reshape(-1)[active].view(f"u{size}")
        for what, which, then in conflicts(memory, self.order, cells, by, lanes, kind):
            at = np.unique(which // each)
            sort = "programs" if "another program" in what else "threads"
            if what.startswith("a store") and kind == "store" and (memory.bits(addresses[at], size) == bits[at]).all():
                if self.meant(span):
                    continue
                what += " (the same value: say why in the line's comment, beginning with 'same value')"
            other = f", of program {self.position(self.order.programs[then[which[0]]])}" if sort == "programs" else ""
            self.report(sort, f"a {kind} after {what}{other} ({len(at)} lanes)", span, addresses[at])
        note(memory, self.order, cells, by, kind)
        if kind == "store":
            last = memory.writer_lane[cells[::each]] - (lanes.by[0] - active[0])  # the lane that came last of those at a place
            where = np.searchsorted(active, last)
            unlike = (last != active) & (bits[where] != bits)
            if unlike.any():
                self.report("lanes", f"lanes of one store with different values ({unlike.sum()})", span, addresses[unlike])

    def synchronize(self, pointers, mask, sem, scope, before):
        """An atomic operation on one number orders programs: what was released comes before what is acquired."""
        if pointers.size != 1 or not np.all(mask) or "CTA" in str(scope):
            return
        place, sem = int(pointers.reshape(-1)[0]), str(sem)
        if before and "RELEASE" in sem:
            self.order.release(place)
        if not before and "ACQUIRE" in sem:
            self.order.acquire(place)

    def start(self, x, y, z):
        self.place = (x, y, z)
        self.order.start((x * self.grid[1] + y) * self.grid[2] + z)

    def position(self, program):
        return tuple(int(n) for n in np.unravel_index(int(program), self.grid))

    def meant(self, span):
        return span.name == REPORTS or "# same value" in linecache.getline(*_line())

    def report(self, kind, what, span, addresses):
        name, number = _line()
        argument = LISTED if span is None else span.name
        key = (kind, self.kernel.name, argument, name, number)
        found = FINDINGS.found.get(key)
        if found is not None:
            found.count += 1
            return
        if span is not None:
            offset = int(addresses[0]) - span.low
            what += f"; element {offset // span.itemsize}" + (
                f" and {offset % span.itemsize} bytes" * bool(offset % span.itemsize)
            )
            if span.array is not None:
                what += f" of {span.array.dtype}{list(span.array.shape)}, strides {list(span.array.strides)}"
        text = f"{name.rsplit('tenfold/', 1)[-1]}:{number}: {linecache.getline(name, number).strip()}"
        FINDINGS.found[key] = Finding(kind, what, self.kernel.name, argument, text, self.place, _call())


def _frames():
    frame = sys._getframe(2)
    while frame is not None:
        yield frame.f_code.co_filename, frame
        frame = frame.f_back


def _line():
    """(file, number) of the kernel's line that is running."""
    own = ("/triton/", *HERE, "/cuda/interpret")
    return next(((name, frame.f_lineno) for name, frame in _frames() if not any(part in name for part in own)), ("", 0))


def _call():
    """Who launched: the function of kernels/ that did, and the line outside of Tenfold that called it."""
    launcher = caller = None
    for name, frame in _frames():
        if "/cuda/kernels/" in name and "/programs/" not in name and launcher is None:
            launcher = f"{frame.f_code.co_name} ({name.rsplit('/', 1)[-1]}:{frame.f_lineno})"
        if caller is None and "/tests/" in name and not name.endswith(HERE):
            caller = f"{name.rsplit('/', 1)[-1]}:{frame.f_lineno}: {linecache.getline(name, frame.f_lineno).strip()}"
    return f"{launcher}, {caller}"
