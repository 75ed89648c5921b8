"""What is told to calls that are recorded (playing.py): memory that is taken, kernels and products that are started."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

RECORDINGS: list[Any] = []  # of all threads, almost always none: then the only thing that is looked at
Origin = Callable[[int], tuple[int, int]]
Go = Callable[[list[int], int], bool]


class Step:
    """Something that is started: `pointers` are the addresses that it was given, `index` its GPU."""

    index: int
    pointers: Sequence[int]

    def placed(self, origin: Origin) -> Go:
        """The same for other arrays: a function of their addresses, by the numbers that `origin` gives them, and the stream."""
        raise NotImplementedError


def mine() -> Any:
    """This thread's recording; None if there is none."""
    for recording in reversed(RECORDINGS):
        if recording.thread == threading.get_ident():
            return recording
    return None


def taken(array: Any) -> Any:
    """Note memory that has been taken for an array."""
    recording = mine()
    if recording is not None:
        recording.taken.append(array)
    return array


def started(step: Step) -> None:
    """Note a kernel or a product."""
    recording = mine()
    if recording is not None:
        recording.started(step)


def held(constants: Sequence[Any]) -> None:
    """Note constants that kernels read."""
    recording = mine()
    if recording is not None:
        recording.held.extend(constants)


def spoil() -> None:
    """What happens now cannot be played again: a copy, a wait, work of another library."""
    recording = mine() if RECORDINGS else None
    if recording is not None:
        recording.spoiled = True
