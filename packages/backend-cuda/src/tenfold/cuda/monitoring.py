"""What a GPU is doing, as NVIDIA's management library tells: needs the package nvidia-ml-py (module pynvml)."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.devices import index_of


def _library(device: Any) -> tuple[Any, Any]:
    """(pynvml, its handle of a GPU): by where the GPU is plugged in, as CUDA may hide some and number them otherwise."""
    index = index_of(device)
    try:
        pynvml = importlib.import_module("pynvml")
    except ModuleNotFoundError:
        raise ModuleNotFoundError("nvidia-ml-py does not seem to be installed or it can't be imported.") from None
    pynvml.nvmlInit()
    if runtime.is_replaced():
        return pynvml, pynvml.nvmlDeviceGetHandleByIndex(index)
    return pynvml, pynvml.nvmlDeviceGetHandleByPciBusId(runtime.current().module.cuda.Device(index).pci_bus_id)


def utilization(device: Any = None) -> int:
    """Percent of the last sampling period in which a kernel ran."""
    library, handle = _library(device)
    return int(library.nvmlDeviceGetUtilizationRates(handle).gpu)


def memory_usage(device: Any = None) -> int:
    """Percent of the last sampling period in which memory was read or written."""
    library, handle = _library(device)
    return int(library.nvmlDeviceGetUtilizationRates(handle).memory)


def device_memory_used(device: Any = None) -> int:
    """Bytes of a GPU that are in use, by any process."""
    library, handle = _library(device)
    return int(library.nvmlDeviceGetMemoryInfo(handle).used)


def temperature(device: Any = None) -> int:
    """Degrees Celsius."""
    library, handle = _library(device)
    return int(library.nvmlDeviceGetTemperature(handle, 0))


def power_draw(device: Any = None) -> int:
    """Milliwatts."""
    library, handle = _library(device)
    return int(library.nvmlDeviceGetPowerUsage(handle))


def clock_rate(device: Any = None) -> int:
    """The multiprocessors' clock in megahertz."""
    library, handle = _library(device)
    return int(library.nvmlDeviceGetClockInfo(handle, 1))


def list_gpu_processes(device: Any = None) -> str:
    """The processes that use a GPU, with their memory, as text; or what to install."""
    try:
        library, handle = _library(device)
    except ModuleNotFoundError:
        return "pynvml module not found, please install nvidia-ml-py"
    found = library.nvmlDeviceGetComputeRunningProcesses(handle)
    lines = [f"process {one.pid:>10d} uses {one.usedGpuMemory / 2**20:>12.3f} MB GPU memory" for one in found]
    return "\n".join([f"GPU:{index_of(device)}", *(lines or ["no processes are running"])])
