"""cp.async: copies of global to shared memory that are there when they have been waited for, and not before.

Source: NVIDIA, "Parallel Thread Execution ISA", cp.async and its groups.
"""

from __future__ import annotations

import numpy as np

from ptx.asynchronous import POISON, Groups
from ptx.memory import Window
from ptx.operations import operation
from ptx.spans import gather
from ptx.values import U32, U64, UNSIGNED, typed


def copies(machine):
    """The copies of a machine that go on."""
    if "copies" not in machine.extra:
        machine.extra["copies"] = Groups(machine.lanes)
    return machine.extra["copies"]


@operation("cp.async.ca.shared", "cp.async.cg.shared")
def _copy(instruction, code):
    to, source, size, *used = instruction.operands
    size = int(size, 0)
    if len(used) > 1 or (size != 16 and "cg" in instruction.parts):
        raise NotImplementedError(str(instruction))
    target, address = code.address(to), code.address(source)
    slot = code.slot(used[0], "u32") if used else None
    word = min(size, 8)

    def run(machine):
        lanes = machine.active()
        window = Window(machine, "shared")
        places = window.places(lanes, machine.full(target(machine)).reshape(-1)[lanes], size, size) // word
        addresses = machine.full(address(machine)).reshape(-1)[lanes]
        wanted = size if slot is None else machine.full(typed(machine.R[slot], U32)).reshape(-1)[lanes]
        found = read(machine, addresses, np.broadcast_to(wanted, lanes.shape), size)
        words = window.words(word)

        def end(which):
            for i, value in enumerate(found):
                words[places[which] + i] = value[which]

        for i in range(size // word):
            words[places + i] = UNSIGNED[word].type((1 << 8 * word) - 1) & POISON_WORD
        copies(machine).begin(lanes, end)

    return run


POISON_WORD = UNSIGNED[8].type(int.from_bytes(bytes([POISON] * 8), "little"))


def read(machine, addresses, wanted, size):
    """Words of what is copied: of each lane `wanted` bytes of memory and then zeros; where it is 0, nothing is read."""
    if (wanted > size).any():
        raise ValueError(f"cp.async: {wanted.max()} bytes of {size}")
    word = min(size, 8)
    found = [np.zeros(len(addresses), UNSIGNED[word]) for _ in range(size // word)]
    every = np.flatnonzero(wanted == size)
    if len(every):
        machine.memory.check(addresses[every], size, "asynchronous copy")
        for i, value in enumerate(found):
            value[every] = gather(addresses[every] + U64.type(word * i), word)
    data = np.stack(found, 1).view(np.uint8)
    for lane in np.flatnonzero((wanted > 0) & (wanted < size)):
        for i in range(wanted[lane]):
            machine.memory.check(addresses[lane : lane + 1] + U64.type(i), 1, "asynchronous copy")
            data[lane, i] = gather(addresses[lane : lane + 1] + U64.type(i), 1)[0]
    return list(data.view(UNSIGNED[word]).T)


@operation("cp.async.commit_group")
def _commit(instruction, code):
    return lambda machine: copies(machine).close(machine.active())


@operation("cp.async.wait_group")
def _wait(instruction, code):
    most = int(instruction.operands[0], 0)
    return lambda machine: copies(machine).wait(machine.active(), most)


@operation("cp.async.wait_all")
def _wait_for_all(instruction, code):
    return lambda machine: copies(machine).wait_for_all(machine.active())
