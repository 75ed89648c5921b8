"""Seeds: each GPU has a stream of its own, a seed and how far it was drawn from, as in PyTorch.

`tenfold.manual_seed` restarts the streams of all GPUs; a GPU that nobody seeded has the seed of the default generator. A draw
takes as many counters as its kernel has lanes, so that no two draws share any (kernels/programs/draws.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tenfold.cuda import capturing
from tenfold.cuda.devices import current_device, device_count, is_available
from tenfold.random import generator

_streams: dict[int, list[int]] = {}  # of each GPU: its seed, and the counter that comes next


def _stream(index: int) -> list[int]:
    found = _streams.get(index)
    if found is None:
        found = _streams[index] = [generator.initial_seed(), 0]
    return found


def own(source: Any) -> Any:
    """A generator of the user's; None for that which every program has, whose place a GPU's own stream takes."""
    return None if source is generator.default_generator else source


def reserve(index: int, source: Any, counters: int) -> tuple[int, int]:
    """(seed, first counter) for a draw from a GPU's own stream; from a generator of the user's one of its words is the seed."""
    if own(source) is not None:
        return int(source.words64(1)[0]), 0
    stream = _stream(index)
    first = stream[1]
    stream[1] = first + counters
    return stream[0], first


def restart(index: int, seed: int, counter: int = 0) -> None:
    """Let a GPU's stream go on from a seed and a counter."""
    _streams[index] = [seed % 2**64, counter]


def restart_all(seed: int) -> None:
    """Restart the streams of all GPUs, also of those that were not used yet."""
    _streams.clear()
    for index in range(device_count()):
        restart(index, seed)


def state_of(index: int) -> Any:
    """A stream as 16 bytes: its seed and its counter, 8 bytes each, the lowest first."""
    return np.array(_stream(index), "<u8").view(np.uint8)


def restore(index: int, state: Any) -> None:
    """Let a stream go on from what `state_of` gave.

    Raises: RuntimeError for another number of bytes.
    """
    array = np.ascontiguousarray(state, np.uint8)
    if array.size != 16:
        raise RuntimeError(f"RNG state of a GPU: expected 16 bytes, got {array.size}; pass what cuda.get_rng_state returned")
    seed, counter = array.view("<u8")
    restart(index, int(seed), int(counter))


def kept(indices: Iterable[int]) -> Callable[[], None]:
    """What puts the streams of some GPUs back where they are, and what a graph that is being recorded has drawn."""
    states = {index: list(_stream(index)) for index in indices}
    capture = capturing.current() if capturing.CAPTURES else None
    drawn = {} if capture is None else {key: draws.counters for key, draws in capture.draws.items()}

    def restore() -> None:
        for index, (seed, counter) in states.items():
            restart(index, seed, counter)
        for key, draws in () if capture is None else capture.draws.items():
            draws.counters = drawn.get(key, 0)

    return restore


def manual_seed(seed: int) -> None:
    """Restart the random numbers of the current GPU from a seed; nothing happens without a GPU."""
    if is_available():
        restart(current_device(), int(seed))


def manual_seed_all(seed: int) -> None:
    """Restart the random numbers of all GPUs from a seed."""
    if is_available():
        restart_all(int(seed))


def seed() -> None:
    """Restart the random numbers of the current GPU from a seed that the operating system chose."""
    manual_seed(int.from_bytes(os.urandom(8), "little"))


def seed_all() -> None:
    """Restart the random numbers of all GPUs from one seed that the operating system chose."""
    manual_seed_all(int.from_bytes(os.urandom(8), "little"))


def initial_seed() -> int:
    """The seed that the random numbers of the current GPU were last started from; without a GPU that of the default generator."""
    return _stream(current_device())[0] if is_available() else generator.initial_seed()
