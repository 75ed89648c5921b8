"""GPU memory as CuPy's pool has it: what tensors hold, what the pool keeps, giving back."""

from __future__ import annotations

import pickle
from typing import Any

from tenfold.cuda import exhaustion, pinned, pools, runtime, watching
from tenfold.cuda.allocators import (
    CUDAPluggableAllocator,
    caching_allocator_alloc,
    caching_allocator_delete,
    caching_allocator_disabled,
    caching_allocator_enable,
    change_current_allocator,
)
from tenfold.cuda.capturing import CAPTURES
from tenfold.cuda.devices import device_count, host_memory, in_use, index_of, is_available
from tenfold.cuda.host_memory import (
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    reset_accumulated_host_memory_stats,
    reset_peak_host_memory_stats,
)
from tenfold.cuda.kernels import recycling
from tenfold.cuda.monitoring import list_gpu_processes
from tenfold.cuda.pools import MemPool, use_mem_pool

__all__ = [
    "CUDAPluggableAllocator", "MemPool", "caching_allocator_alloc", "caching_allocator_delete",
    "caching_allocator_disabled", "caching_allocator_enable", "change_current_allocator", "empty_cache",
    "empty_host_cache", "get_allocator_backend", "get_per_process_memory_fraction", "host_memory_stats",
    "host_memory_stats_as_nested_dict", "list_gpu_processes", "max_memory_allocated", "max_memory_cached",
    "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_cached", "memory_reserved", "memory_snapshot",
    "memory_stats", "memory_stats_as_nested_dict", "memory_summary", "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
    "reset_peak_host_memory_stats", "reset_peak_memory_stats", "set_per_process_memory_fraction", "use_mem_pool",
]  # fmt: skip

_record_memory_history = watching.record


def _pool(device: Any) -> Any:
    """(the pool, a context in which the device is current); None in the interpreter, which has no pool."""
    index = index_of(device)
    if runtime.is_replaced():
        return None
    cupy = runtime.current().module
    with cupy.cuda.Device(index):
        return cupy.get_default_memory_pool()


def _ask(device: Any, question: str) -> int:
    pool = _pool(device)
    if pool is None:
        return 0
    with runtime.current().module.cuda.Device(index_of(device)):
        return int(getattr(pool, question)()) + pools.total(question)


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors on a GPU hold now."""
    if runtime.is_replaced():
        return 0
    return _ask(device, "used_bytes") - recycling.idle_bytes(index_of(device))


def memory_reserved(device: Any = None) -> int:
    """Bytes that the pool has taken from a GPU, used or kept for later."""
    return _ask(device, "total_bytes")


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors have held since the start, or since `reset_peak_memory_stats`.

    Watching starts with the first call of this, of `memory_stats` or of `reset_peak_memory_stats`: it costs every
    allocation a Python call.
    """
    index = index_of(device)
    used, found = memory_allocated(index), watching.of(index)
    found.peak = max(found.peak, used)
    return found.peak


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let the peaks, as of `max_memory_allocated`, begin anew from what is held now."""
    index = index_of(device)
    found = watching.of(index)
    found.peak, found.reserved_peak = memory_allocated(index), memory_reserved(index)
    for count in (found.allocations, found.requested, found.segments):
        count.peak = count.current


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that the pool has taken from a GPU since the start, or since `reset_peak_memory_stats`."""
    index = index_of(device)
    return max(memory_reserved(index), _reserved_peak(index))


def _reserved_peak(index: int) -> int:
    return 0 if runtime.is_replaced() else watching.of(index).reserved_peak


QUANTITIES = (
    "allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes", "active_bytes",
    "inactive_split_bytes", "requested_bytes",
)  # fmt: skip
POOLS = ("all", "small_pool", "large_pool")
KINDS = ("current", "peak", "allocated", "freed")
ALONE = ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free", "max_split_size")


def memory_stats(device: Any = None) -> dict[str, Any]:
    """PyTorch's names with what CuPy's pool tells and what was counted since the first call; empty where there is no device.

    The pool does not tell small pieces from large ones: all are in "all", and what nobody counts is 0.
    """
    if not is_available():
        return {}
    index = index_of(device)
    found = {f"{what}.{pool}.{kind}": 0 for what in QUANTITIES for pool in POOLS for kind in KINDS}
    found |= {f"oversize_{what}.{kind}": 0 for what in ("allocations", "segments") for kind in KINDS}
    found |= dict.fromkeys(ALONE, 0)
    watched = watching.of(index)
    allocated, reserved = memory_allocated(index), memory_reserved(index)
    for what in ("allocated_bytes", "active_bytes"):
        peak = max_memory_allocated(index)
        _put(found, what, watching.Count(allocated, peak, max(watched.allocated, allocated), watched.freed))
    _put(found, "reserved_bytes", watching.Count(reserved, max_memory_reserved(index), reserved, 0))
    _put(found, "inactive_split_bytes", watching.Count(max(0, reserved - allocated), max(0, reserved - allocated), 0, 0))
    for what, count in (
        ("allocation", watched.allocations), ("active", watched.allocations), ("requested_bytes", watched.requested),
        ("segment", watched.segments),
    ):  # fmt: skip
        _put(found, what, count)
    found["num_device_alloc"], found["num_ooms"] = watched.segments.allocated, exhaustion.COUNTS.get(index, 0)
    return dict(sorted(found.items()))


def _put(found: dict[str, Any], what: str, count: watching.Count) -> None:
    for kind in KINDS:
        found[f"{what}.all.{kind}"] = max(0, getattr(count, kind))


def memory_snapshot(mempool_id: Any = None, include_traces: bool = True) -> list[dict[str, Any]]:
    """The pieces of memory in use, with where each was taken: those since `memory._record_memory_history()`; [] without it."""
    return watching.segments() if is_available() else []


def _snapshot(device: Any = None, augment_with_fx_traces: bool = False) -> dict[str, Any]:
    """`memory_snapshot` with what was taken and returned, in the form that PyTorch's viewers read."""
    index = None if device is None else index_of(device)
    return {
        "segments": watching.segments(index), "device_traces": watching.traces(device_count()), "allocator_settings": {},
        "external_annotations": [],
    }  # fmt: skip


def _dump_snapshot(filename: str = "dump_snapshot.pickle", augment_with_fx_traces: bool = False) -> None:
    """Write `_snapshot` to a file."""
    with open(filename, "wb") as file:
        pickle.dump(_snapshot(), file)


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """`memory_stats` and the driver's numbers as a table.

    Raises: RuntimeError without a GPU.
    """
    index = index_of(device)
    free, total = mem_get_info(index)
    found = memory_stats(index)
    rows = {
        "held by tensors": found["allocated_bytes.all.current"],
        "the most held by tensors": found["allocated_bytes.all.peak"],
        "kept by the pool": found["reserved_bytes.all.current"],
        **({} if abbreviated else {"free on the GPU": free, "memory of the GPU": total}),
    }
    return "\n".join([f"cuda:{index}", *[f"{name:<26}{size / 2**20:>14.1f} MiB" for name, size in rows.items()]])


memory_cached, max_memory_cached = memory_reserved, max_memory_reserved  # their old names
reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Let the sums of what was allocated and freed begin anew."""
    found = watching.of(index_of(device))
    found.allocated = found.freed = 0
    for count in (found.allocations, found.requested, found.segments):
        count.allocated = count.freed = 0


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """`memory_stats` with a dictionary for each part of its names."""
    nested: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        *path, last = name.split(".")
        place = nested
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return nested


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Let the pool take at most this part of a GPU's memory.

    Raises: TypeError for what is no float, ValueError outside of 0 to 1.
    """
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    pool = _pool(device)
    if pool is None:
        return
    with runtime.current().module.cuda.Device(index_of(device)):
        pool.set_limit(size=0 if fraction == 1 else max(1, int(fraction * mem_get_info(device)[1])))  # 0: no limit


def get_per_process_memory_fraction(device: Any = None) -> float:
    """What part of a GPU's memory the pool may take."""
    pool = _pool(device)
    if pool is None:
        return 1.0
    with runtime.current().module.cuda.Device(index_of(device)):
        limit = int(pool.get_limit())
    return limit / mem_get_info(device)[1] if limit else 1.0


def get_allocator_backend() -> str:
    """Whose memory pool it is."""
    return "cupy"


def empty_cache() -> None:
    """Give back to the GPUs what the pool keeps and no tensor uses; without a GPU, or while a graph is recorded, nothing."""
    if is_available() and not runtime.is_replaced() and not CAPTURES:
        watching.before_release(memory_reserved)
        recycling.clear()
        cupy = runtime.current().module
        for index in in_use():  # the pool frees those of the current one
            with cupy.cuda.Device(index):
                cupy.get_default_memory_pool().free_all_blocks()


def empty_host_cache() -> None:
    """Give pinned memory of the host back that no tensor uses."""
    if is_available() and not runtime.is_replaced():
        pinned.empty_cache(runtime.current().module)


def _set_allocator_settings(env: str) -> None:
    """PyTorch's settings of its allocator are taken and change nothing: the pool is CuPy's."""


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """(free, total) bytes of a GPU, as the driver has it."""
    index = index_of(device)
    if runtime.is_replaced():
        return host_memory()
    cupy = runtime.current().module
    with cupy.cuda.Device(index):
        free, total = cupy.cuda.runtime.memGetInfo()
    return int(free), int(total)
