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
from tenfold.cuda.kernels.generation import BLOCK

# Above this many bytes of shared memory a kernel must ask for it (CUDA programming guide, "Shared Memory").
PLAIN_SHARED_BYTES = 48 * 1024
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
# How an argument fills a slot of 8 bytes.
FORMATS = {"i32": "i4x", "i64": "q", "fp32": "f4x", "fp64": "d"}
_loaded: dict[tuple[Any, ...], Loaded] = {}
_capabilities: dict[int, int] = {}


class Loaded:
    """A compiled kernel on a device, with room for its arguments in each thread."""

    def __init__(self, cupy: Any, compiled: Any, signature: tuple[str, ...], index: int = 0) -> None:
        module = cupy.cuda.Module()
        module.load(compiled.asm["cubin"])
        self.module = module  # keeps the code loaded
        self.function = module.get_function(compiled.metadata.name)
        self.pointer = self.function.ptr
        self.shared = int(compiled.metadata.shared)
        self.threads = 32 * int(compiled.metadata.num_warps)
        if self.shared > PLAIN_SHARED_BYTES:
            cupy.cuda.driver.funcSetAttribute(self.pointer, MAX_DYNAMIC_SHARED, self.shared)
        # After the kernel's own arguments Triton passes two scratch pointers, which these kernels leave alone.
        self.packing = struct.Struct("<" + "".join(FORMATS.get(kind, "Q") for kind in signature) + "QQ")
        self.slots = len(signature) + 2
        self.local = threading.local()
        self.index = index
        self.bind = cupy.cuda.runtime.setDevice

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


def launch(cupy: Any, kernel: Any, signature: tuple[str, ...], arguments: Sequence[Any], count: int, index: int) -> Loaded:
    """Run a kernel over `count` elements on the device's current stream."""
    return launch_grid(cupy, kernel, signature, arguments, (-(-count // BLOCK),), index)


def launch_grid(
    cupy: Any, kernel: Any, signature: tuple[str, ...], arguments: Sequence[Any], grid: tuple[int, ...], index: int
) -> Loaded:
    """Run a kernel's programs on the device's current stream."""
    values = [x.data.ptr if kind[0] == "*" else x for kind, x in zip(signature, arguments)]
    divisible = divisible_by_16(signature, values, "*" if getattr(kernel, "by_address", False) else "*i")
    key = (kernel, signature, index, divisible)
    if cupy.cuda.runtime.getDevice() == index:
        return _start(cupy, key, values, grid)
    with cupy.cuda.Device(index):
        return _start(cupy, key, values, grid)


def _start(cupy: Any, key: tuple[Any, ...], values: Sequence[Any], grid: tuple[int, ...]) -> Loaded:
    found = _loaded.get(key)
    if found is None:
        found = _loaded[key] = _load(cupy, *key)
    buffer, table = found.buffers()
    found.packing.pack_into(buffer, 0, *values, 0, 0)
    stream = cupy.cuda.get_current_stream().ptr
    cupy.cuda.driver.launchKernel(
        found.pointer, *grid, *(1,) * (3 - len(grid)), found.threads, 1, 1, found.shared, stream, table, 0
    )
    return found


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
    return Loaded(cupy, compile_for(capability, kernel, signature, divisible), signature, index)
