"""What a capture changes for everything that is launched inside it: memory, constants, random numbers, and what is refused.

While a stream's work is recorded (graphs.py), nothing may wait for the GPU or copy from the host, and whatever the recorded
kernels read or write has to live as long as the graph: results come from a pool of the graph's own, constants are held by it.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import numpy as np

from tenfold.cuda import staging
from tenfold.cuda.recordings import RECORDINGS, held

# The captures that are going on, in any thread: empty almost always, and then the only thing that is looked at.
CAPTURES: list[Capture] = []


class Draws:
    """The random numbers that a graph draws from one stream of them: two words on the device, and how far it draws."""

    def __init__(self, index: int, source: Any, words: Any) -> None:
        self.index = index
        self.source = source  # a generator of the user's; None: the stream of the GPU
        self.words = words  # its seed and first counter, put there before every replay
        self.counters = 0


class Capture:
    """A recording that is going on, and what its graph has to hold."""

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        self.thread = threading.get_ident()
        self.held: list[Any] = []
        self.draws: dict[tuple[int, int], Draws] = {}
        self.workspaces: dict[tuple[int, int], Any] = {}  # of libraries, by GPU and stream

    def draw(self, index: int, source: Any, counters: int) -> tuple[Any, int]:
        """(the words on the device, first counter after theirs) for a draw that each replay makes anew."""
        shared = None if source is None else source.place  # which another generator may go on from before a replay
        found = self.draws.get((index, id(shared)))
        if found is None:
            kept = None if source is None else source.graphsafe_get_state()
            found = self.draws[index, id(shared)] = Draws(index, kept, _kept(self.cupy, index))
        first = found.counters
        found.counters += counters
        return found.words, first


def current() -> Capture | None:
    """The capture that this thread's work is recorded by now; None: the work is done, not recorded."""
    for capture in reversed(CAPTURES):
        if capture.thread == threading.get_ident() and capture.cupy.cuda.get_current_stream().is_capturing():
            return capture
    return None


def refuse(what: str, instead: str) -> None:
    """Raise RuntimeError where work is recorded: `what` cannot be, and what to do `instead`."""
    if CAPTURES and current() is not None:
        raise RuntimeError(f"{what} while the current stream's work is recorded into a CUDA graph; {instead}")


def _kept(cupy: Any, index: int) -> Any:
    """Two words of memory outside the graph's pool, which a graph's kernels read."""
    with cupy.cuda.Device(index):
        return cupy.ndarray((2,), "u8", cupy.get_default_memory_pool().malloc(16))


@cache
def _memory(cupy: Any) -> Any:
    """A pool for constants: taken from the one that tensors have, they would move these, and tables of their addresses change."""
    return cupy.cuda.MemoryPool()


def place(now: Any, index: int) -> tuple[int, int]:
    """What constants are kept by: a GPU and its current stream. Another stream would not wait for the copy to be done."""
    return index, now.stream_pointer(index)


def constant(now: Any, array: Any, index: int) -> Any:
    """A NumPy array on a GPU for the use of kernels, in the order of the current stream; inside a capture it is copied at once,
    on a stream of its own, not recorded.

    Who keeps it for later calls keeps it by the stream, too (`place`), and gives it to `hold` with each of them.
    """
    capture, cupy = current() if CAPTURES else None, now.module
    if cupy is np:  # in the interpreter
        return now.from_host(array, index)
    if capture is None:
        with cupy.cuda.Device(index):
            found = cupy.ndarray(array.shape, array.dtype, _memory(cupy).malloc(array.nbytes))
            staging.send(cupy, found, array)
            return found
    with cupy.cuda.Device(index):
        found = cupy.ndarray(array.shape, array.dtype, cupy.get_default_memory_pool().malloc(array.nbytes))
        side = cupy.cuda.Stream(non_blocking=True)
        found.set(array, stream=side)
        side.synchronize()
    capture.held.append(found)
    return found


def hold(*things: Any) -> None:
    """Let the graph that is being recorded, if one is, keep things that its kernels use."""
    if CAPTURES and (capture := current()) is not None:
        capture.held.extend(things)


def lasting(*arrays: Any) -> None:
    """The same for constants that say nothing of a call's arrays: a call that is to be played keeps them, too."""
    hold(*arrays)
    if RECORDINGS:
        held(arrays)
