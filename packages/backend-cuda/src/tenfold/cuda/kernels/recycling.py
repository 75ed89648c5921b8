"""Small results that nobody holds any more, to be written again: most of a call's host time is an allocation and a CuPy array.

An array is free when only its ring refers to it and only it refers to its memory. It goes back to the stream on which it was
made, as CuPy's pool would give its memory, so that work in flight on that stream comes before what is written next.
"""

from __future__ import annotations

from collections import deque
from sys import getrefcount
from typing import Any

SMALL = 1 << 16  # bytes of a result that is worth keeping: a larger one takes the GPU longer than the host
RING = 3  # arrays kept of a shape
MOST = 512  # rings
HELD = 3  # references to an array, or its pointer, that only its ring holds: with those of who asks, and getrefcount's own
_rings: list[tuple[dict[Any, Any], deque[Any]]] = []


def ring_of(rings: dict[Any, deque[Any]], key: Any) -> deque[Any]:
    """The ring for a shape and stream, made on first use; at most MOST are kept altogether."""
    found = rings.get(key)
    if found is None:
        if len(_rings) >= MOST:
            clear()
        found = rings[key] = deque()
        _rings.append((rings, found))
    return found


def memory_references(array: Any) -> int:
    """How many refer to an array's memory; more than at first: there are views of it."""
    return getrefcount(array.data.mem)


def keep(ring: deque[Any], array: Any) -> None:
    """Let a new array come back through the ring, if there is room."""
    if len(ring) < RING:
        ring.append((array, memory_references(array)))


def idle(ring: deque[Any]) -> Any:
    """The oldest array of a ring that is not empty, if nobody has it any more; None if somebody has."""
    array, references = ring[0]
    pointer = array.data
    # Three hold the array: the ring's pair, `array`, and getrefcount's own; and so with its pointer.
    if getrefcount(array) == HELD and getrefcount(pointer) == HELD and getrefcount(pointer.mem) <= references:
        return array
    ring.rotate(-1)
    return None


def leave_out(memory: Any) -> None:
    """Forget the arrays of a piece of memory: another stream uses it, and it is not to come back before that has done with it."""
    for _, ring in _rings:
        others = [pair for pair in ring if pair[0].data.mem is not memory]
        if len(others) < len(ring):
            ring.clear()
            ring.extend(others)


def clear() -> None:
    """Forget every array that is kept."""
    for rings, ring in _rings:
        rings.clear()
        ring.clear()
    _rings.clear()


def idle_bytes(index: int) -> int:
    """Bytes of a GPU that are kept and free: no tensor holds them."""
    total = 0
    for _, ring in _rings:
        for array, references in ring:
            if getrefcount(array) == HELD and memory_references(array) <= references and array.data.device_id == index:
                total += int(array.data.mem.size)
    return total
