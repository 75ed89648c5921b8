"""What NVIDIA's nvprof recorded of a program that ran under `emit_nvtx`: its file is an SQLite database."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tenfold.profiler import Event, EventList

# A range has two marks of one id, of which the first has the name. A call of the runtime is inside of the ranges around it
# in time, and has the number of the kernel that it launched.
RANGES = """
    SELECT first.id AS id, names.value AS name, first.timestamp AS begun, last.timestamp AS ended
    FROM CUPTI_ACTIVITY_KIND_MARKER AS first
    JOIN CUPTI_ACTIVITY_KIND_MARKER AS last ON first.id = last.id
    JOIN StringTable AS names ON names._id_ = first.name
    WHERE first.name != 0 AND last.name = 0
    ORDER BY begun, ended DESC, first._id_
"""
LAUNCHES = """
    SELECT call.start AS begun, call.end AS ended, kernel.start AS started, kernel.end AS done, kernel.deviceId AS device,
        names.value AS name
    FROM CUPTI_ACTIVITY_KIND_RUNTIME AS call
    JOIN CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL AS kernel ON kernel.correlationId = call.correlationId
    LEFT JOIN StringTable AS names ON names._id_ = kernel.name
    ORDER BY begun
"""


class EnforceUnique:
    """Raises RuntimeError where a key is seen a second time.

    >>> from tenfold.autograd.profiler import EnforceUnique
    >>> keys = EnforceUnique()
    >>> keys.see("add", 1)
    """

    def __init__(self) -> None:
        self.seen: set[Any] = set()

    def see(self, *key: Any) -> None:
        """Note a key."""
        if key in self.seen:
            raise RuntimeError(f"duplicate key: {key}")
        self.seen.add(key)


class Kernel(NamedTuple):
    """A kernel that a range launched."""

    name: str
    device: int
    duration: float  # microseconds


@dataclass(slots=True, eq=False)
class TracedEvent(Event):
    """A range of the file, with the kernels that were launched inside it; times in microseconds since the first range."""

    kernels: list[Kernel] = field(default_factory=list)


def load_nvprof(path: str | os.PathLike[str]) -> EventList:
    """The ranges that `emit_nvtx` made, as nvprof wrote them (`nvprof --profile-from-start off -o PATH -- python program.py`).

    An event has its kernels and, as `device_time_total`, their time; `key_averages().table()` sums them up by name.

    Raises: FileNotFoundError if there is no such file; RuntimeError for one that is not nvprof's, or has a range twice.
    """
    return EventList(parse_nvprof_trace(path))


def parse_nvprof_trace(path: str | os.PathLike[str]) -> list[TracedEvent]:
    """The events of `load_nvprof`, in order of start."""
    if not Path(path).exists():
        raise FileNotFoundError(f"load_nvprof: there is no file {os.fspath(path)}")
    try:
        with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            ranges, launches = database.execute(RANGES).fetchall(), database.execute(LAUNCHES).fetchall()
    except sqlite3.Error as error:
        raise RuntimeError(f"load_nvprof: {os.fspath(path)} is not a file that nvprof wrote: {error}") from error
    origin = min((row["begun"] for row in ranges), default=0)
    events, unique = list[TracedEvent](), EnforceUnique()
    around: list[TracedEvent] = []
    for row in ranges:
        unique.see(row["id"], row["name"])
        event = TracedEvent(row["name"], (row["begun"] - origin) / 1e3, (row["ended"] - origin) / 1e3, id=row["id"])
        while around and around[-1].end_us < event.end_us:
            around.pop()
        if around:
            event.parent, event.depth = around[-1], len(around)
            around[-1].children.append(event)
        around.append(event)
        events.append(event)
    _launched(events, launches, origin)
    return events


def _launched(events: list[TracedEvent], launches: list[Any], origin: int) -> None:
    """Give the ranges the kernels that were launched inside them."""
    for row in launches:
        begun_us, ended_us = ((row[edge] - origin) / 1e3 for edge in ("begun", "ended"))
        kernel = Kernel(row["name"] or "kernel", row["device"], (row["done"] - row["started"]) / 1e3)
        for event in events:
            if event.start_us < begun_us and ended_us < event.end_us:
                event.kernels.append(kernel)
                event.use_device, event.device_us = "cuda", (event.device_us or 0.0) + kernel.duration
