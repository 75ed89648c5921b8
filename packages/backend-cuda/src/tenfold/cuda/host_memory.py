"""What pinned memory of the host does: PyTorch's `host_memory_stats`, counted from the first question on."""

from __future__ import annotations

import weakref
from typing import Any

from tenfold.cuda import pinned, runtime
from tenfold.cuda.devices import is_available
from tenfold.cuda.watching import Count

QUANTITIES = ("allocations", "allocated_bytes", "active_requests", "active_bytes")
TIMES = ("host_alloc_time", "host_free_time")
_requests, _bytes = Count(), Count()


def _note(array: Any, size: int) -> None:
    """Count memory that a tensor has taken, until it is gone."""
    _requests.add(1)
    _bytes.add(size)
    weakref.finalize(array, _gone, size).atexit = False


def _gone(size: int) -> None:
    _requests.add(-1)
    _bytes.add(-size)


def host_memory_stats() -> dict[str, Any]:
    """PyTorch's names with what tensors in pinned memory hold; {} where there is no device.

    What the pool keeps for later is in "allocations" as pieces, whose bytes CuPy does not tell. Times are not
    measured, and 0.
    """
    if not is_available():
        return {}
    pinned.WATCH[:] = [_note]
    kept = 0 if runtime.is_replaced() else int(runtime.current().module.get_default_pinned_memory_pool().n_free_blocks())
    owned = Count(_requests.current + kept, max(_requests.peak, _requests.current + kept), _requests.allocated, _requests.freed)
    counts = dict(zip(QUANTITIES, (owned, _bytes, _requests, _bytes), strict=True))
    found: dict[str, Any] = {f"{name}.{kind}": value for name, count in counts.items() for kind, value in vars(count).items()}
    found |= {f"{name}.{kind}": 0 for name in TIMES for kind in ("total", "max", "min", "count", "avg")}
    found |= {"num_host_alloc": _requests.allocated, "num_host_free": _requests.freed}
    return dict(sorted(found.items()))


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """`host_memory_stats` with a dictionary for each part of its names."""
    nested: dict[str, Any] = {}
    for name, value in host_memory_stats().items():
        first, _, last = name.partition(".")
        if last:
            nested.setdefault(first, {})[last] = value
        else:
            nested[first] = value
    return nested


def reset_accumulated_host_memory_stats() -> None:
    """Let the sums of what was taken and given back begin anew."""
    for count in (_requests, _bytes):
        count.allocated = count.freed = 0


def reset_peak_host_memory_stats() -> None:
    """Let the peaks begin anew from what is held now."""
    for count in (_requests, _bytes):
        count.peak = count.current
