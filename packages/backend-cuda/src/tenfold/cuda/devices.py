"""GPUs as objects of inquiry: how many, which is current, their names and properties (PyTorch's `torch.cuda`)."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tenfold.cuda import availability, runtime
from tenfold.dispatch.devices import device as device_type


def is_available() -> bool:
    """Whether tensors can live on a CUDA device here. `unavailable_reason()` says why not.

    >>> isinstance(is_available(), bool)
    True
    """
    return runtime.is_replaced() or availability.probe()[0] > 0


def unavailable_reason() -> str:
    """What is missing, and what to do about it; "" when the device can be used."""
    return "" if is_available() else availability.probe()[1]


def device_count() -> int:
    """The number of GPUs that can be used; 0 where there is none.

    >>> device_count() >= 0
    True
    """
    return int(runtime.current().device_count()) if is_available() else 0


def index_of(device: Any) -> int:
    """The number of a GPU given as None (the current one), a number, a string or a device.

    Raises: ValueError for a device of another type, AssertionError for a number that no GPU has, RuntimeError without a GPU.
    """
    if device is None:
        return current_device()
    if not isinstance(device, int):
        found: Any = device_type(device)
        if found.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {found}")
        device = current_device() if found.index is None else found.index
    now = runtime.current()
    if not 0 <= device < now.device_count():
        raise AssertionError(f"Invalid device id: {device}; there are {now.device_count()} CUDA device(s)")
    return int(device)


def in_use() -> list[int]:
    """The GPUs that this process has a context on: to ask another one for anything would make one, which takes its memory."""
    state = ctypes.CDLL(availability.DRIVER).cuDevicePrimaryCtxGetState
    flags, active = ctypes.c_uint(), ctypes.c_int()
    asked = [(index, state(index, ctypes.byref(flags), ctypes.byref(active)), active.value) for index in range(device_count())]
    return [index for index, failed, has in asked if has and not failed]


def current_device() -> int:
    """The number of the GPU on which new tensors are made."""
    return int(runtime.current().current_index())


def set_device(device: Any) -> None:
    """Make a GPU the current one; a negative number leaves everything as it is."""
    if isinstance(device, int) and device < 0:
        return
    runtime.current().set_current(index_of(device))


@contextlib.contextmanager
def device(device: Any) -> Iterator[None]:
    """Run a block with another current GPU."""
    before = current_device()
    set_device(device)
    try:
        yield
    finally:
        runtime.current().set_current(before)


def synchronize(device: Any = None) -> None:
    """Wait until a GPU has done all work given to it."""
    runtime.current().synchronize(index_of(device))


@dataclass(frozen=True)
class DeviceProperties:
    """What is known about a GPU: PyTorch's names, sizes in bytes, clocks in kHz."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    max_threads_per_multi_processor: int
    warp_size: int
    L2_cache_size: int
    is_integrated: bool
    is_multi_gpu_board: bool
    max_threads_per_block: int = 1024
    regs_per_multiprocessor: int = 0
    shared_memory_per_block: int = 0
    shared_memory_per_block_optin: int = 0
    shared_memory_per_multiprocessor: int = 0
    memory_bus_width: int = 0  # bits
    pci_bus_id: int = 0
    pci_device_id: int = 0
    pci_domain_id: int = 0
    clock_rate: int = 0
    memory_clock_rate: int = 0
    uuid: Any = None
    gcnArchName: str = ""  # an AMD GPU's


def _interpreted() -> DeviceProperties:
    return DeviceProperties("Triton interpreter", 0, 0, host_memory()[1], 1, 1, 32, 0, True, False)


def host_memory() -> tuple[int, int]:
    """(free, total) bytes of the host, where the interpreter's tensors lie: programs divide by what there is."""
    page = os.sysconf("SC_PAGE_SIZE")
    return page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES")


# What the driver's structure calls them; CuPy has those that its version of CUDA has.
_FURTHER = {
    "max_threads_per_block": "maxThreadsPerBlock", "regs_per_multiprocessor": "regsPerMultiprocessor",
    "shared_memory_per_block": "sharedMemPerBlock", "shared_memory_per_block_optin": "sharedMemPerBlockOptin",
    "shared_memory_per_multiprocessor": "sharedMemPerMultiprocessor", "memory_bus_width": "memoryBusWidth",
    "pci_bus_id": "pciBusID", "pci_device_id": "pciDeviceID", "pci_domain_id": "pciDomainID", "clock_rate": "clockRate",
    "memory_clock_rate": "memoryClockRate",
}  # fmt: skip


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Name, compute capability, memory and multiprocessors of a GPU."""
    index = index_of(device)
    if runtime.is_replaced():
        return _interpreted()
    from uuid import UUID  # late: slow to import

    found = runtime.current().module.cuda.runtime.getDeviceProperties(index)
    name, identity = found["name"], found.get("uuid")
    further: dict[str, Any] = {ours: int(found[theirs]) for ours, theirs in _FURTHER.items() if theirs in found}
    return DeviceProperties(
        name.decode() if isinstance(name, bytes) else name,
        int(found["major"]),
        int(found["minor"]),
        int(found["totalGlobalMem"]),
        int(found["multiProcessorCount"]),
        int(found["maxThreadsPerMultiProcessor"]),
        int(found["warpSize"]),
        int(found["l2CacheSize"]),
        bool(found["integrated"]),
        bool(found["isMultiGpuBoard"]),
        uuid=UUID(bytes=identity[:16]) if isinstance(identity, bytes) and len(identity) >= 16 else None,
        **further,
    )


def get_device_name(device: Any = None) -> str:
    """A GPU's name, e.g. "NVIDIA H200"."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """A GPU's compute capability, e.g. (9, 0)."""
    found = get_device_properties(device)
    return found.major, found.minor


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether bfloat16 can be used: every GPU can hold it, from compute capability 8.0 on it has units for it."""
    return including_emulation or get_device_capability() >= (8, 0)
