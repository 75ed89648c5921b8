"""Launches compiled kernels through CuPy's driver calls: a fraction of a microsecond, where Triton's own launch takes 7-11.

What a launch depends on is known once per (kernel, argument types, device, which arguments are multiples of 16); it is kept
as a `Loaded` kernel, whose arguments are packed into one buffer.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from tenfold.cuda.compilation import compile_for
from tenfold.cuda.grids import empty, refusal, too_large
from tenfold.cuda.kernels.argument_types import Word, described
from tenfold.cuda.kernels.generation import BLOCK
from tenfold.cuda.recordings import RECORDINGS, Go, Origin, Step, started
from tenfold.cuda.shared_memory import PLAIN_BYTES, fitting

MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
# How an argument fills a slot of 8 bytes.
FORMATS = {"i32": "i4x", "i64": "q", "fp32": "f4x", "fp64": "d"}
WIDE = 2**31
_loaded: dict[tuple[Any, ...], Loaded] = {}
_started: dict[tuple[Any, ...], Loaded] = {}  # by what `start` sees of its arguments
_capabilities: dict[int, int] = {}


class Loaded:
    """A compiled kernel on a device, with room for its arguments in each thread."""

    def __init__(self, cupy: Any, compiled: Any, signature: tuple[str, ...], index: int = 0) -> None:
        module = cupy.cuda.Module()
        module.load(compiled.asm["cubin"])
        self.module = module  # keeps the code loaded
        self.name = str(compiled.metadata.name)
        self.function = module.get_function(self.name)
        self.pointer = self.function.ptr
        self.shared = int(compiled.metadata.shared)
        self.threads = 32 * int(compiled.metadata.num_warps)
        if self.shared > PLAIN_BYTES:
            cupy.cuda.driver.funcSetAttribute(self.pointer, MAX_DYNAMIC_SHARED, self.shared)
        # After the kernel's own arguments Triton passes two scratch pointers, which these kernels leave alone.
        self.packing = struct.Struct("<" + "".join(FORMATS.get(kind, "Q") for kind in signature) + "QQ")
        self.slots = len(signature) + 2
        self.addresses = [i for i, kind in enumerate(signature) if kind[0] == "*"]
        self.local = threading.local()
        self.index = index
        self.bind = cupy.cuda.runtime.setDevice
        self.start, self.stream = cupy.cuda.driver.launchKernel, cupy.cuda.get_current_stream

    def run(self, values: Sequence[Any], grid: tuple[int, ...]) -> None:
        """Launch on the current stream of the current device, which is this kernel's."""
        if RECORDINGS:
            started(Started(self, values, grid))
        buffer, table = self.buffers()
        self.packing.pack_into(buffer, 0, *values, 0, 0)
        x, y, z = (*grid, 1, 1)[:3]
        try:
            self.start(self.pointer, x, y, z, self.threads, 1, 1, self.shared, self.stream().ptr, table, 0)
        except Exception:
            if too_large(grid) or empty(grid):  # looked at after the driver has refused: other launches need not wait for it
                raise refusal(self.name, grid) from None
            raise

    def buffers(self) -> tuple[Any, int]:
        """(this thread's buffer of arguments, the address of the table of their addresses)."""
        try:
            return self.local.buffers
        except AttributeError:
            # The driver's launch, unlike the runtime's calls, gives a new thread no context: this does.
            self.bind(self.index)
            values = np.zeros(self.slots, np.uint64)
            table = values.ctypes.data + 8 * np.arange(self.slots, dtype=np.uint64)
            self.local.keep = table
            self.local.buffers = values.view(np.uint8).data, int(table.ctypes.data)
            return self.local.buffers


class Started(Step):
    """A launch that is recorded (playing.py)."""

    def __init__(self, loaded: Loaded, values: Sequence[Any], grid: tuple[int, ...]) -> None:
        self.loaded, self.values, self.grid, self.index = loaded, tuple(values), (*grid, 1, 1)[:3], loaded.index
        self.pointers = [values[i] for i in loaded.addresses]

    def placed(self, origin: Origin) -> Go:
        loaded, (x, y, z) = self.loaded, self.grid
        last = max(loaded.addresses, default=-1) + 1
        places = [origin(v) if i in loaded.addresses else (0, v) for i, v in enumerate(self.values[:last])]
        rest = (*self.values[last:], 0, 0)
        pack, buffers, launch = loaded.packing.pack_into, loaded.buffers, loaded.start
        function, threads, shared = loaded.pointer, loaded.threads, loaded.shared

        def go(bases: list[int], stream: int) -> bool:
            buffer, table = buffers()
            pack(buffer, 0, *[bases[base] + offset if base else offset for base, offset in places], *rest)
            launch(function, x, y, z, threads, 1, 1, shared, stream, table, 0)
            return True

        return go


def launch(cupy: Any, kernel: Any, signature: tuple[str, ...], arguments: Sequence[Any], count: int, index: int) -> Loaded:
    """Run a kernel over `count` elements on the device's current stream."""
    return launch_grid(cupy, kernel, signature, arguments, (-(-count // BLOCK),), index)


def launch_grid(
    cupy: Any, kernel: Any, signature: tuple[str, ...], arguments: Sequence[Any], grid: tuple[int, ...], index: int
) -> Loaded:
    """Run a kernel's programs on the device's current stream."""
    values = [x.data.ptr if kind[0] == "*" else x for kind, x in zip(signature, arguments)]
    divisible = divisible_by_16(signature, values, "*" if getattr(kernel, "by_address", False) else "*i")
    return _run(cupy, loaded(cupy, kernel, signature, index, divisible), values, grid)


def _run(cupy: Any, found: Loaded, values: Sequence[Any], grid: tuple[int, ...]) -> Loaded:
    if cupy.cuda.runtime.getDevice() == found.index:
        found.run(values, grid)
        return found
    with cupy.cuda.Device(found.index):
        found.run(values, grid)
    return found


def loaded(cupy: Any, kernel: Any, signature: tuple[str, ...], index: int, divisible: tuple[int, ...]) -> Loaded:
    """The kernel for arguments of these types, of which these are multiples of 16; compiled and loaded with its first use."""
    key = (kernel, signature, index, divisible)
    found = _loaded.get(key)
    if found is None:
        if cupy.cuda.runtime.getDevice() == index:
            found = _loaded[key] = _load(cupy, *key)
        else:
            with cupy.cuda.Device(index):
                found = _loaded[key] = _load(cupy, *key)
    return found


class Site:
    """A launch of which all is known but addresses and numbers: what is looked up is a dictionary of two integers."""

    __slots__ = ("addresses", "cupy", "grid", "kernel", "known", "multiples", "signature", "tail")

    def __init__(self, cupy: Any, kernel: Any, signature: tuple[str, ...], tail: tuple[int, ...], count: int) -> None:
        self.cupy, self.kernel, self.signature, self.tail = cupy, kernel, signature, tail
        self.grid = (-(-count // BLOCK),)
        first = len(signature) - len(tail)
        self.addresses = [kind[0] == "*" for kind in signature[:first]]
        self.multiples = tuple([first + i for i, x in enumerate(tail) if x % 16 == 0])
        self.known: dict[tuple[int, int], Loaded] = {}

    def launch(self, head: Sequence[Any], index: int) -> Loaded:
        """Run it for the arrays and numbers that come before the tail."""
        values: list[Any] = []
        aligned, bit = 0, 1
        for x, address in zip(head, self.addresses):
            if address:
                x = x.data.ptr
                if not x & 15:
                    aligned |= bit
            values.append(x)
            bit <<= 1
        found = self.known.get((aligned, index))
        if found is None:
            divisible = (*[i for i in range(len(values)) if aligned >> i & 1], *self.multiples)
            found = self.known[aligned, index] = loaded(self.cupy, self.kernel, self.signature, index, divisible)
        values += self.tail
        return _run(self.cupy, found, values, self.grid)


def start(cupy: Any, kernel: Any, grid: tuple[int, ...], arguments: Sequence[Any], index: int) -> Loaded:
    """Run a kernel by hand: its arguments' types are those of the values (handwritten.py)."""
    values: list[Any] = []
    types: list[Any] = []
    aligned = wide = real = 0  # a bit for each argument
    bit, numbers = 1, not kernel.by_address
    for x in arguments:
        kind = type(x)
        if kind is int:
            if not -WIDE < x < WIDE:
                wide |= bit
            if numbers and not x & 15:
                aligned |= bit
            values.append(x)
        elif kind is float:
            real |= bit
            values.append(x)
        elif kind is Word:
            values.append(x)
        else:
            pointer = x.data.ptr
            if not pointer & 15:
                aligned |= bit
            types.append(x.dtype)
            values.append(pointer)
        bit <<= 1
    key = (kernel, index, aligned, wide, real, *types)
    found = _started.get(key)
    if found is None:
        divisible = tuple([i for i in range(len(values)) if aligned >> i & 1])
        found = _started[key] = loaded(cupy, kernel, described(kernel, arguments), index, divisible)
    return _run(cupy, found, values, grid)


def divisible_by_16(signature: tuple[str, ...], values: Sequence[Any], kinds: str = "*i") -> tuple[int, ...]:
    """The positions of the addresses and integers that are multiples of 16, by the first letters of their types.

    >>> divisible_by_16(("*fp32", "*fp32", "fp32", "i32"), (512, 516, 16.0, 64))
    (0, 3)
    """
    return tuple([i for i, (kind, x) in enumerate(zip(signature, values)) if kind[0] in kinds and x % 16 == 0])


def _load(cupy: Any, kernel: Any, signature: tuple[str, ...], index: int, divisible: tuple[int, ...]) -> Loaded:
    capability = _capabilities.get(index)
    if capability is None:
        capability = _capabilities[index] = int(cupy.cuda.Device(index).compute_capability)
    found = fitting(cupy, kernel, index, lambda form: compile_for(capability, form, signature, divisible))
    return Loaded(cupy, found, signature, index)
