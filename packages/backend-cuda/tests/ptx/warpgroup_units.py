"""wgmma: products of 128 threads, whose results are there when they have been waited for, and not before.

Until then the registers that they go to hold what is no number, and what they read of shared memory is to stay as it is.
"""

from __future__ import annotations

import numpy as np

from ptx.asynchronous import Groups
from ptx.matrix_units import hand_out, held, whole
from ptx.operations import nothing, operation
from ptx.spans import MemoryFault
from ptx.translation import SHARED_BASE
from ptx.values import POISON, U64, typed
from ptx.warpgroups import (
    ROWS,
    UNIT,
    described,
    left_of_registers,
    operand_of,
    product_of,
    registers_of_result,
    result_of_registers,
    units,
    wgmma,
)  # fmt: skip

GROUP = 128


class Sums:
    """What is summed up in some registers while products go on: it becomes theirs with the wait for the last of these."""

    def __init__(self, count, N, dtype):
        self.matrices = np.zeros((count, ROWS, N), dtype)
        self.last = np.zeros(count, np.int64)  # of each group the number of the last product that goes on; 0: none does


class Products:
    """Those of a machine that go on."""

    def __init__(self, machine):
        count = machine.lanes // GROUP
        self.groups, self.sums, self.number, self.count = Groups(count), {}, 0, count

    def sums_in(self, slots, product):
        """What is summed up in these registers.

        Raises: NotImplementedError where other products go on in some of them.
        """
        found = self.sums.get(slots)
        if found is None:
            for others, sums in self.sums.items():
                if sums.last.any() and set(slots) & set(others):
                    raise NotImplementedError("wgmma: registers of a product that goes on are another's in part")
            wide = np.int32 if product.to == "s32" else np.float32
            found = self.sums[slots] = Sums(self.count, product.N, wide)
        return found


def products(machine):
    if "products" not in machine.extra:
        machine.extra["products"] = Products(machine)
    return machine.extra["products"]


class Operand:
    """A matrix in shared memory, by a descriptor in a register: of each group of 128 threads the bytes as they are now."""

    def __init__(self, machine, slot, groups, width, kind, transposed):
        words = machine.full(typed(machine.R[slot], U64)).reshape(-1, GROUP)[:, 0]
        numbers = np.arange(len(words)) if groups is None else groups
        words = words[numbers]
        blocks = numbers * GROUP // machine.threads
        same = (words == words[0]).all()
        found = units(described(words[:1] if same else words), width, kind, transposed)
        places = (found - SHARED_BASE) // UNIT
        length = machine.shared.shape[1] // UNIT
        if places.min() < 0 or places.max() >= length:
            raise MemoryFault(f"wgmma: a descriptor of what is outside of the {machine.shared.shape[1]} bytes of shared memory")
        self.memory = machine.shared.reshape(len(machine.shared), length, UNIT).view(U64)
        self.blocks, self.places, self.transposed, self.kind, self.width = blocks, places, transposed, kind, width
        self.bytes = self.read()

    def read(self):
        if len(self.places) == 1:
            return self.memory[self.blocks[:, None], self.places.reshape(1, -1)]
        return self.memory[self.blocks[:, None], self.places.reshape(len(self.blocks), -1)]

    def matrices(self):
        data = self.bytes.view(np.uint8).reshape(len(self.blocks), *self.places.shape[1:], UNIT)
        return operand_of(data, self.width, self.kind, self.transposed)

    def look(self, which, instruction):
        """See that what a product of these groups has read is still there: it may have read it as late as now."""
        if not np.array_equal(self.read()[which], self.bytes[which]):
            raise MemoryFault(f"{instruction.opcode}: the shared memory that it reads is written before it is waited for")


@operation("wgmma.mma_async")
def _product(instruction, code):
    product = product_of(instruction.opcode)
    to, a, b, adds, *options = instruction.operands
    signs = tuple(int(o, 0) for o in options[:2])
    turned = [int(o, 0) for o in options[2:]]
    turned_a, turned_b = (0, *turned) if isinstance(a, list) and turned else turned or (0, 0)
    slots, writers = tuple(code.slots(to, "b32")), [code.writer(t) for t in to]
    left = code.slots(a, "b32") if isinstance(a, list) else code.slot(a, "b64")
    right, (adding, unless) = code.slot(b, "b64"), code.predicate(adds)
    poison = np.full((1, 1), POISON[32])

    def run(machine):
        now, groups = products(machine), whole(machine, GROUP)
        read = [Operand(machine, right, groups, product.N, product.of_b, turned_b)]
        if isinstance(left, list):
            x = left_of_registers(held(machine, left, groups, threads=GROUP), product.of_a)
        else:
            read.append(Operand(machine, left, groups, ROWS, product.of_a, turned_a))
            x = read[1].matrices()
        sums = now.sums_in(slots, product)
        numbers = np.arange(now.count) if groups is None else groups
        added = sums.matrices[numbers]
        new = sums.last[numbers] == 0
        if new.any():
            own = result_of_registers(held(machine, slots, groups, threads=GROUP), product.N, product.to)
            added = own if new.all() else np.where(new[:, None, None], own, added)
        adds_to = machine.full(machine.R[adding]).reshape(-1, GROUP)[numbers, 0] != unless
        if not adds_to.all():
            added = np.where(adds_to[:, None, None], added, added.dtype.type(0))
        now.number += 1
        number = now.number
        sums.matrices[numbers] = wgmma(product, x, read[0].matrices(), added, signs)
        sums.last[numbers] = number
        for write in writers:
            write(machine, poison)

        def end(which):
            for operand in read:
                operand.look(which, instruction)
            done = numbers[which]
            done = done[sums.last[done] == number]
            if not len(done):
                return
            sums.last[done] = 0
            before = machine.mask
            mask = np.zeros((now.count, GROUP), bool)
            mask[done] = True
            machine.mask = None if len(done) == now.count else mask.reshape(machine.shape)
            all_ = None if machine.mask is None else done
            hand_out(machine, writers, all_, registers_of_result(sums.matrices[done], product.to))
            machine.mask = before

        now.groups.begin(numbers, end)

    return run


def _groups(machine):
    found = whole(machine, GROUP)
    return np.arange(machine.lanes // GROUP) if found is None else found


@operation("wgmma.fence")
def _fence(instruction, code):
    return nothing


@operation("wgmma.commit_group")
def _commit(instruction, code):
    return lambda machine: products(machine).groups.close(_groups(machine))


@operation("wgmma.wait_group")
def _wait(instruction, code):
    most = int(instruction.operands[0], 0)
    return lambda machine: products(machine).groups.wait(_groups(machine), most)
