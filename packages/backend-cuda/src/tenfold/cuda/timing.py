"""How long a GPU was at a call: the marks that the profiler asks for."""

from __future__ import annotations

from typing import NamedTuple

from tenfold.cuda import capturing
from tenfold.cuda.events import Event
from tenfold.cuda.streams import current_stream


class Mark(NamedTuple):
    """An event in a stream."""

    event: Event
    line: str


class Timer:
    """Marks in the current streams of the GPUs, by events with times."""

    def __init__(self) -> None:
        self._last: dict[str, Event] = {}  # of each stream

    def mark(self, index: int | None) -> Mark | None:
        """A mark behind what a GPU's current stream was given; None while that is recorded into a graph."""
        if capturing.CAPTURES and capturing.current() is not None:
            return None
        stream = current_stream(index)
        event = Event(enable_timing=True)
        event.record(stream)
        line = f"stream {stream.cuda_stream}"
        self._last[f"{stream.device_index} {line}"] = event
        return Mark(event, line)

    def wait(self) -> None:
        """Until all marks are reached."""
        for event in self._last.values():
            event.synchronize()

    def elapsed_us(self, first: Mark, second: Mark) -> float:
        """Microseconds from one mark to another."""
        return first.event.elapsed_time(second.event) * 1e3
