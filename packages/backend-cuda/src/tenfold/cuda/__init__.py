"""The device "cuda": GPUs, streams, memory. PyTorch's `torch.cuda`; nothing is imported from CuPy or Triton until it is used."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.cuda import graphs as _graphs, lifetimes as _lifetimes
from tenfold.cuda.allocators import (
    CUDAPluggableAllocator,
    caching_allocator_alloc,
    caching_allocator_delete,
    caching_allocator_disabled,
    caching_allocator_enable,
    change_current_allocator,
)
from tenfold.cuda.cudart import CudaError, check_error, cudaError as cudaStatus
from tenfold.cuda.devices import (
    current_device,
    device,
    device_count,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_available,
    is_bf16_supported,
    set_device,
    synchronize,
    unavailable_reason,
)
from tenfold.cuda.events import Event
from tenfold.cuda.graphed import make_graphed_callables
from tenfold.cuda.graphs import CUDAGraph, graph
from tenfold.cuda.host_memory import (
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    reset_accumulated_host_memory_stats,
    reset_peak_host_memory_stats,
)
from tenfold.cuda.memory import (
    empty_cache,
    empty_host_cache,
    get_allocator_backend,
    get_per_process_memory_fraction,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from tenfold.cuda.monitoring import (
    clock_rate,
    device_memory_used,
    list_gpu_processes,
    memory_usage,
    power_draw,
    temperature,
    utilization,
)
from tenfold.cuda.pools import MemPool, graph_pool_handle, use_mem_pool
from tenfold.cuda.seeding import (
    default_generator as _default_generator,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
)
from tenfold.cuda.sleeping import _sleep as _sleep
from tenfold.cuda.state import (
    can_device_access_peer,
    current_blas_handle,
    device_of,
    get_arch_list,
    get_gencode_flags,
    get_rng_state,
    get_rng_state_all,
    init,
    ipc_collect,
    is_current_stream_capturing,
    is_initialized,
    is_tf32_supported,
    set_rng_state,
    set_rng_state_all,
)
from tenfold.cuda.streams import (
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    get_stream_from_external,
    set_stream,
    stream,
)
from tenfold.cuda.waits import get_sync_debug_mode, set_sync_debug_mode
from tenfold.dispatch.devices import AcceleratorError, OutOfMemoryError

__all__ = [
    "AcceleratorError", "CUDAGraph", "CUDAPluggableAllocator", "CudaError", "DeferredCudaCallError", "Event",
    "ExternalStream", "MemPool", "OutOfMemoryError", "Stream", "StreamContext", "caching_allocator_alloc",
    "caching_allocator_delete", "caching_allocator_disabled", "caching_allocator_enable", "can_device_access_peer",
    "change_current_allocator", "check_error", "clock_rate", "cudaStatus", "cudart", "current_blas_handle",
    "current_device", "current_stream", "default_stream", "device", "device_count", "device_memory_used", "device_of",
    "empty_cache", "empty_host_cache", "get_allocator_backend", "get_arch_list", "get_device_capability",
    "get_device_name", "get_device_properties", "get_gencode_flags", "get_per_process_memory_fraction", "get_rng_state",
    "get_rng_state_all", "get_stream_from_external", "get_sync_debug_mode", "graph", "graph_pool_handle", "has_half",
    "has_magma", "host_memory_stats", "host_memory_stats_as_nested_dict", "init", "initial_seed", "ipc_collect",
    "is_available", "is_bf16_supported", "is_current_stream_capturing", "is_initialized", "is_tf32_supported",
    "list_gpu_processes", "make_graphed_callables", "manual_seed", "manual_seed_all", "max_memory_allocated",
    "max_memory_cached", "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_cached", "memory_reserved",
    "memory_snapshot", "memory_stats", "memory_stats_as_nested_dict", "memory_summary", "memory_usage", "power_draw",
    "reset_accumulated_host_memory_stats", "reset_accumulated_memory_stats", "reset_max_memory_allocated",
    "reset_max_memory_cached", "reset_peak_host_memory_stats", "reset_peak_memory_stats", "seed", "seed_all",
    "set_device", "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all", "set_stream",
    "set_sync_debug_mode", "stream", "synchronize", "temperature", "unavailable_reason", "use_mem_pool", "utilization",
]  # fmt: skip


_lazy_init = init
setattr(_graphs, "make_graphed_callables", make_graphed_callables)  # noqa: B010 - which is made of that module's


def _is_compiled() -> bool:
    return True


def cudart() -> Any:
    """Functions of the CUDA runtime; RuntimeError where there is no device."""
    init()
    return importlib.import_module("tenfold.cuda.cudart")


class DeferredCudaCallError(Exception):
    """PyTorch's error of a call that waited for the device to be initialized: nothing waits here, and nothing raises it."""


has_half, has_magma = True, False  # float16 can be used; MAGMA's linear algebra is not here


def __getattr__(name: str) -> Any:
    if name in ("_utils", "comm", "nvtx", "profiler", "random"):
        return importlib.import_module(f"tenfold.cuda.{name}")
    if name == "amp":
        import tenfold.cuda.amp  # of the package tenfold-autograd

        return tenfold.cuda.amp
    if name == "default_generators":
        return tuple(map(_default_generator, range(device_count())))
    if name.endswith("Tensor"):
        from tenfold.cuda.typed_tensors import TYPED  # late: the classes are made when asked for

        if name in TYPED:
            return TYPED[name]
    if name.endswith("Storage"):
        from tenfold.checkpoint.storage_classes import classes_of  # of a package that need not be here

        if name in classes_of("cuda"):
            return classes_of("cuda")[name]
    raise AttributeError(f"module 'tenfold.cuda' has no attribute {name!r}")
