"""Makes of PTX a program: numbered registers, blocks of functions that run instructions, and where control goes after them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from ptx.operations import builder_of, nothing
from ptx.parser import Address, Function, Instruction, parse
from ptx.values import POISON, TYPES, U32, U64, filled, number, typed

SHARED_BASE = 1024  # where a block's shared memory begins in its window, as on GPUs of 9.0
WHOLE = ("shfl", "vote", "match", "redux", "elect", "ldmatrix", "stmatrix", "movmatrix", "mma", "wgmma")  # of whole warps
MODULES = (
    "integers", "floats", "conversions", "comparisons", "memory", "atomics", "exchange",
    "matrix_units", "warpgroup_units", "copies",
)  # fmt: skip


@cache
def _load_operations() -> None:
    for name in MODULES:
        if importlib.util.find_spec(f"ptx.{name}") is not None:
            importlib.import_module(f"ptx.{name}")


@dataclass(slots=True)
class Block:
    """Instructions one after the other, and what comes then.

    `end` is "next", "branch" (to `target`; of the lanes where the predicate says so, if there is one), "return" (likewise),
    "barrier" (number and count of threads are slots) or "call" (of the function `target`).
    """

    runs: list = field(default_factory=list)
    instructions: list = field(default_factory=list)
    end: str = "next"
    last: Instruction | None = None
    target: Any = None
    guard: int | None = None
    unless: bool = False
    slots: tuple = ()
    gathers: bool = False  # whether an instruction in it is of whole warps: its lanes wait for each other before


class Program:
    """A kernel ready to run: its blocks, and the first values of its registers."""

    def __init__(self, text: str, shared_bytes: int = 0) -> None:
        _load_operations()
        self.module = parse(text)
        self.initial: list[np.ndarray] = []
        self.bits: list[int] = []
        self.specials: dict[str, int] = {}
        self.memory: list[np.ndarray] = []  # global variables of the module
        self.symbols: dict[str, int] = {}
        self.shared_bytes, self.local_bytes = shared_bytes, 0
        self._place_variables()
        self.parameters: list[tuple[int, str]] = []
        self.blocks: dict[str, list[Block]] = {}
        self.codes = {name: Code(self, function) for name, function in self.module.functions.items()}
        self.name = self.module.kernel.name
        for name, code in self.codes.items():
            self.blocks[name] = code.translated()

    def _place_variables(self) -> None:
        used, kernel = 0, self.module.kernel
        own = [v for f in self.module.functions.values() for v in f.variables]
        for variable in (*self.module.variables, *own):
            if variable.space == "shared":
                used = -(-used // variable.align) * variable.align
                self.symbols[variable.name] = SHARED_BASE + used
                used += variable.size
            elif variable.space == "local":
                self.local_bytes = -(-self.local_bytes // variable.align) * variable.align
                self.symbols[variable.name] = self.local_bytes
                self.local_bytes += variable.size
            elif variable.space in ("global", "const"):
                words = np.zeros(max(1, -(-variable.size // 16)) * 2, U64)
                words.view(np.uint8)[: len(variable.values)] = np.frombuffer(variable.values, np.uint8)
                self.memory.append(words)
                self.symbols[variable.name] = words.__array_interface__["data"][0]
        self.shared_bytes = -(-max(self.shared_bytes, used) // 16) * 16
        self.local_bytes = -(-self.local_bytes // 16) * 16
        assert kernel is not None

    def new(self, value: np.ndarray) -> int:
        """The number of a new register that begins with a value."""
        self.initial.append(value)
        return len(self.initial) - 1


class Code:
    """A function while it is translated: what builders ask for registers and operands."""

    def __init__(self, program: Program, function: Function) -> None:
        self.program, self.function = program, function
        self.registers = {name: program.new(POISON[bits]) for name, bits in function.registers.items()}
        self.constants: dict[Any, int] = {}
        variables = [*function.parameters, *function.results, *[v for v in function.variables if v.space == "param"]]
        self.addressed = {v.name: 8 * i for i, v in enumerate(function.parameters)}  # each has 8 bytes of the machine's
        self.parameters = {v.name: program.new(POISON[max(16, v.size * 8)]) for v in variables}

    def bits(self, operand: str) -> int:
        """How many bits a register has; 1: a predicate."""
        return self.function.registers[operand]

    def slot(self, operand: str, kind: str) -> int:
        """The number of the register that holds an operand: a register, a number, a special register, a variable's address."""
        found = self.registers.get(operand)
        if found is not None:
            return found
        key = (operand, TYPES[kind])
        if key not in self.constants:
            self.constants[key] = self._constant(operand, kind)
        return self.constants[key]

    def _constant(self, operand: str, kind: str) -> int:
        program = self.program
        if operand[0] == "%":
            if operand not in program.specials:
                program.specials[operand] = program.new(POISON[32])
            return program.specials[operand]
        if operand in program.symbols:
            return program.new(np.array([[program.symbols[operand]]], U32 if TYPES[kind].itemsize == 4 else U64))
        if operand in self.addressed:
            return program.new(np.array([[self.addressed[operand]]], U64))
        if operand == "WARP_SZ":
            return program.new(np.array([[32]], TYPES[kind]))
        value = number(operand, kind)
        if value is None:
            raise NameError(f"{operand} is neither a register nor a number")
        return program.new(value)

    def slots(self, operand: Any, kind: str) -> list[int]:
        """Of a vector's elements, or of one register."""
        return [self.slot(x, kind) for x in (operand if isinstance(operand, list) else [operand])]

    def predicate(self, operand: str) -> tuple[int, bool]:
        """(the register, whether it is negated) of a predicate that may have a `!` before it."""
        return self.slot(operand.lstrip("!"), "pred"), operand[0] == "!"

    def writer(self, operand: str) -> Any:
        """The function write(machine, value) of a destination: values narrower than the register are filled up."""
        if operand == "_":
            return lambda machine, value: None
        slot, bits = self.registers[operand], self.bits(operand)

        def write(machine: Any, value: np.ndarray) -> None:
            if value.dtype.itemsize * 8 < bits:
                value = filled(value, bits)
            machine.put(slot, value)

        return write

    def address(self, operand: Address) -> Any:
        """The function of a machine that gives an address as uint64 of the lanes (or of all, in one element)."""
        kind = "u64"
        if operand.base in self.registers:
            kind = "u32" if self.bits(operand.base) == 32 else "u64"
        slot, offset = self.slot(operand.base, kind), np.array([[operand.offset & (2**64 - 1)]], U64)
        if not operand.offset:
            return lambda machine: typed(machine.R[slot], U64)
        if kind == "u32":
            narrow = offset.astype(U32)
            return lambda machine: (typed(machine.R[slot], U32) + narrow).astype(U64)
        return lambda machine: typed(machine.R[slot], U64) + offset

    # Control flow

    def translated(self) -> list[Block]:
        code = self.function.code
        targets = {i.operands[0] for i in code if isinstance(i, Instruction) and i.parts[0] == "bra"}
        blocks, labels = [Block()], {}
        for item in code:
            if isinstance(item, str):
                if item in targets:
                    if blocks[-1].runs or blocks[-1].end != "next":
                        blocks.append(Block())
                    labels[item] = len(blocks) - 1
            elif self._ends(item, blocks[-1]):
                blocks.append(Block())
            else:
                self._add(item, blocks[-1])
        for block in blocks:
            if block.end == "branch":
                block.target = labels[block.target]
        if blocks[-1].end == "next":
            blocks[-1].end = "return"
        return blocks

    def _add(self, item: Instruction, block: Block) -> None:
        try:
            run = builder_of(item.opcode)(item, self)
        except Exception as error:
            error.add_note(f"{self.program.name}, line {item.line} of its PTX: {item}  ({item.place})")
            raise
        if run is nothing:
            return
        block.gathers |= item.parts[0] in WHOLE or item.opcode.startswith("bar.warp")
        block.runs.append(run if item.guard is None else guarded(run, self.registers[item.guard], item.unless))
        block.instructions.append(item)

    def _ends(self, item: Instruction, block: Block) -> bool:
        """Whether control may go elsewhere after an instruction; the block is told how."""
        first, second = (*item.parts, "")[:2]
        if first == "bra":
            block.end, block.target = "branch", item.operands[0]
        elif first in ("ret", "exit"):
            block.end = "return"
        elif (
            first in ("bar", "barrier") and second in ("sync", "cta", "arrive") and "warp" not in item.parts
        ) and "red" not in item.parts:
            block.end = "arrive" if "arrive" in item.parts else "barrier"
            block.slots = tuple(self.slot(o, "u32") for o in item.operands)
        elif first == "call":
            *results, name, given = item.operands if len(item.operands) > 1 else [item.operands[0], []]
            block.end, block.target = "call", name
            block.slots = (results[0] if results else [], given)
        else:
            return False
        block.last = item
        if item.guard is not None:
            block.guard, block.unless = self.registers[item.guard], item.unless
        return True


def guarded(run: Any, slot: int, unless: bool) -> Any:
    """A predicated instruction: it runs with the mask of the lanes where its predicate holds."""

    def under(machine: Any) -> None:
        holds = machine.R[slot]
        if unless:
            holds = ~holds
        before = machine.mask
        if holds.size == 1:
            if holds[0, 0]:
                run(machine)
            return
        mask = machine.full(holds) if before is None else holds & before
        count = np.count_nonzero(mask)
        if count:
            machine.mask = None if count == machine.lanes else mask
            try:
                run(machine)
            finally:
                machine.mask = before

    return under
