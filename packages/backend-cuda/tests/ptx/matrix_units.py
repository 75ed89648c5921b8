"""Instructions of whole warps with matrices: mma.sync, ldmatrix, stmatrix, movmatrix; conversion to tf32.

What they compute is in matrices.py. A warp of which not all threads are there is refused: the hardware's answer is undefined.
"""

from __future__ import annotations

import numpy as np

from ptx import matrices
from ptx.exchange import Divergence
from ptx.memory import Window
from ptx.operations import operation
from ptx.values import F32, U32, U64, typed


def whole(machine, threads=matrices.THREADS):
    """The numbers of the groups of threads that run; None: all of them."""
    if machine.mask is None:
        return None
    here = machine.mask.reshape(-1, threads)
    found = np.flatnonzero(here.any(1))
    if not here[found].all():
        raise Divergence(f"a group of {threads} threads lacks some for an instruction of all of them")
    return found


def held(machine, slots, groups, dtype=U32, threads=matrices.THREADS):
    """Registers of groups of threads: (groups, threads, registers)."""
    found = np.stack([machine.full(typed(machine.R[slot], dtype)) for slot in slots], -1).reshape(-1, threads, len(slots))
    return found if groups is None else found[groups]


def hand_out(machine, writers, groups, values):
    """Write registers (groups, threads, registers) of the groups that run."""
    threads = values.shape[1]
    if groups is not None:
        found = np.zeros((machine.lanes // threads, *values.shape[1:]), values.dtype)
        found[groups] = values
        values = found
    for write, value in zip(writers, np.moveaxis(values, -1, 0)):
        write(machine, np.ascontiguousarray(value).reshape(machine.shape))


@operation("mma.sync")
def _mma(instruction, code):
    opcode = instruction.opcode
    to, *given = instruction.operands
    of = [part for part in opcode.split(".") if part in matrices.NARROW][1:]
    kinds = [U64 if kind == "f64" else U32 for kind in of]
    writers = [code.writer(t) for t in to]
    slots = [code.slots(vector, "b64" if kind is U64 else "b32") for vector, kind in zip(given, kinds)]

    def run(machine):
        groups = whole(machine)
        a, b, c = (held(machine, s, groups, kind) for s, kind in zip(slots, kinds))
        hand_out(machine, writers, groups, matrices.mma(opcode, a, b, c))

    return run


def rows(machine, address, groups, count):
    """Positions in shared memory, in units of 16 bytes, of the rows whose addresses the first 8 * count threads have."""
    found = machine.full(address(machine)).reshape(-1, matrices.THREADS)
    lanes = np.arange(machine.lanes).reshape(-1, matrices.THREADS)
    if groups is not None:
        found, lanes = found[groups], lanes[groups]
    window, used = Window(machine, "shared"), slice(0, 8 * count)
    places = window.places(lanes[:, used].reshape(-1), found[:, used].reshape(-1), 16, 16)
    units = window.bytes.reshape(-1, 16)
    return units, places.reshape(-1, count, 8) // 16


def _of(instruction):
    parts = instruction.parts
    if "m8n8" not in parts or parts[-1] != "b16":
        raise NotImplementedError(f"{instruction.opcode}: matrices of 8 x 8 elements of 16 bits only")
    return "trans" in parts


@operation("ldmatrix.sync")
def _load_matrices(instruction, code):
    to, place = instruction.operands
    transposed, address, writers = _of(instruction), code.address(place), [code.writer(t) for t in to]

    def run(machine):
        groups = whole(machine)
        units, places = rows(machine, address, groups, len(writers))
        hand_out(machine, writers, groups, matrices.loaded(units[places], transposed))

    return run


@operation("stmatrix.sync")
def _store_matrices(instruction, code):
    place, given = instruction.operands
    transposed, address, slots = _of(instruction), code.address(place), code.slots(given, "b32")

    def run(machine):
        groups = whole(machine)
        units, places = rows(machine, address, groups, len(slots))
        units[places] = matrices.stored(held(machine, slots, groups), transposed)

    return run


@operation("movmatrix.sync")
def _transpose(instruction, code):
    to, given = instruction.operands
    slot, writer = code.slot(given, "b32"), code.writer(to)

    def run(machine):
        groups = whole(machine)
        hand_out(machine, [writer], groups, matrices.moved(held(machine, [slot], groups)[..., 0])[..., None])

    return run


@operation("cvt.rna.tf32.f32")
def _to_tf32(instruction, code):
    """To the nearest of 10 bits, halfway away from zero; infinities and nan stay."""
    to, given = instruction.operands
    slot, write = code.slot(given, "f32"), code.writer(to)

    def run(machine):
        x = typed(machine.R[slot], F32)
        write(machine, np.where(np.isfinite(x), (x.view(U32) + U32.type(1 << 12)) & matrices.TF32, x.view(U32)))

    return run
