"""How long calls took on an accelerator: a mark in its queue before each call and one after it, read when the recording ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tenfold.dispatch.devices import device as device_type
from tenfold.profiler.events import Event
from tenfold.tensor.tensor import Tensor


class Begun(NamedTuple):
    """A call under way: its device, what times that, and the mark before the call."""

    device: Any
    timer: Any
    mark: Any


class DeviceTimes:
    """The marks of a recording.

    A backend that can tell times has a method `timer()`, whose result has `mark(index)`, a mark at the end of what the device was
    given, with its queue's name as `line`, or None where there can be none; `wait()`, until all marks are reached; and
    `elapsed_us(first, second)`.
    """

    def __init__(self, now_us: Callable[[], float]) -> None:
        self._now_us = now_us
        self._timers: dict[str, Any] = {}
        self._marked: list[tuple[Event, Begun, Any]] = []

    def before(self, args: Iterable[Any], kwargs: dict[str, Any]) -> Begun | None:
        """Mark the device that a call is for; None for one that has no times, as the CPU has none."""
        place = placed(args) or placed(kwargs.values()) or _asked(kwargs.get("device"))
        if place is None:
            return None
        timer = self._timer(place)
        mark = None if timer is None else timer.mark(place.index)
        return None if mark is None else Begun(place, timer, mark)

    def after(self, event: Event, begun: Begun | None) -> None:
        """Mark the end of a call."""
        if begun is not None:
            mark = begun.timer.mark(begun.device.index)
            if mark is not None:
                self._marked.append((event, begun, mark))

    def _timer(self, place: Any) -> Any:
        if place.type not in self._timers:
            make = getattr(place.backend, "timer", None)
            self._timers[place.type] = None if make is None else make()
        return self._timers[place.type]

    def settle(self) -> None:
        """Wait for the marks and give the events their times."""
        marked, self._marked = self._marked, []
        ends: dict[Any, tuple[Any, float]] = {}  # of a device: a mark, and when it was reached: the device is idle then
        for timer in filter(None, self._timers.values()):
            timer.wait()
        for event, (place, timer, first), second in marked:
            if place not in ends:
                ends[place] = timer.mark(place.index), self._now_us()
                timer.wait()
            event.device_us = timer.elapsed_us(first, second)
            end, end_us = ends[place]
            if end is not None:
                event.device_start_us = end_us - timer.elapsed_us(first, end)
            event.use_device, event.device_line = place.type, f"{place} {first.line}"


def placed(values: Iterable[Any]) -> Any:
    """The first device among arguments, of a tensor or named, that is not the CPU; None without one."""
    for value in values:
        if isinstance(value, Tensor):
            if value.device.type != "cpu":
                return value.device
        elif isinstance(value, (tuple, list, device_type)):  # a device is where a copy goes to
            found = _asked(value) if isinstance(value, device_type) else placed(value)
            if found is not None:
                return found
    return None


def _asked(value: Any) -> Any:
    """The device that an argument names, with its index, if that is not the CPU."""
    if value is None:
        return None
    found = device_type(value)
    if found.type in ("cpu", "meta"):
        return None
    return found if found.index is not None else device_type(found.type, found.backend.current_index())


__all__ = ["Begun", "DeviceTimes", "placed"]
