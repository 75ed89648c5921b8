"""The state of the blocks that run together, and control flow: the lanes that are furthest behind go on first.

All lanes of all these blocks are executed together, an instruction being one operation of NumPy. A register is an array that
broadcasts to (blocks, threads): what is the same for all lanes has one element. Lanes that go different ways wait where they
are until the others have come as far: the lowest place in the code goes first. A barrier holds a block's lanes until all that
have not ended are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptx.translation import SHARED_BASE, Block, Program
from ptx.values import BYTE, U8, U32, U64, typed

SPINNING = 1 << 16  # rounds of a loop after which lanes elsewhere, for which it may wait, come first once


class Deadlock(Exception):
    """Lanes wait at a barrier that others never reach."""


class Machine:
    """Blocks of a launch, from their first instruction to their last."""

    def __init__(self, program: Program, blocks: np.ndarray, grid: tuple[int, int, int], threads: int, memory: Any) -> None:
        self.program, self.grid, self.threads, self.memory = program, grid, threads, memory
        self.numbers = blocks  # of the blocks, x running fastest
        self.shape = (len(blocks), threads)
        self.lanes = len(blocks) * threads
        self.R = list(program.initial)
        self.mask: np.ndarray | None = None  # of the lanes that run; None: all
        self.carry: Any = None
        self.parameters = np.zeros(0, U8)  # the launch's arguments, 8 bytes each
        self.alive = np.ones(self.shape, bool)
        self.shared_bytes = program.shared_bytes
        self.shared = np.full((len(blocks), max(16, program.shared_bytes)), BYTE, U8)
        self.local = np.full((self.lanes, program.local_bytes), BYTE, U8)
        self.extra: dict[str, Any] = {}  # what modules of instructions keep here
        self._specials()

    def full(self, x: np.ndarray) -> np.ndarray:
        """An array of all lanes."""
        return x if x.shape == self.shape else np.broadcast_to(x, self.shape)

    def put(self, slot: int, value: np.ndarray) -> None:
        """Write a register's lanes that run."""
        mask = self.mask
        if mask is None:
            self.R[slot] = value
        else:
            old = self.R[slot]
            if old.dtype is not value.dtype:
                old = typed(old, value.dtype)
            self.R[slot] = np.where(mask, value, old)

    def active(self) -> np.ndarray:
        """The numbers of the lanes that run, in the order of (block, thread)."""
        return np.arange(self.lanes) if self.mask is None else np.flatnonzero(self.mask)

    def _specials(self) -> None:
        x, y, _ = self.grid
        thread = np.arange(self.threads, dtype=U32)[None, :]
        lane, block = thread % U32.type(32), self.numbers.astype(np.uint64)[:, None]
        one = np.ones((1, 1), U32)
        known = {
            "%tid.x": thread, "%tid.y": one * 0, "%tid.z": one * 0, "%ntid.x": one * self.threads, "%ntid.y": one, "%ntid.z": one,
            "%ctaid.x": block % x, "%ctaid.y": block // x % y, "%ctaid.z": block // (x * y),
            "%nctaid.x": one * self.grid[0], "%nctaid.y": one * self.grid[1], "%nctaid.z": one * self.grid[2],
            "%laneid": lane, "%warpid": thread // U32.type(32), "%nwarpid": one * (self.threads // 32),
            "%lanemask_eq": one << lane, "%lanemask_lt": (one << lane) - one,
            "%lanemask_le": ((one << lane) - one) | (one << lane),
            "%lanemask_gt": ~(((one << lane) - one) | (one << lane)), "%lanemask_ge": ~((one << lane) - one),
            "%smid": block % 132, "%nsmid": one * 132, "%cluster_ctaid.x": one * 0, "%cluster_ctarank": one * 0,
            "%cluster_nctarank": one, "%cluster_nctaid.x": one, "%clusterid.x": block % x,
            "%dynamic_smem_size": one * self.shared_bytes, "%total_smem_size": one * (self.shared_bytes + SHARED_BASE),
            "%clock": one * 0, "%clock_hi": one * 0,
        }  # fmt: skip
        wide = {"%clock64": np.zeros((1, 1), U64), "%globaltimer": np.zeros((1, 1), U64)}
        for name, slot in self.program.specials.items():
            self.R[slot] = wide[name] if name in wide else known[name].astype(U32)

    def run(self) -> None:
        """All lanes, to the kernel's end."""
        with np.errstate(all="ignore"):
            Flow(self, self.program.blocks[self.program.name]).run(np.ones(self.shape, bool), True)


class Flow:
    """Control flow of a function's lanes."""

    def __init__(self, machine: Machine, blocks: list[Block]) -> None:
        self.machine, self.blocks = machine, blocks
        self.pending: dict[int, np.ndarray] = {}
        self.waiting: list[tuple[int, int, int, np.ndarray]] = []  # (barrier, threads, place, lanes)
        self.held: dict[int, np.ndarray] = {}  # by place: lanes that wait for the others of their warp

    def run(self, mask: np.ndarray, kernel: bool) -> None:
        self.kernel, self.rounds = kernel, 0
        self.pending[0] = mask
        while self.pending:
            place = min(self.pending)
            if self.rounds > SPINNING and len(self.pending) > 1:
                place, self.rounds = sorted(self.pending)[1], 0
            self.follow(place, self.pending.pop(place))
            if not self.pending and (self.waiting or self.held):
                names = [f"{len(np.unique(np.nonzero(m)[0]))} blocks at barrier {b}" for b, _, _, m in self.waiting]
                names += [f"{int(m.sum())} lanes at {self.blocks[p].instructions[0]}" for p, m in self.held.items()]
                raise Deadlock(f"{self.machine.program.name}: {', '.join(names)}, which not all threads reach")

    def follow(self, place: int, mask: np.ndarray) -> None:
        """Run blocks one after the other as long as all these lanes go the same way and none waits before."""
        machine = self.machine
        while True:
            machine.mask = None if np.count_nonzero(mask) == machine.lanes else mask
            block = self.blocks[place]
            if block.gathers and machine.mask is not None:
                found = self.whole(place, mask)
                if found is None:
                    return
                mask = found
                machine.mask = None if np.count_nonzero(mask) == machine.lanes else mask
            self.execute(block)
            if block.end in ("return", "branch"):
                taken, others = self.divide(block, mask)
                if block.end == "return":
                    if taken is not None:
                        self.leave(taken)
                    if others is None:
                        return
                    place, mask = place + 1, others
                elif others is None:
                    self.rounds = self.rounds + 1 if block.target <= place else 0
                    place = block.target
                elif taken is None:
                    place += 1
                else:
                    self.rounds = self.rounds + 1 if block.target <= place else 0
                    self.join(block.target, taken)
                    self.join(place + 1, others)
                    return
            elif block.end in ("barrier", "arrive"):
                if block.guard is not None:
                    raise NotImplementedError(f"a barrier with a predicate: {block.last}")
                if not self.arrive(block, place + 1, mask):
                    return
                place += 1
            else:
                if block.end == "call":
                    self.call(block, mask)
                place += 1
            if self.pending and (min(self.pending) <= place or self.rounds > SPINNING):
                self.join(place, mask)
                return

    def whole(self, place: int, mask: np.ndarray) -> np.ndarray | None:
        """The lanes of warps that have all come to a place, but for those that have ended; the others are held."""
        if place in self.held:
            mask = mask | self.held.pop(place)
        here = mask.reshape(-1, 32)
        complete = (here == self.machine.alive.reshape(-1, 32)).all(1)
        if self.kernel and not complete.all():
            left = here & ~complete[:, None]
            if left.any():
                self.held[place] = left.reshape(mask.shape)
                mask = (here & complete[:, None]).reshape(mask.shape)
        return mask if mask.any() else None

    def execute(self, block: Block) -> None:
        i, machine = -1, self.machine
        try:
            for i, run in enumerate(block.runs):  # noqa: B007 - for the error's note
                run(machine)
        except Exception as error:
            instruction = block.instructions[i]
            error.add_note(f"{machine.program.name}, line {instruction.line} of its PTX: {instruction}  ({instruction.place})")
            raise

    def join(self, place: int, mask: np.ndarray) -> None:
        before = self.pending.get(place)
        self.pending[place] = mask if before is None else before | mask

    def divide(self, block: Block, mask: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
        """(the lanes that do what a block ends with, the others); None: no lane."""
        if block.guard is None:
            return mask, None
        holds = self.machine.R[block.guard]
        if block.unless:
            holds = ~holds
        if holds.size == 1:
            return (mask, None) if holds[0, 0] else (None, mask)
        taken = mask & holds
        if not taken.any():
            return None, mask
        others = mask & ~holds
        return (taken, others) if others.any() else (mask, None)

    def leave(self, mask: np.ndarray) -> None:
        if not self.kernel:
            return
        self.machine.alive &= ~mask
        if self.waiting:
            self.release()
        for place in list(self.held):  # who waited for these waits no longer
            self.join(place, self.held.pop(place))

    def arrive(self, block: Block, place: int, mask: np.ndarray) -> bool:
        """Lanes come to a barrier: whether all of them may go on at once."""
        machine = self.machine
        number, count = 0, 0
        if block.slots:
            number = int(machine.R[block.slots[0]].reshape(-1)[0])
        if len(block.slots) > 1:
            count = int(machine.R[block.slots[1]].reshape(-1)[0])
        if machine.mask is None and not self.waiting:
            return True
        self.waiting.append((number, count, place if block.end == "barrier" else -1, mask))
        if block.end == "arrive":
            self.join(place, mask)
        self.release()
        return False

    def release(self) -> None:
        """Let the lanes of blocks go on that have all come to the same barrier."""
        machine = self.machine
        for barrier in {w[0] for w in self.waiting}:
            here = [w for w in self.waiting if w[0] == barrier]
            arrived = sum(m.sum(1) for *_, m in here)
            wanted = max(w[1] for w in here)
            needed = machine.alive.sum(1) if not wanted else np.full(len(arrived), wanted)
            done = (arrived >= needed) & (arrived > 0)
            if not done.any():
                continue
            self.waiting = [w for w in self.waiting if w[0] != barrier]
            for _, count, place, mask in here:
                going = mask & done[:, None]
                if place >= 0 and going.any():
                    self.join(place, going)
                left = mask & ~done[:, None]
                if left.any():
                    self.waiting.append((barrier, count, place, left))

    def call(self, block: Block, mask: np.ndarray) -> None:
        """A function's body runs for the lanes that call it; parameters are registers of both sides."""
        machine, program = self.machine, self.machine.program
        caller, callee = program.codes[self.function_of(block)], program.codes[block.target]
        results, given = block.slots
        for name, variable in zip(given, callee.function.parameters):
            machine.put(callee.parameters[variable.name], machine.R[caller.parameters[name]])
        Flow(machine, program.blocks[block.target]).run(mask, False)
        machine.mask = None if np.count_nonzero(mask) == machine.lanes else mask
        for name, variable in zip(results, callee.function.results):
            machine.put(caller.parameters[name], machine.R[callee.parameters[variable.name]])

    def function_of(self, block: Block) -> str:
        return next(name for name, blocks in self.machine.program.blocks.items() if blocks is self.blocks)
