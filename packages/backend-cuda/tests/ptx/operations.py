"""What an instruction's name is bound to: builders, which make of an instruction a function that runs it.

    @operation("add.s32", "add.u32")
    def add(instruction, code):
        kind = instruction.parts[-1]
        to, a, b = instruction.operands
        i, j, write = code.slot(a, kind), code.slot(b, kind), code.writer(to)
        def run(machine):
            write(machine, typed(machine.R[i], U32) + typed(machine.R[j], U32))
        return run

The longest name that is the beginning of an instruction's (whole parts between dots) decides. A builder is called once for each
instruction of a kernel, `run` whenever it is executed; `run` writes the lanes of `machine.mask` only (None: all of them), which
a writer sees to. Predicated instructions come with the mask that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OPERATIONS: dict[str, Callable[[Any, Any], Callable[[Any], None]]] = {}


class Unsupported(Exception):
    """An instruction that the emulator does not know."""


def operation(*names: str) -> Callable[[Any], Any]:
    """Register a builder."""

    def register(builder: Any) -> Any:
        for name in names:
            if name in OPERATIONS:
                raise ValueError(f"{name} has two builders")
            OPERATIONS[name] = builder
        return builder

    return register


def builder_of(opcode: str) -> Any:
    parts = opcode.split(".")
    for n in range(len(parts), 0, -1):
        found = OPERATIONS.get(".".join(parts[:n]))
        if found is not None:
            return found
    raise Unsupported(f"no builder for the instruction {opcode}")


def nothing(machine: Any) -> None:
    """What has no effect on values."""


@operation("membar", "fence", "nanosleep", "griddepcontrol", "prefetch", "discard", "setmaxnreg")
def _without_effect(instruction: Any, code: Any) -> Any:
    return nothing
