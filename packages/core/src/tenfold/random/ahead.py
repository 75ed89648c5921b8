"""Words drawn ahead of their use: a few at a time, they cost a call into NumPy each; the rest of the twister's block, one call.

A block ends where the twister makes its next 624 words, so a generator that drew the rest of its block ahead still holds
the key of the words that wait: its state is that of the engine with the position set back.
"""

from __future__ import annotations

import os
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tenfold.dispatch.devices import CPU, get_default_device
from tenfold.dispatch.runtime import STATE
from tenfold.types.dtypes import float32, get_default_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 624  # words of the Mersenne Twister
FEW = 16  # samples that are drawn one by one
PATIENCE = 4  # draws of a few words in a row before words are drawn ahead

_HALF, _53_BITS = np.array([32, 2**53 - 1], np.uint64).reshape(2, 1)

# Two threads never get the same word. A child process must not inherit a lock that another thread held.
LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


def few(size: Any) -> int:
    """How many samples these are, where they are few, in one dimension, of float32 and on the CPU; else 0."""
    if type(size) is tuple and len(size) == 1:
        count = size[0]
        if type(count) is int and 0 < count < FEW and get_default_dtype() is float32:
            return count if not STATE.devices or get_default_device() is CPU else 0
    return 0


class Ahead:
    """The rest of an engine's block: its words, the place of the next one, and the words as uniforms."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self.words, self.next, self.size = words, 0, len(words)
        self.lines: dict[int, tuple[NDArray[np.float32], list[float]]] = {}

    def left(self) -> int:
        """How many words wait."""
        return self.size - self.next

    def take(self, count: int) -> NDArray[np.uint64]:
        """The next words, at most `count`."""
        start = self.next
        self.next = min(start + count, self.size)
        return self.words[start : self.next]

    @cached_property
    def units32(self) -> NDArray[np.float32]:
        """Each word as a uniform in [0, 1) of 24 bits."""
        units: NDArray[np.float32] = (self.words & np.uint64(2**24 - 1)).astype(np.float32)
        units *= np.float32(2.0**-24)
        return units

    @cached_property
    def pairs64(self) -> NDArray[np.float64]:
        """Each word with the one behind it as a uniform in [0, 1) of 53 bits."""
        pairs = self.words[:-1] << _HALF
        pairs |= self.words[1:]
        pairs &= _53_BITS
        return np.multiply(pairs.view(np.int64), 2.0**-53, dtype=np.float64)

    @cached_property
    def units64(self) -> list[float]:
        """The same as Python's numbers."""
        units: list[float] = self.pairs64.tolist()
        return units

    def normals(self, start: int) -> tuple[NDArray[np.float32], list[float]]:
        """All normals from a word on, of four words each pair, in float32 and as Python's numbers."""
        from tenfold.random.boxmuller import serial64  # not at import: few programs draw so few numbers so often

        heights = self.pairs64[start + 2 :: 4]
        normals = serial64(self.pairs64[start::4][: len(heights)], heights)
        made = self.lines[start] = normals.astype(np.float32), normals.tolist()
        return made
