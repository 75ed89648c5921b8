"""NVIDIA's cuDNN where the extra `cudnn` is installed: graphs of its Python API, made once for a problem, run on addresses.

Source: NVIDIA cuDNN documentation, "Graph API" and the Python API of cudnn-frontend.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any

from tenfold.cuda import capturing, playing, runtime
from tenfold.cuda.products import capability
from tenfold.cuda.recordings import spoil

ALIGNMENT = 16  # bytes that addresses are multiples of
OLDEST = 80  # compute capability
KNOWN = 2048  # graphs that are kept
_state: dict[str, Any] = {}
_lock = threading.Lock()


def library() -> Any:
    """The module `cudnn` with its library behind it; None where one of them is missing, and in the interpreter."""
    try:
        return _state["library"]
    except KeyError:
        return None if runtime.is_replaced() else _look()


def _look() -> Any:
    try:
        found: Any = importlib.import_module("cudnn")  # the extra's
        found.backend_version()
    except Exception:  # noqa: BLE001 - without libcudnn its module raises what it likes
        found = None
    _state["library"] = found
    return found


def replace(found: Any) -> None:
    """Use another module from now on, also in the interpreter; None: look for the real one again."""
    _state.clear()
    _graphs.clear()
    _handles.clear()
    playing.forget()
    if found is not None:
        _state["library"] = found


def switches() -> Any:
    """`tenfold.backends.cudnn`, if anybody has loaded it."""
    return sys.modules.get("tenfold.backends.cudnn")


def wanted() -> Any:
    """The module where cuDNN is there, `backends.cudnn.enabled` and the GPU new enough; else None."""
    found = library()
    if found is None or ((set_by := switches()) is not None and not set_by.enabled):
        return None
    return found if capability(runtime.current()) >= OLDEST else None


def deterministic() -> bool:
    """Whether only algorithms that give the same bits each time are allowed."""
    set_by, all_of_it = switches(), sys.modules.get("tenfold.settings.determinism")
    if set_by is not None and set_by.deterministic:
        return True
    return all_of_it is not None and bool(all_of_it.are_deterministic_algorithms_enabled())


class Graph:
    """A finished graph: `run` takes addresses by the numbers that its tensors were given."""

    def __init__(self, library: Any, made: Any, index: int) -> None:
        self.library, self.made, self.index = library, made, index
        self.workspace = int(made.get_workspace_size())
        self.chosen: int | None = None  # by trials; None: the heuristics' first

    def run(self, addresses: dict[int, int]) -> None:
        spoil()
        handle, lock = _handle(self.library, self.index)
        room, address = _room(self.workspace)
        with lock:  # a handle has one stream
            self.library.set_stream(handle=handle, stream=runtime.current().stream_pointer(self.index))
            if self.chosen is None:
                self.made._execute(addresses, address, handle)
            else:
                self.made._execute_plan_at_index(addresses, address, self.chosen, handle)
        del room

    def try_all(self, addresses: dict[int, int], most: int) -> None:
        """Time the plans, at most so many (0: all), with these addresses, whose results they write; the fastest is kept."""
        events = runtime.current().module.cuda
        best: tuple[float, int, int] | None = None
        count = self.made.get_execution_plan_count()
        for i in range(min(count, most) if most else count):
            try:
                self.made.build_plan_at_index(i)
            except Exception:  # noqa: BLE001 - a plan that is none for this GPU
                continue
            self.chosen, self.workspace = i, int(self.made.get_workspace_size_plan_at_index(i))
            self.run(addresses)
            start, end = events.Event(), events.Event()
            start.record()
            self.run(addresses)
            end.record()
            end.synchronize()
            found = float(events.get_elapsed_time(start, end)), i, self.workspace
            best = found if best is None else min(best, found)
        if best is not None:
            _, self.chosen, self.workspace = best


_graphs: dict[Any, Graph | None] = {}
_handles: dict[int, tuple[int, threading.Lock]] = {}


def _handle(library: Any, index: int) -> tuple[int, threading.Lock]:
    """The handle of the current GPU, and the lock of its stream."""
    found = _handles.get(index)
    if found is None:
        with _lock:
            found = _handles.get(index) or _handles.setdefault(index, (library.create_handle(), threading.Lock()))
    return found


def _room(size_bytes: int) -> tuple[Any, int]:
    """(memory from the pool of the stream, or of the recorded graph; its address)."""
    module = runtime.current().module
    if not size_bytes or not hasattr(module, "cuda"):
        return None, 0
    room = module.cuda.alloc(size_bytes)
    return room, int(room.ptr)


def graph(
    library: Any, key: Any, index: int, make: Callable[[Any], None], io_type: Any, without: tuple[str, ...]
) -> Graph | None:
    """The graph of a key, which `make` draws; None where cuDNN does not support it, or only by what `without` excludes.

    `without` has names of cuDNN's numerical notes.
    """
    try:
        return _graphs[key]
    except KeyError:
        pass
    types, notes = library.data_type, library.numerical_note
    floats = {"intermediate_data_type": types.FLOAT, "compute_data_type": types.FLOAT}
    try:
        made = library.pygraph(io_data_type=io_type, handle=_handle(library, index)[0], **floats)
        make(made)
        made.validate()
        made.build_operation_graph()
        made.create_execution_plans([library.heur_mode.A, library.heur_mode.FALLBACK])
        if without:
            made.deselect_numeric_notes([getattr(notes, name) for name in without])
        made.check_support()
        made.build_plans()
        found: Graph | None = Graph(library, made, index)
    except (library.cudnnGraphNotSupportedError, RuntimeError, ValueError) as error:
        _told(error)
        found = None
    if len(_graphs) >= KNOWN:
        _graphs.clear()
    _graphs[key] = found
    return found


def _told(error: Exception) -> None:
    """What cuDNN last refused, for those who wonder why it is not used."""
    _state["refused"] = f"{type(error).__name__}: {error}"


def refused() -> str:
    """Why cuDNN did not make the last graph that it did not make; "" if it made all."""
    return str(_state.get("refused", ""))


def trials() -> int | None:
    """How many plans to time for a new problem (0: all); None: none, as `backends.cudnn.benchmark` is off or work is recorded."""
    set_by = switches()
    if set_by is None or not set_by.benchmark or capturing.CAPTURES or runtime.is_replaced():
        return None
    return int(set_by.benchmark_limit or 0)
