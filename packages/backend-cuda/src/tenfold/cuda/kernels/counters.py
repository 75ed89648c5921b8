"""Numbers on the device that are 0 between launches, by which the program of a launch that is done last knows that it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import capturing, runtime

COUNT = 1024
ZEROS = np.broadcast_to(np.zeros((), np.int32), (COUNT,))  # which a fill makes, without a copy
_counters: dict[tuple[int, int], Any] = {}


def counters(index: int) -> Any:
    """COUNT numbers of this GPU's current stream; in a graph some for each launch, set to 0 by the graph.

    A launch puts back to 0 what it counted, and the next one of the stream comes after it.
    """
    now = runtime.current()
    if capturing.CAPTURES and capturing.current() is not None:
        return now.from_host(ZEROS, index)
    key = (index, now.stream_pointer(index))
    found = _counters.get(key)
    if found is None or type(found) is not now.array_type:
        found = _counters[key] = now.from_host(ZEROS, index)
    return found


def known(index: int) -> Any:
    """Those of this GPU's current stream; None where it has none yet."""
    return _counters.get((index, runtime.current().stream_pointer(index)))


def restart() -> None:
    """All at 0, where a launch was cut off."""
    for found in _counters.values():
        found[...] = 0


runtime.AFTER_FORK.append(_counters.clear)
