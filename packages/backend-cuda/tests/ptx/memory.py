"""Loads and stores: global memory, shared and local, parameters; vectors of registers; alignment as hardware has it.

Source: PTX ISA, "Data Movement and Conversion Instructions: ld, st, mov".
"""

from __future__ import annotations

import numpy as np

from ptx.operations import operation
from ptx.parser import Address
from ptx.spans import MemoryFault, gather, scatter
from ptx.translation import SHARED_BASE
from ptx.values import BOOL, TYPES, U64, UNSIGNED, typed

WINDOWS = {"shared": 1 << 48, "local": 1 << 49}  # of generic addresses, beyond those of the process
SPACES = ("global", "shared", "local", "param", "const")


def space_of(parts):
    """The state space of an instruction; "generic" without one."""
    return next((p.split("::")[0] for p in parts if p.split("::")[0] in SPACES), "generic")


class Window:
    """A space of bytes of each block (shared memory) or lane (local memory), by addresses and lanes."""

    def __init__(self, machine, space):
        shared = space == "shared"
        self.bytes = machine.shared if shared else machine.local
        self.base, self.each, self.name = SHARED_BASE if shared else 0, machine.threads if shared else 1, space

    def places(self, lanes, addresses, size, align):
        """The positions in the flat bytes of lanes' addresses."""
        length = self.bytes.shape[1]
        offsets = addresses.astype(np.int64) - self.base
        if align > 1 and (offsets & (align - 1)).any():
            raise MemoryFault(f"misaligned access of {align} bytes in {self.name} memory at {hex(int(addresses.max()))}")
        if len(offsets) and (offsets.min() < 0 or offsets.max() + size > length):
            raise MemoryFault(
                f"{self.name} memory has {length} bytes; an access of {size} bytes at {offsets.min()} to {offsets.max()}"
            )
        return lanes // self.each * length + offsets

    def words(self, size):
        return self.bytes.reshape(-1).view(UNSIGNED[size])


def lanes_and_addresses(machine, address, space="global"):
    """(the lanes that run, their addresses, the shape of what is loaded there).

    Where all lanes, or all of a block, have the same address, they are one lane; the shape is None where lanes do not run.
    """
    found, (blocks, threads) = address(machine), machine.shape
    if machine.mask is not None:
        lanes = np.flatnonzero(machine.mask)
        return lanes, machine.full(found).reshape(-1)[lanes], None
    if found.size == 1 and space in ("global", "const"):
        return np.zeros(1, np.int64), found.reshape(-1), (1, 1)
    if found.shape[1] == 1 and space not in ("local", "generic"):
        return np.arange(blocks) * threads, np.broadcast_to(found, (blocks, 1)).reshape(-1), (blocks, 1)
    return np.arange(machine.lanes), machine.full(found).reshape(-1), machine.shape


def load(machine, space, lanes, addresses, size, count):
    """Of each lane `count` words of a size: a list of arrays."""
    space, addresses = concrete(space, addresses)
    if space in ("global", "const"):
        machine.memory.check(addresses, size * count, "load")
        return [gather(addresses + U64.type(size * i), size) for i in range(count)]
    window = Window(machine, space)
    places, words = window.places(lanes, addresses, size * count, size * count) // size, window.words(size)
    return [words[places + i] for i in range(count)]


def store(machine, space, lanes, addresses, values, count):
    size = values[0].dtype.itemsize
    space, addresses = concrete(space, addresses)
    if space == "global":
        machine.memory.check(addresses, size * count, "store")
        for i, value in enumerate(values):
            scatter(addresses + U64.type(size * i), value)
        return
    window = Window(machine, space)
    places, words = window.places(lanes, addresses, size * count, size * count) // size, window.words(size)
    for i, value in enumerate(values):
        words[places + i] = value


def concrete(space, addresses):
    """The space that generic addresses lie in, and addresses there: of one access all lanes' are in the same."""
    if space != "generic":
        return space, addresses
    found = next((name for name, base in WINDOWS.items() if len(addresses) and int(addresses[0]) >> 48 == base >> 48), "global")
    return found, addresses - U64.type(WINDOWS.get(found, 0))


def scattered(machine, lanes, value, shape):
    """Values of the lanes that run as an array of all lanes; the others' are overwritten by nobody."""
    if shape is not None:
        return value.reshape(shape)
    found = np.zeros(machine.lanes, value.dtype)
    found[lanes] = value
    return found.reshape(machine.shape)


def gathered(machine, lanes, x):
    """A register's values of the lanes that run."""
    flat = machine.full(x).reshape(-1)
    return flat if machine.mask is None else flat[lanes]


@operation("ld", "ldu")
def _load(instruction, code):
    parts, (to, place, *_) = instruction.parts, instruction.operands
    kind, space = parts[-1], space_of(parts)
    if space == "param":
        return _parameter(code, to, place, kind)
    dtype, targets, address = TYPES[kind], to if isinstance(to, list) else [to], code.address(place)
    size, count = dtype.itemsize, len(targets)
    writers = [code.writer(t) for t in targets]

    def run(machine):
        lanes, addresses, shape = lanes_and_addresses(machine, address, space)
        for write, value in zip(writers, load(machine, space, lanes, addresses, size, count)):
            write(machine, scattered(machine, lanes, value.view(dtype), shape))

    return run


def _parameter(code, to, place: Address, kind):
    if place.base not in code.parameters:
        return _chosen_parameter(code, to, place, kind)
    slot, write, dtype = code.parameters[place.base], code.writer(to), TYPES[kind]
    if place.offset:
        raise NotImplementedError("parameters with parts")
    return lambda machine: write(machine, typed(machine.R[slot], dtype))


def _chosen_parameter(code, to, place: Address, kind):
    """Of a parameter whose address was computed."""
    address, write, dtype = code.address(place), code.writer(to), TYPES[kind]

    def run(machine):
        places = address(machine).astype(np.int64) // dtype.itemsize
        words = machine.parameters.view(dtype)
        if machine.mask is not None:  # lanes that do not run have any address
            places = np.where(machine.mask, places, 0)
        write(machine, words[places])

    return run


@operation("st")
def _store(instruction, code):
    parts, (place, given, *_) = instruction.parts, instruction.operands
    kind, space = parts[-1], space_of(parts)
    sources = code.slots(given, kind)
    if space == "param":
        slot, dtype = code.parameters[place.base], TYPES[kind]
        return lambda machine: machine.put(slot, typed(machine.R[sources[0]], dtype))
    dtype, address = UNSIGNED[TYPES[kind].itemsize], code.address(place)

    def run(machine):
        found = address(machine)
        lanes = machine.active()
        addresses = machine.full(found).reshape(-1)
        if machine.mask is not None:
            addresses = addresses[lanes]
        values = [gathered(machine, lanes, typed(machine.R[s], dtype)) for s in sources]
        store(machine, space, lanes, addresses, values, len(values))

    return run


@operation("mov")
def _move(instruction, code):
    to, given = instruction.operands
    kind = instruction.parts[-1]
    if isinstance(given, list):
        return _packed(code, to, given, kind)
    if isinstance(to, list):
        return _unpacked(code, to, given, kind)
    slot, write, dtype = code.slot(given, kind), code.writer(to), TYPES[kind]
    if dtype is BOOL:
        return lambda machine: write(machine, machine.R[slot])
    if given in code.registers and code.bits(given) == code.bits(to):
        return lambda machine: write(machine, machine.R[slot])
    return lambda machine: write(machine, typed(machine.R[slot], dtype))


def _packed(code, to, given, kind):
    """Several registers side by side in one."""
    whole = TYPES[kind].itemsize
    part, wide = UNSIGNED[whole // len(given)], UNSIGNED[whole]
    slots, write = code.slots(given, f"b{8 * part.itemsize}"), code.writer(to)

    def run(machine):
        total = None
        for i, slot in enumerate(slots):
            x = typed(machine.R[slot], part).astype(wide) << wide.type(8 * part.itemsize * i)
            total = x if total is None else total | x
        write(machine, total)

    return run


def _unpacked(code, to, given, kind):
    whole = UNSIGNED[TYPES[kind].itemsize]
    part = UNSIGNED[whole.itemsize // len(to)]
    slot, writers = code.slot(given, kind), [code.writer(t) for t in to]

    def run(machine):
        x = typed(machine.R[slot], whole)
        for i, write in enumerate(writers):
            write(machine, (x >> whole.type(8 * part.itemsize * i)).astype(part))

    return run


@operation("cvta")
def _generic(instruction, code):
    """Addresses of global memory are generic ones; those of other spaces are in a window."""
    to, given = instruction.operands
    slot, write = code.slot(given, "u64"), code.writer(to)
    base = U64.type(WINDOWS.get(space_of(instruction.parts), 0))
    if "to" in instruction.parts:
        return lambda machine: write(machine, typed(machine.R[slot], U64) - base)
    return lambda machine: write(machine, typed(machine.R[slot], U64) + base)
