"""What the pool of memory does: counted from the first question on, and written down where a program asks for its history.

CuPy's hooks tell of each allocation and each return, in the thread that asked first; they cost every one of these a Python call.
The history has the form that PyTorch's has, so that its viewers show it.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.kernels import recycling


@dataclass
class Count:
    """One quantity: what there is, the most that there was, and the sums of what came and went."""

    current: int = 0
    peak: int = 0
    allocated: int = 0
    freed: int = 0

    def add(self, size: int) -> None:
        if size >= 0:
            self.allocated += size
        else:
            self.freed -= size
        self.current += size
        self.peak = max(self.peak, self.current)


@dataclass
class Watched:
    """The counts of one GPU."""

    allocations: Count = field(default_factory=Count)
    requested: Count = field(default_factory=Count)
    segments: Count = field(default_factory=Count)
    peak: int = 0  # bytes that tensors held
    allocated: int = 0  # bytes that came and went in all
    freed: int = 0
    reserved_peak: int = 0


@dataclass
class Block:
    """Memory in use, as the history has it."""

    device: int
    address: int
    size: int
    requested: int
    frames: list[dict[str, Any]]


class History:
    """What was allocated and returned, the oldest forgotten beyond `most` entries; `frames` with the calls that did so."""

    def __init__(self, most: int, frames: bool, events: bool, skipped: tuple[str, ...] = ()) -> None:
        self.events: deque[dict[str, Any]] = deque(maxlen=min(most, sys.maxsize))
        self.frames, self.keeps_events, self.skipped = frames, events, skipped
        self.blocks: dict[tuple[int, int], Block] = {}

    def note(self, action: str, device: int, address: int, size: int, requested: int) -> None:
        frames = _frames() if self.frames and action == "alloc" else []
        if action == "alloc":
            self.blocks[device, address] = Block(device, address, size, requested, frames)
        elif (gone := self.blocks.pop((device, address), None)) is None:
            return  # it was there before
        else:
            requested = gone.requested
        if self.keeps_events and action not in self.skipped:
            self.events.append({
                "action": action, "device": device, "addr": address, "size": requested, "stream": 0,
                "time_us": time.time_ns() // 1000, "frames": frames,
            })  # fmt: skip


def _frames() -> list[dict[str, Any]]:
    """The program's calls, the innermost first, without those of this module and of CuPy's hook."""
    stack = list(traceback.walk_stack(sys._getframe(4)))
    return [{"filename": f.f_code.co_filename, "line": line, "name": f.f_code.co_name} for f, line in stack]


_lock = threading.RLock()  # memory may come back while this thread is inside, by a collection of garbage
_devices: dict[int, Watched] = {}
_state: dict[str, Any] = {"hook": None, "history": None}


def of(index: int) -> Watched:
    """The counts of a GPU, from now on if nobody has asked before."""
    with _lock:
        start()
        return _devices.setdefault(index, Watched())


def start() -> None:
    """Begin to count."""
    if runtime.is_replaced() or _state["hook"] is not None:
        return
    cupy = runtime.current().module

    class Hook(cupy.cuda.memory_hook.MemoryHook):  # type: ignore[misc, name-defined, unused-ignore]
        """Hears of what the pool does."""

        name = "tenfold"

        def alloc_postprocess(self, *, device_id: int, mem_size: int, mem_ptr: int) -> None:
            with _lock:
                _devices.setdefault(device_id, Watched()).segments.add(1)

        def malloc_postprocess(self, *, device_id: int, size: int, mem_size: int, mem_ptr: int, pmem_id: int) -> None:
            with _lock:
                found = _devices.setdefault(device_id, Watched())
                found.allocations.add(1)
                found.requested.add(size)
                found.allocated += mem_size
                used = int(cupy.get_default_memory_pool().used_bytes()) - recycling.idle_bytes(device_id)
                found.peak = max(found.peak, used)
                if _state["history"] is not None:
                    _state["history"].note("alloc", device_id, mem_ptr, mem_size, size)

        def free_postprocess(self, *, device_id: int, mem_size: int, mem_ptr: int, pmem_id: int) -> None:
            with _lock:
                found = _devices.setdefault(device_id, Watched())
                found.allocations.add(-1)
                found.freed += mem_size
                if _state["history"] is not None:
                    _state["history"].note("free_completed", device_id, mem_ptr, mem_size, mem_size)

    hook: Any = Hook()
    hook.__enter__()
    atexit.register(hook.__exit__, None, None, None)  # memory that comes back later finds this module gone
    _state["hook"] = hook


def before_release(reserved: Callable[[int], int]) -> None:
    """Note how much each GPU's pool has, before it gives back what is free."""
    for index, found in list(_devices.items()):
        found.reserved_peak = max(found.reserved_peak, reserved(index))


def record(
    enabled: str | None = "all", context: str | None = "all", stacks: str = "all", max_entries: int = sys.maxsize,
    device: Any = None, clear_history: bool = False, compile_context: bool = False, global_record_annotations: bool = False,
    skip_actions: list[str] | None = None,
) -> None:  # fmt: skip
    """Write down from now on what memory is taken and returned ("all"), or what is in use only ("state"); None: no longer.

    `context` None leaves out the calls. `snapshot` and `dump_snapshot` give what was written; of the other arguments, which
    PyTorch has, `max_entries`, `clear_history` and `skip_actions` are heeded.
    """
    if enabled not in (None, "state", "all"):
        raise RuntimeError(f"_record_memory_history: expected enabled to be None, 'state' or 'all', got {enabled!r}")
    with _lock:
        if enabled is None:
            _state["history"] = None
            return
        start()
        before = _state["history"]
        made = History(max_entries, context is not None, enabled == "all", tuple(skip_actions or ()))
        if before is not None and not clear_history:
            made.events.extend(before.events)
            made.blocks.update(before.blocks)
        _state["history"] = made


def segments(index: int | None = None) -> list[dict[str, Any]]:
    """Memory in use that the history has seen taken, each piece as a segment of its own; [] where none is written."""
    with _lock:
        history = _state["history"]
        blocks = [] if history is None else list(history.blocks.values())
    return [_segment(block) for block in blocks if index is None or block.device == index]


def _segment(block: Block) -> dict[str, Any]:
    inner = {
        "address": block.address, "size": block.size, "requested_size": block.requested, "state": "active_allocated",
        "frames": block.frames,
    }  # fmt: skip
    return {
        "device": block.device, "address": block.address, "total_size": block.size, "allocated_size": block.size,
        "active_size": block.size, "requested_size": block.requested, "stream": 0, "segment_type": "large",
        "segment_pool_id": (0, 0), "is_expandable": False, "frames": block.frames, "blocks": [inner],
    }  # fmt: skip


def traces(devices: int) -> list[list[dict[str, Any]]]:
    """What was written, a list for each GPU."""
    with _lock:
        history = _state["history"]
        events = [] if history is None else list(history.events)
    return [[event for event in events if event["device"] == index] for index in range(devices)]
