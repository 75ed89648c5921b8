"""GPU memory as CuPy's pool has it: what tensors hold, what the pool keeps, giving back."""

from __future__ import annotations

import threading
from typing import Any

from tenfold.cuda import pools, runtime
from tenfold.cuda.capturing import CAPTURES
from tenfold.cuda.devices import index_of, is_available
from tenfold.cuda.kernels import recycling

_lock = threading.Lock()
_watch: dict[str, Any] = {"hook": None}
_peaks: dict[int, int] = {}


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

    Watching starts with the first call of this or of `reset_peak_memory_stats`: it costs every allocation a Python call.
    """
    index = index_of(device)
    used = memory_allocated(index)
    _start_watching(index)
    with _lock:
        _peaks[index] = max(_peaks.get(index, 0), used)
        return _peaks[index]


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let `max_memory_allocated` begin anew from what is held now."""
    index = index_of(device)
    _start_watching(index)
    with _lock:
        _peaks[index] = memory_allocated(index)


def _start_watching(index: int) -> None:
    if runtime.is_replaced() or _watch["hook"] is not None:
        return
    cupy = runtime.current().module

    class Peak(cupy.cuda.memory_hook.MemoryHook):  # type: ignore[misc, name-defined, unused-ignore]
        """Looks at the pool after each allocation."""

        name = "tenfold peak"

        def malloc_postprocess(self, **kwargs: Any) -> None:
            used = int(cupy.get_default_memory_pool().used_bytes())
            place = int(kwargs["device_id"])
            with _lock:
                _peaks[place] = max(_peaks.get(place, 0), used)

    hook: Any = Peak()
    hook.__enter__()
    _watch["hook"] = hook


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that the pool has taken from a GPU since the last `empty_cache`, before which it gives nothing back."""
    return memory_reserved(device)


def memory_stats(device: Any = None) -> dict[str, Any]:
    """What CuPy's pool counts, under PyTorch's names, and no more; empty where there is no device."""
    if not is_available():
        return {}
    allocated, reserved = memory_allocated(device), memory_reserved(device)
    return {
        "allocated_bytes.all.current": allocated,
        "allocated_bytes.all.peak": max_memory_allocated(device),
        "reserved_bytes.all.current": reserved,
        "reserved_bytes.all.peak": max_memory_reserved(device),
        "inactive_split_bytes.all.current": reserved - allocated,
    }


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
    """Nothing to reset: the pool counts what is, not what was."""
    index_of(device)


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
    """Give back to the GPU what the pool keeps and no tensor uses; without a GPU, or while a graph is recorded, nothing."""
    if is_available() and not runtime.is_replaced() and not CAPTURES:
        recycling.clear()
        runtime.current().module.get_default_memory_pool().free_all_blocks()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """(free, total) bytes of a GPU, as the driver has it."""
    index = index_of(device)
    if runtime.is_replaced():
        return 0, 0
    cupy = runtime.current().module
    with cupy.cuda.Device(index):
        free, total = cupy.cuda.runtime.memGetInfo()
    return int(free), int(total)
