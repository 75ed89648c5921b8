"""`torch.monitor`: events that handlers are told of, and statistics that are logged as such events, window by window."""

from __future__ import annotations

import dataclasses
import enum
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

__all__ = ["Aggregation", "Event", "EventHandlerHandle", "Stat", "TensorboardEventHandler", "log_event", "register_event_handler",
           "unregister_event_handler"]  # fmt: skip

STAT_EVENT = "torch.monitor.Stat"
data_value_t = str | float | int | bool


class Aggregation(enum.Enum):
    """What is computed of the values of a window: the last one, their mean, number, sum, largest or smallest."""

    VALUE = 0
    MEAN = 2
    COUNT = 3
    SUM = 4
    MAX = 5
    MIN = 6

    def __int__(self) -> int:
        return self.value


@dataclasses.dataclass(eq=False)
class Event:
    """Something that happened: its kind, when it was, and numbers and texts about it.

    >>> Event("step", datetime(2024, 1, 1), {"loss": 0.5}).data
    {'loss': 0.5}
    """

    name: str
    timestamp: datetime
    data: Mapping[str, data_value_t]

    def __post_init__(self) -> None:
        given: tuple[Any, Any] = self.name, self.timestamp
        known = isinstance(given[0], str) and isinstance(given[1], datetime)
        if not known or any(not isinstance(value, (str, int, float)) for value in self.data.values()):
            raise TypeError(
                f"Event: expected a str, a datetime and a dictionary of texts and numbers, got {self.name!r}, {self.timestamp!r} "
                f"and {self.data!r}"
            )


class EventHandlerHandle:
    """What takes a handler off again."""

    def __init__(self, handler: Callable[[Event], Any]) -> None:
        self._handler = handler


_HANDLES: list[EventHandlerHandle] = []


def register_event_handler(callback: Callable[[Event], Any]) -> EventHandlerHandle:
    """Call a function with each event that is logged, until its handle goes to `unregister_event_handler`."""
    _HANDLES.append(EventHandlerHandle(callback))
    return _HANDLES[-1]


def unregister_event_handler(handle: EventHandlerHandle) -> None:
    """Call a handler no more; ValueError if it is not called anyway."""
    if handle not in _HANDLES:
        raise ValueError("unregister_event_handler: the handle is of no registered handler; each can be taken off once")
    _HANDLES.remove(handle)


def log_event(event: Event) -> None:
    """Tell all handlers of an event.

    >>> seen = []
    >>> handle = register_event_handler(seen.append)
    >>> log_event(Event("start", datetime(2024, 1, 1), {}))
    >>> unregister_event_handler(handle)
    >>> seen[0].name
    'start'
    """
    if not isinstance(event, Event):
        raise TypeError(f"log_event: expected an Event, got {type(event).__name__}")
    for handle in _HANDLES:
        handle._handler(event)


_COMPUTED: dict[Aggregation, Callable[[list[float]], float]] = {
    Aggregation.VALUE: lambda values: values[-1],
    Aggregation.MEAN: lambda values: sum(values) / len(values),
    Aggregation.COUNT: lambda values: float(len(values)),
    Aggregation.SUM: lambda values: float(sum(values)),
    Aggregation.MAX: max,
    Aggregation.MIN: min,
}


class Stat:
    """Statistics of values over windows of time, each logged as an event when it is over, full, or the Stat's end.

    `max_samples` values are taken in a window, which is logged at the last of them; further ones are left out.

    >>> stat = Stat("loss", [Aggregation.SUM, Aggregation.COUNT], timedelta(hours=1), 2)
    >>> stat.add(1.0), stat.count, stat.add(2.5), stat.count
    (None, 1, None, 0)
    >>> stat.get()[Aggregation.SUM]
    3.5
    """

    def __init__(
        self, name: str, aggregations: Sequence[Aggregation], window_size: timedelta, max_samples: int = sys.maxsize
    ) -> None:
        self._values: list[float] = []
        self._ms = window_size // timedelta(milliseconds=1)
        if self._ms < 1:
            raise ValueError(f"Stat: window_size is {window_size}, expected a millisecond or more")
        self.name, self._aggregations, self._max_samples = name, tuple(dict.fromkeys(aggregations)), max_samples
        self._last = dict.fromkeys(self._aggregations, 0.0)
        self._full, self._window = False, self._now()

    @property
    def count(self) -> int:
        """How many values the window has so far."""
        return len(self._values)

    def add(self, v: float) -> None:
        """Take a value into the window."""
        if not hasattr(v, "__float__") and not hasattr(v, "__index__"):
            raise TypeError(f"Stat.add: expected a number, got {v!r}")
        if self._now() != self._window:
            self._log()
            self._full, self._window = False, self._now()
        if not self._full:
            self._values.append(float(v))
        if len(self._values) >= self._max_samples:
            self._log()
            self._full = True

    def get(self) -> dict[Aggregation, float]:
        """What was computed of the last window that is over."""
        return dict(self._last)

    def _now(self) -> int:
        return time.monotonic_ns() // 1_000_000 // self._ms

    def _log(self) -> None:
        if not self._values:
            return
        self._last = {kind: _COMPUTED[kind](self._values) for kind in self._aggregations}
        self._values = []
        data = {f"{self.name}.{kind.name.lower()}": value for kind, value in self._last.items()}
        log_event(Event(STAT_EVENT, datetime.now(), data))

    def __del__(self) -> None:
        if self._values:
            self._log()


class TensorboardEventHandler:
    """A handler that writes the statistics among the events as scalars by a SummaryWriter."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __call__(self, event: Event) -> None:
        if event.name == STAT_EVENT:
            for name, value in event.data.items():
                self._writer.add_scalar(name, value, walltime=event.timestamp.timestamp())
