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

from tenfold.cuda.compilation import BLOCK, compile_for
from tenfold.cuda.kernels.generation import Generated

# Above this many bytes of shared memory a kernel must ask for it (CUDA programming guide, "Shared Memory").
PLAIN_SHARED_BYTES = 48 * 1024
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
# How an argument fills a slot of 8 bytes.
FORMATS = {"i32": "i4x", "i64": "q", "fp32": "f4x", "fp64": "d"}
_loaded: dict[tuple[Any, ...], Loaded] = {}
_capabilities: dict[int, int] = {}


class Loaded:
    """A compiled kernel on a device, with room for its arguments in each thread."""

    def __init__(self, cupy: Any, compiled: Any, signature: tuple[str, ...]) -> None:
        module = cupy.cuda.Module()
        module.load(compiled.asm["cubin"])
        self.module = module  # keeps the code loaded
        self.function = module.get_function(compiled.metadata.name)
        self.shared = int(compiled.metadata.shared)
        self.threads = 32 * int(compiled.metadata.num_warps)
        if self.shared > PLAIN_SHARED_BYTES:
            cupy.cuda.driver.funcSetAttribute(self.function.ptr, MAX_DYNAMIC_SHARED, self.shared)
        # After the kernel's own arguments Triton passes two scratch pointers, which these kernels leave alone.
        self.packing = struct.Struct("<" + "".join(FORMATS.get(kind, "Q") for kind in signature) + "QQ")
        self.slots = len(signature) + 2
        self.local = threading.local()

    def buffers(self) -> tuple[Any, int]:
        """(this thread's buffer of arguments, the address of the table of their addresses)."""
        try:
            return self.local.buffers
        except AttributeError:
            values = np.zeros(self.slots, np.uint64)
            table = values.ctypes.data + 8 * np.arange(self.slots, dtype=np.uint64)
            self.local.keep = table
            self.local.buffers = values.view(np.uint8).data, int(table.ctypes.data)
            return self.local.buffers


def launch(cupy: Any, kernel: Generated, signature: tuple[str, ...], arguments: Sequence[Any], count: int, index: int) -> None:
    """Run a kernel over `count` elements on the device's current stream."""
    values = [x.data.ptr if kind[0] == "*" else x for kind, x in zip(signature, arguments)]
    divisible = divisible_by_16(signature, values)
    key = (kernel, signature, index, divisible)
    found = _loaded.get(key)
    if found is None:
        found = _loaded[key] = _load(cupy, *key)
    buffer, table = found.buffers()
    found.packing.pack_into(buffer, 0, *values, 0, 0)
    blocks = -(-count // BLOCK)
    if cupy.cuda.runtime.getDevice() == index:
        _start(cupy, found, blocks, table)
        return
    with cupy.cuda.Device(index):
        _start(cupy, found, blocks, table)


def _start(cupy: Any, found: Loaded, blocks: int, table: int) -> None:
    stream = cupy.cuda.get_current_stream().ptr
    cupy.cuda.driver.launchKernel(found.function.ptr, blocks, 1, 1, found.threads, 1, 1, found.shared, stream, table, 0)


def divisible_by_16(signature: tuple[str, ...], values: Sequence[Any]) -> tuple[int, ...]:
    """The positions of the addresses and integers that are multiples of 16.

    >>> divisible_by_16(("*fp32", "*fp32", "fp32", "i32"), (512, 516, 16.0, 64))
    (0, 3)
    """
    return tuple([i for i, (kind, x) in enumerate(zip(signature, values)) if kind[0] in "*i" and x % 16 == 0])


def _load(cupy: Any, kernel: Generated, signature: tuple[str, ...], index: int, divisible: tuple[int, ...]) -> Loaded:
    capability = _capabilities.get(index)
    if capability is None:
        capability = _capabilities[index] = int(cupy.cuda.Device(index).compute_capability)
    compiled = compile_for(capability, kernel, signature, divisible)
    with cupy.cuda.Device(index):
        return Loaded(cupy, compiled, signature)
