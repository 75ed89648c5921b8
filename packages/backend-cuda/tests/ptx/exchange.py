"""What lanes of a warp tell each other: shuffles, votes, matches and reductions.

Source: PTX ISA, "Data Movement and Conversion Instructions: shfl.sync", "Parallel Synchronization and Communication".
"""

from __future__ import annotations

import numpy as np

from ptx.operations import operation
from ptx.values import TYPES, U32, U64, typed

LANES = np.arange(32)


class Divergence(Exception):
    """Lanes that an instruction of a whole warp waits for are elsewhere."""


def warps(machine, x):
    """An array as (blocks, warps, lanes); of what is the same in all of a block, or in all blocks, one."""
    if x.shape[1] == 1:
        x = np.broadcast_to(x, (x.shape[0], machine.threads))
    return x.reshape(x.shape[0], -1, 32)


def together(machine, members):
    """See that all lanes of a warp that an instruction names are here, or have ended."""
    if machine.mask is None:
        return
    here = machine.mask.reshape(-1, 32)
    some, every = here.any(1), here.all(1)
    if (some == every).all():
        return
    named = (np.broadcast_to(members, machine.shape).reshape(-1, 32)[:, :1] >> LANES.astype(U32)) & U32.type(1) != 0
    missing = named & ~here & machine.alive.reshape(-1, 32) & some[:, None]
    if missing.any():
        raise Divergence(f"{int(missing.any(1).sum())} warps lack lanes that the instruction waits for")


def _plain(x):
    """The only element of what is the same for all; None for other arrays."""
    return int(x[0, 0]) if x.size == 1 else None


def _source(mode, lane, by, clamp):
    """(the lane that a lane takes from, whether that is within bounds)."""
    by, upper, segment = by & 31, clamp & 31, clamp >> 8 & 31
    last = (lane & segment) | (upper & ~segment & 31)
    if mode == "up":
        found = lane - by
        good = found >= last
    else:
        found = {"down": lane + by, "bfly": lane ^ by, "idx": (lane & segment) | (by & ~segment & 31)}[mode]
        good = found <= last
    return np.where(good, found, lane), good


@operation("shfl.sync")
def _shuffle(instruction, code):
    to, a, b, c, members = instruction.operands
    mode = instruction.parts[2]
    to, holds = to if isinstance(to, list) else (to, "_")
    i, j, k, n = (code.slot(o, "b32") for o in (a, b, c, members))
    write, tell = code.writer(to), code.writer(holds)

    def run(machine):
        R = machine.R
        together(machine, R[n])
        value = warps(machine, typed(R[i], U32))
        by, clamp = typed(R[j], U32), typed(R[k], U32)
        if by.size == clamp.size == 1:
            source, good = _source(mode, LANES, int(by[0, 0]), int(clamp[0, 0]))
            found, good = value[..., source], good[None, None, :]
        else:
            source, good = _source(mode, LANES, warps(machine, by).astype(np.int64), warps(machine, clamp).astype(np.int64))
            value, source = np.broadcast_arrays(value, source)
            found = np.take_along_axis(value, source, -1)
        write(machine, found.reshape(found.shape[0], -1))
        if holds != "_":
            tell(machine, np.broadcast_to(good, (good.shape[0], machine.threads // 32, 32)).reshape(good.shape[0], -1))

    return run


def here(machine, members):
    """Of each warp, which lanes take part: (blocks, warps, lanes)."""
    named = (warps(machine, members) >> LANES.astype(U32)) & U32.type(1) != 0
    return named if machine.mask is None else named & machine.mask.reshape(machine.shape[0], -1, 32)


def each(machine, x):
    """A number of each warp as one of each lane."""
    return np.repeat(x, 32, -1).reshape(x.shape[0], -1)


@operation("vote.sync")
def _vote(instruction, code):
    to, given, members = instruction.operands
    mode = instruction.parts[2]
    (slot, negated), n, write = code.predicate(given), code.slot(members, "b32"), code.writer(to)

    def run(machine):
        value, R = machine.R[slot], machine.R
        together(machine, R[n])
        holds, part = warps(machine, ~value if negated else value), here(machine, typed(R[n], U32))
        yes = holds & part
        if mode == "ballot":
            found = (yes.astype(U64) << LANES.astype(U64)).sum(-1).astype(U32)
        else:
            every = (holds | ~part).all(-1)
            found = {"all": every, "any": yes.any(-1), "uni": every | ~yes.any(-1)}[mode]
        write(machine, each(machine, found))

    return run


@operation("match.any.sync", "match.sync.any", "match.sync.all")
def _match(instruction, code):
    to, given, members = instruction.operands
    kind = instruction.parts[-1]
    to, holds = to if isinstance(to, list) else (to, "_")
    slot, n, write, tell = code.slot(given, kind), code.slot(members, "b32"), code.writer(to), code.writer(holds)
    all_ = "all" in instruction.parts

    def run(machine):
        together(machine, machine.R[n])
        value, part = warps(machine, typed(machine.R[slot], TYPES[kind])), here(machine, typed(machine.R[n], U32))
        same = (value[..., :, None] == value[..., None, :]) & part[..., None, :]
        found = (same.astype(U64) << LANES.astype(U64)).sum(-1).astype(U32)
        if all_:
            members_here = (part.astype(U64) << LANES.astype(U64)).sum(-1).astype(U32)[..., None]
            good = found == members_here
            found = np.where(good, found, U32.type(0))
            tell(machine, good.reshape(good.shape[0], -1))
        write(machine, found.reshape(found.shape[0], -1))

    return run


REDUCTIONS = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


@operation("redux.sync")
def _redux(instruction, code):
    to, given, members = instruction.operands
    name, kind = instruction.parts[2], instruction.parts[-1]
    slot, n, write, dtype = code.slot(given, kind), code.slot(members, "b32"), code.writer(to), TYPES[kind]
    limits = np.iinfo(dtype)
    neutral = {"min": limits.max, "max": limits.min, "and": ~dtype.type(0)}

    def run(machine):
        together(machine, machine.R[n])
        value, part = warps(machine, typed(machine.R[slot], dtype)), here(machine, typed(machine.R[n], U32))
        value = np.where(part, value, dtype.type(neutral.get(name, 0)))
        write(machine, each(machine, REDUCTIONS[name].reduce(value, axis=-1, dtype=dtype)))

    return run


@operation("activemask")
def _active(instruction, code):
    write = code.writer(instruction.operands[0])

    def run(machine):
        mask = (np.ones(machine.shape, bool) if machine.mask is None else machine.mask).reshape(machine.shape[0], -1, 32)
        write(machine, each(machine, (mask.astype(U64) << LANES.astype(U64)).sum(-1).astype(U32)))

    return run


@operation("elect.sync")
def _elect(instruction, code):
    (to, holds), members = instruction.operands
    n, write, tell = code.slot(members, "b32"), code.writer(to), code.writer(holds)

    def run(machine):
        first = here(machine, typed(machine.R[n], U32)).argmax(-1)
        tell(machine, (first[..., None] == LANES).reshape(first.shape[0], -1))
        write(machine, each(machine, first.astype(U32)))

    return run


@operation("bar.warp.sync", "barrier.warp.sync")
def _warp_barrier(instruction, code):
    slot = code.slot(instruction.operands[0], "b32")
    return lambda machine: together(machine, machine.R[slot])
