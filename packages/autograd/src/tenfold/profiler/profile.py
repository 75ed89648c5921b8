"""The profiler layer and `record_function`."""

from __future__ import annotations

import enum
import functools
import json
import os
import threading
import time
import traceback
from typing import Any, Self

from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import Layer, call_inside
from tenfold.profiler.events import Event, EventList, averages
from tenfold.profiler.schedule import ProfilerAction
from tenfold.tensor.tensor import Tensor


class ProfilerActivity(enum.Enum):
    """What to watch."""

    CPU = 0
    CUDA = 1


class profile(Layer):  # noqa: N801 - PyTorch's name
    """Record every operator call inside, forward and backward, with its time.

    A composite's inner calls appear inside it. Times are those of this process's clock around each call; the profiler's
    own cost (about 3 us a call) is part of them.

    >>> import tenfold
    >>> from tenfold.profiler import profile
    >>> with profile() as prof:
    ...     y = tenfold.ones(4) + 1
    >>> sorted(e.key for e in prof.key_averages())
    ['add', 'ones']
    """

    in_backward = True  # the engine keeps this layer on during the backward pass

    def __init__(
        self, *, activities: Any = None, record_shapes: bool = False, with_stack: bool = False, on_trace_ready: Any = None,
        profile_memory: bool = False, with_flops: bool = False, schedule: Any = None,
    ) -> None:  # fmt: skip
        self.record_shapes, self.with_stack, self.on_trace_ready = record_shapes, with_stack, on_trace_ready
        self.schedule, self.step_num = schedule or (lambda step: ProfilerAction.RECORD), 0
        self.current_action = self.schedule(0)
        self._roots: list[Event] = []
        self._open: list[Event] = []
        self._origin = time.perf_counter()

    def _now_us(self) -> float:
        return (time.perf_counter() - self._origin) * 1e6

    def begin(self, name: str, values: Any = ()) -> Event:
        """Open an event inside the one that is open."""
        event = Event(name, 0.0, depth=len(self._open), thread=threading.get_ident())
        if self.record_shapes:
            event.shapes = [list(v.shape) for v in values if isinstance(v, Tensor)]
        if self.with_stack:
            event.stack = [f"{f.filename}:{f.lineno} {f.name}" for f in traceback.extract_stack()[:-3]]
        (self._open[-1].children if self._open else self._roots).append(event)
        self._open.append(event)
        event.start_us = self._now_us()
        return event

    def end(self, event: Event) -> None:
        """Close the event."""
        event.end_us = self._now_us()
        self._open.pop()

    def handle(self, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.current_action not in _RECORDING:
            return operator(*args, **kwargs)
        event = self.begin(operator.name, args)
        try:
            return call_inside(self, operator, args, kwargs)
        finally:
            self.end(event)

    def __enter__(self) -> Self:
        self._origin = time.perf_counter()
        _active.append(self)
        super().__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        _active.remove(self)
        if self.current_action in _RECORDING:
            self._hand_over()

    def _hand_over(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    start = __enter__

    def stop(self) -> None:
        """Leave the block."""
        self.__exit__(None, None, None)

    def step(self) -> None:
        """Mark the end of a training step; `schedule` says what happens in the next one."""
        if self.current_action in _RECORDING:
            self.end(self.begin("ProfilerStep"))
        self.step_num += 1
        before, self.current_action = self.current_action, self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._hand_over()
        if before not in _RECORDING and self.current_action in _RECORDING:
            self._roots, self._origin = [], time.perf_counter()  # each turn begins anew
        elif before is ProfilerAction.RECORD_AND_SAVE and self.current_action in _RECORDING:
            self._roots = []

    def events(self) -> list[Event]:
        """Every recorded call, in order of start."""
        found: list[Event] = []
        stack = list(reversed(self._roots))
        while stack:
            event = stack.pop()
            found.append(event)
            stack.extend(reversed(event.children))
        return found

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """Totals and averages by operator."""
        return averages(self._roots, group_by_input_shape)

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the events in the Trace Event Format (chrome://tracing, Perfetto)."""
        rows = [
            {"name": e.name, "ph": "X", "ts": e.start_us, "dur": e.cpu_time_total, "pid": os.getpid(), "tid": e.thread,
             "cat": "cpu_op", "args": {"Input Dims": e.shapes, "Call stack": ";".join(e.stack)}}
            for e in self.events()
        ]  # fmt: skip
        temporary = f"{os.fspath(path)}.{os.getpid()}.tmp"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": rows, "displayTimeUnit": "ms"}, file)
        os.replace(temporary, path)


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
_active: list[profile] = []


class record_function:  # noqa: N801 - PyTorch's name
    """Name a stretch of code in the profile: a context manager and a decorator."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name

    def __enter__(self) -> Self:
        self._events = [(p, p.begin(self.name)) for p in _active]
        return self

    def __exit__(self, *exc: object) -> None:
        for p, event in self._events:
            p.end(event)

    def __call__(self, function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return function(*args, **kwargs)

        return wrapped
