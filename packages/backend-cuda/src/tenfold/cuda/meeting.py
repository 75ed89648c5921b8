"""A backward pass and the streams that its graph was recorded in: it waits for them, and they for it.

PyTorch runs each step of a backward pass on the stream of the step's forward pass, so that a program which computes a loss on a
stream of its own may call `backward()` outside. Here the whole pass is the current stream's: before it that stream waits for
those in which steps have been recorded since the last pass, and these wait for it afterwards. Where streams are never
changed, nothing is looked at; a stream that only copies records nothing, and is not waited for.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.capturing import CAPTURES

_recorded: dict[Any, Callable[[int], Any]] = {}  # streams that no pass has waited for yet, and what gives a GPU's current one
runtime.AFTER_FORK.append(_recorded.clear)


class _Seen(threading.local):
    number = -1  # of steps that have been recorded when this thread's stream last changed


_SEEN = _Seen()


@cache
def _join() -> None:
    """Have backward passes call `meet`."""
    with suppress(ImportError):
        from tenfold.autograd.nodes import AROUND  # tenfold-autograd is an extra

        AROUND.append(meet)


def leave(index: int, current_stream: Callable[[int], Any]) -> None:
    """Note a GPU's current stream, which is about to change, if steps have been recorded since it began."""
    _join()
    nodes = sys.modules.get("tenfold.autograd.nodes")
    if nodes is None or CAPTURES or runtime.is_replaced():
        return
    before, _SEEN.number = _SEEN.number, next(nodes.NUMBERS)
    if _SEEN.number - before > 1:
        _recorded[current_stream(index)] = current_stream


def meet() -> Callable[[], object]:
    """Let the current streams wait for the others that steps were recorded in; what is returned lets these wait for them."""
    if CAPTURES or runtime.is_replaced():
        return int
    pairs = [(stream, now(stream.device_index)) for stream, now in _recorded.items()]
    _recorded.clear()
    pairs = [(stream, current) for stream, current in pairs if stream != current]
    for stream, current in pairs:
        current.wait_stream(stream)

    def behind() -> None:
        for stream, current in pairs:
            stream.wait_stream(current)

    return behind
