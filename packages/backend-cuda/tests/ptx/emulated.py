"""The device "cuda" without a GPU, in compiled code: kernels are compiled as for a GPU, and their PTX is run on NumPy arrays.

`pytest packages/backend-cuda/tests --compiled` runs the tests so, for 9.0 (`--compiled 80`: for 8.0). Triton's interpreter shows
what a kernel's Python means; this shows what the compiler made of it: what libdevice computes, conversions out of range,
integers that wrap around, lanes that a masked load leaves undefined, exchanges in shared memory and between warps, loads of
several elements where an address is not aligned so, which the hardware refuses.

What it does not show: time, the order in which memory sees what programs do (they run in some order here, atomic operations
one after the other), races, and what ptxas does after PTX. The hardware's approximations (ex2, lg2, rcp, sqrt, sin) are computed
exactly here, where a GPU is off by a unit or two.
"""

from __future__ import annotations

import struct
import weakref
from math import prod
from typing import Any

import numpy as np

from ptx.compiling import ptx_for
from ptx.machine import Machine
from ptx.spans import MemoryFault, Spans
from ptx.translation import Program
from tenfold.cpu.backend import address, owner_of
from tenfold.cuda import interpreter, runtime
from tenfold.cuda.grids import MOST as MOST_BLOCKS
from tenfold.cuda.kernels.generation import BLOCK
from tenfold.cuda.launch import FORMATS, divisible_by_16

MOST_LANES = 1 << 15  # that run at once
MOST_BYTES = 1 << 28  # of registers, if all of them differ from lane to lane
SHARED = {80: 163 << 10, 90: 227 << 10}  # bytes of shared memory that a block may ask for, by compute capability


class Loaded:
    """A compiled kernel with its program: as launch.Loaded, of which the launches are run here."""

    def __init__(self, text: str, metadata: Any, signature: tuple[str, ...]) -> None:
        self.shared, self.threads = int(metadata.shared), 32 * int(metadata.num_warps)
        self.program = Program(text, self.shared)
        self.packing = struct.Struct("<" + "".join(FORMATS.get(kind, "Q") for kind in signature) + "QQ")
        self.parameters = []
        code = self.program.codes[self.program.name]
        for i, variable in enumerate(self.program.module.kernel.parameters):
            self.parameters.append((code.parameters[variable.name], 8 * i, np.dtype(f"u{variable.size}")))
        if len(self.parameters) != len(signature) + 2:
            raise RuntimeError(f"{self.program.name} has {len(self.parameters)} parameters, not {len(signature)} and 2")

    def run(self, values: Any, grid: tuple[int, ...], memory: Spans) -> None:
        bits, program = self.packing.pack(*values, 0, 0), self.program
        for words in program.memory:
            start = address(words)
            memory.add(start, start + words.nbytes)
        grid = (*grid, 1, 1)[:3]
        if not all(0 < n <= most for n, most in zip(grid, MOST_BLOCKS)):
            raise ValueError(f"{program.name}: a grid of {grid} blocks, of which there is one at least and {MOST_BLOCKS} at most")
        each = MOST_BYTES // (8 * len(program.initial) * self.threads)
        each = max(1, min(MOST_LANES // self.threads, each))
        for first in range(0, prod(grid), each):
            blocks = np.arange(first, min(first + each, prod(grid)))
            machine = Machine(program, blocks, grid, self.threads, memory)
            machine.parameters = np.frombuffer(bits, np.uint8)
            for slot, offset, dtype in self.parameters:
                machine.R[slot] = np.frombuffer(bits, dtype, 1, offset).reshape(1, 1)
            machine.run()


class CompiledRuntime(interpreter.InterpretedRuntime):
    """Launches as launch.py makes them, for a GPU of a compute capability."""

    def __init__(self, capability: int = 90) -> None:
        self.capability = capability
        self.loaded: dict[Any, Loaded] = {}
        self.listed: dict[tuple[int, int], Any] = {}  # arrays whose addresses were asked for: tables may have them
        self.launches = 0

    def pointer(self, array: Any) -> int:
        low, high = reached(array)
        if len(self.listed) > 4096:
            self.listed = {span: owner for span, owner in self.listed.items() if owner() is not None}
        self.listed[low, high] = weakref.ref(owner_of(array))
        return address(array)

    def launch_grid(self, kernel: Any, signature: tuple[str, ...], arguments: Any, grid: tuple[int, ...], index: int) -> None:
        self.go(kernel, signature, arguments, grid, "*" if getattr(kernel, "by_address", False) else "*i")

    def launch(self, kernel: Any, signature: tuple[str, ...], arguments: Any, count: int, index: int) -> None:
        self.go(kernel, signature, arguments, (-(-count // BLOCK),), "*i")

    def site(self, kernel: Any, signature: tuple[str, ...], tail: tuple[int, ...], count: int) -> Any:
        """As launch.Site: of what comes before the tail only addresses count as multiples of 16."""

        def launch(head: Any, index: int) -> None:
            first = len(head)
            known = tuple(first + i for i, x in enumerate(tail) if x % 16 == 0)
            self.go(kernel, signature, (*head, *tail), (-(-count // BLOCK),), "*", known)

        return launch

    def go(self, kernel: Any, signature: tuple[str, ...], arguments: Any, grid: Any, kinds: str, more: Any = ()) -> None:
        values = [address(x) if kind[0] == "*" else x for kind, x in zip(signature, arguments)]
        divisible = (*divisible_by_16(signature, values, kinds), *more)
        loaded = self.load(kernel, signature, divisible)
        memory = Spans()
        for kind, x in zip(signature, arguments):
            if kind[0] == "*":
                memory.add(*reached(x))
        for (low, high), owner in self.listed.items():
            if owner() is not None:
                memory.add(low, high)
        self.launches += 1
        with interpreter._whole_launch():
            loaded.run(values, grid, memory)

    def load(self, kernel: Any, signature: tuple[str, ...], divisible: tuple[int, ...]) -> Loaded:
        key = (kernel, signature, divisible)
        found = self.loaded.get(key)
        if found is None:
            found = Loaded(*ptx_for(self.capability, kernel, signature, divisible), signature)
            if found.shared > SHARED[self.capability]:
                raise MemoryFault(f"{kernel.name}: {found.shared} bytes of shared memory, more than a block may ask for")
            self.loaded[key] = found
        return found


def reached(array: Any) -> tuple[int, int]:
    """(the first address of an array's elements, the one behind the last)."""
    if not array.size:
        return address(array), address(array)
    low = address(array) + sum((n - 1) * s for n, s in zip(array.shape, array.strides) if s < 0)
    return low, low + sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides)) + array.itemsize


def use(capability: int = 90) -> CompiledRuntime:
    """Run the device "cuda" so from now on."""
    now = CompiledRuntime(capability)
    runtime.replace(now)
    return now
