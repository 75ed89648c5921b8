"""The process's memory as NumPy sees it, and which of it a launch may touch."""

from __future__ import annotations

import ctypes

import numpy as np

from ptx.values import U64, UNSIGNED

# All addresses of a process, from 8 on: only what is indexed is touched.
_FIRST = 8
_EVERYTHING = (ctypes.c_uint8 * ((1 << 47) - _FIRST)).from_address(_FIRST)
WORDS = {size: np.frombuffer(_EVERYTHING, dtype, (1 << 47) // size - 16) for size, dtype in UNSIGNED.items()}


class MemoryFault(Exception):
    """An access that the hardware refuses, or that is outside of what the launch was given."""


class Spans:
    """The arrays that a launch may touch."""

    def __init__(self) -> None:
        self.spans: set[tuple[int, int]] = set()
        self.lows = self.highs = None

    def add(self, low: int, high: int) -> None:
        if high > low:
            self.spans.add((low, high))
            self.lows = None

    def check(self, addresses: np.ndarray, size: int, what: str) -> None:
        """Refuse addresses outside of the spans, and those that are no multiples of the access's size."""
        low, high = int(addresses.min()), int(addresses.max())
        if size > 1 and (addresses & U64.type(size - 1)).any():
            wrong = addresses[(addresses & U64.type(size - 1)) != 0]
            raise MemoryFault(f"misaligned {what} of {size} bytes: {len(wrong)} lanes, the first at {int(wrong[0]):#x}")
        if self.lows is None:
            ordered = _merged(sorted(self.spans))
            self.lows, self.highs = (np.array([s[i] for s in ordered], U64) for i in (0, 1))
        if not len(self.lows):
            raise MemoryFault(f"{what} of {size} bytes at {low:#x}: the launch has no arrays")
        place = int(np.searchsorted(self.lows, U64.type(low), "right")) - 1
        if place >= 0 and high + size <= int(self.highs[place]):
            return
        places = np.searchsorted(self.lows, addresses, "right").astype(np.int64) - 1
        wrong = (places < 0) | (addresses + U64.type(size) > self.highs[np.maximum(places, 0)])
        if wrong.any():
            bad = np.flatnonzero(wrong)
            raise MemoryFault(
                f"{what} of {size} bytes outside of the launch's arrays: {len(bad)} of {len(addresses)} lanes, the first at "
                f"{int(addresses[bad[0]]):#x}; {self.near(int(addresses[bad[0]]))}"
            )

    def near(self, address: int) -> str:
        """Where an address lies, in words."""
        low, high = min(self.spans, key=lambda s: min(abs(address - s[0]), abs(address - s[1])))
        return f"{address - low} bytes from the beginning of an array of {high - low} bytes"


def _merged(spans):
    """Neighbours in memory of which one lies in the other; arrays that merely touch stay apart."""
    found = []
    for low, high in spans:
        if found and low < found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found


def gather(addresses: np.ndarray, size: int) -> np.ndarray:
    """The words of a size at addresses, which are right."""
    return WORDS[size][((addresses - U64.type(_FIRST)) // U64.type(size)).view(np.int64)]


def scatter(addresses: np.ndarray, values: np.ndarray) -> None:
    """Store words; of several to one address the last lane's stays."""
    size = values.dtype.itemsize
    WORDS[size][((addresses - U64.type(_FIRST)) // U64.type(size)).view(np.int64)] = values.view(UNSIGNED[size])
