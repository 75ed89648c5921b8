"""What programs for any device ask of the CPU as of a GPU: streams and events, which order nothing, and what it can do."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


class Stream:
    """A queue of work: on the CPU everything is done at once.

    >>> Stream().wait_stream(Stream())
    """

    def __init__(self, priority: int = -1) -> None:
        self.priority = priority

    def wait_stream(self, stream: Any) -> None:
        """Nothing to wait for."""

    def record_event(self) -> None:
        """Nothing to mark."""

    def wait_event(self, event: Any) -> None:
        """Nothing to wait for."""


class Event:
    """A mark in a queue of work, which is done.

    >>> Event().query()
    True
    """

    def query(self) -> bool:
        """Whether the work before it is done: always."""
        return True

    def record(self, stream: Any = None) -> None:
        """Nothing to mark."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait(self, stream: Any = None) -> None:
        """Nothing to wait for."""


_now = [Stream()]


def current_stream(device: Any = None) -> Stream:
    """The stream of the block: the one of `with stream(...)`, or the one that every program has."""
    return _now[-1]


class StreamContext:
    """A block whose stream is another one; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        _now.append(self.stream or _now[-1])

    def __exit__(self, *exc: object) -> None:
        _now.pop()


def stream(stream: Stream | None) -> StreamContext:
    """A block whose stream is another one."""
    return StreamContext(stream)


def set_device(device: Any) -> None:
    """There is one CPU: nothing changes."""


def is_initialized() -> bool:
    """There is nothing to initialize.

    >>> is_initialized()
    True
    """
    return True


# The kernel's names of what processors can do where PyTorch has others.
_NAMES = {"avx512f": "avx512_f", "avx512dq": "avx512_dq", "avx512bw": "avx512_bw", "avx512vl": "avx512_vl", "fma": "fma3",
          "avx512cd": "avx512_cd", "abm": "lzcnt", "pni": "sse3", "sha_ni": "sha"}  # fmt: skip


def get_capabilities() -> Mapping[str, Any]:
    """What the processor can do, by the names of its instruction sets, as Linux tells; nothing elsewhere.

    >>> "architecture" in get_capabilities()
    True
    """
    import platform  # for this rare question

    found: dict[str, Any] = {"architecture": platform.machine()}
    try:
        with open("/proc/cpuinfo", encoding="ascii") as file:
            lines = [line for line in file if line.startswith(("flags", "Features"))]
    except OSError:
        lines = []
    for flag in lines[0].partition(":")[2].split() if lines else []:
        found[_NAMES.get(flag, flag)] = True
    return MappingProxyType(found)
