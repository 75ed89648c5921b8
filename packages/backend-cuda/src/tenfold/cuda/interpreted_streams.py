"""Streams of the interpreter: its work is done when it is given, but programs ask which stream is the current one."""

from __future__ import annotations

import itertools
import threading
from typing import Any, Self


class ImmediateStream:
    """What `streams.Stream` needs of CuPy's streams; 0 is the handle of the default one."""

    done = True
    _handles = itertools.count(1)

    def __init__(self, handle: int | None = None) -> None:
        self.ptr = next(ImmediateStream._handles) if handle is None else handle

    def is_capturing(self) -> bool:
        return False

    def synchronize(self) -> None:
        """Everything has been done already."""

    def use(self) -> None:
        """Be this thread's current stream from now on."""
        _entered()[-1] = self

    def __enter__(self) -> Self:
        _entered().append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _entered().pop()


_threads = threading.local()


def _entered() -> list[Any]:
    """The streams that this thread is in, the current one last."""
    found: list[Any] = _threads.__dict__.setdefault("entered", [DEFAULT])
    return found


def current() -> ImmediateStream:
    """The stream that takes this thread's work."""
    found: ImmediateStream = _entered()[-1]
    return found


DEFAULT = ImmediateStream(0)
