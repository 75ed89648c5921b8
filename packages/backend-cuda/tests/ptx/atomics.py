"""atom and red: one lane after the other, in the order of their numbers.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red".
"""

from __future__ import annotations

import numpy as np

from ptx.halves import is_half, narrow, packed, pair, wide
from ptx.memory import Window, scattered, space_of
from ptx.operations import operation
from ptx.rounding import flushed
from ptx.spans import gather, scatter
from ptx.values import F32, TYPES, U64, UNSIGNED, typed

NAMES = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
FUNCTIONS = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "exch": lambda old, x: x, "cas": lambda old, x, y: np.where(old == x, y, old),
    "inc": lambda old, x: np.where(old >= x, old.dtype.type(0), old + old.dtype.type(1)),
    "dec": lambda old, x: np.where((old == 0) | (old > x), x, old - old.dtype.type(1)),
}  # fmt: skip


def function_of(name, kind, space):
    """The function of bits (what was there, operands) that gives the bits that come there."""
    bits, plain = UNSIGNED[TYPES[kind].itemsize], FUNCTIONS[name]
    if kind.endswith("x2"):
        return lambda *x: pair(plain(*[packed(v, kind) for v in x]), kind)
    if is_half(kind):
        return lambda *x: narrow(plain(*[wide(v, kind) for v in x]), kind)
    if kind == "f32" and name == "add" and space != "shared":
        return lambda *x: typed(flushed(plain(*[flushed(v.view(F32)) for v in x])), bits)
    dtype = TYPES[kind]
    return lambda *x: typed(plain(*[v.view(dtype) for v in x]), bits)


def rounds(addresses):
    """The lanes in groups of different addresses, each lane after those before it with the same address."""
    order = np.argsort(addresses, kind="stable")
    ordered = addresses[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.append(begins, len(ordered)))
    rank = np.empty(len(ordered), np.int64)
    rank[order] = np.arange(len(ordered)) - np.repeat(begins, lengths)
    by_rank = np.argsort(rank, kind="stable")
    return np.split(by_rank, np.cumsum(np.bincount(rank))[:-1])


class Place:
    """The words of a memory at the lanes' addresses."""

    def __init__(self, machine, space, lanes, addresses, size, count):
        self.window = None
        if space in ("global", "generic"):
            machine.memory.check(addresses, size * count, "atomic operation")
            self.at = addresses
        else:
            window = Window(machine, space)
            self.at = window.places(lanes, addresses, size * count, size * count) // size
            self.window = window.words(size)
        self.size = size

    def read(self, which, i):
        if self.window is None:
            return gather(self.at[which] + U64.type(self.size * i), self.size)
        return self.window[self.at[which] + i]

    def write(self, which, i, values):
        if self.window is None:
            scatter(self.at[which] + U64.type(self.size * i), values)
        else:
            self.window[self.at[which] + i] = values


@operation("atom", "red")
def _atomic(instruction, code):
    parts, operands = instruction.parts, list(instruction.operands)
    to = operands.pop(0) if parts[0] == "atom" else None
    place, *given = operands
    name, kind, space = next(p for p in parts if p in NAMES), parts[-1], space_of(parts)
    vectors = [g if isinstance(g, list) else [g] for g in given]
    slots = [[code.slot(x, kind) for x in vector] for vector in vectors]
    targets = to if isinstance(to, list) else [to]
    writers = [None if t in (None, "_") else code.writer(t) for t in targets]
    bits, function, address = UNSIGNED[TYPES[kind].itemsize], function_of(name, kind, space), code.address(place)
    count = len(slots[0]) if slots else 1

    def run(machine):
        lanes = machine.active()
        addresses = machine.full(address(machine)).reshape(-1)[lanes]
        operand = [[machine.full(typed(machine.R[s], bits)).reshape(-1)[lanes] for s in vector] for vector in slots]
        memory = Place(machine, space, lanes, addresses, bits.itemsize, count)
        before = [np.zeros(len(lanes), bits) for _ in range(count)]
        for which in rounds(addresses if space != "shared" else memory.at):
            for i in range(count):
                old = memory.read(which, i)
                before[i][which] = old
                memory.write(which, i, function(old, *[vector[i][which] for vector in operand]))
        for write, value in zip(writers, before):
            if write is not None:
                write(machine, scattered(machine, lanes, value, None))

    return run
