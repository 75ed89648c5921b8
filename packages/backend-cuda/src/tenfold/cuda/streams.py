"""Streams and events: the order in which a GPU does its work, and marks in it (PyTorch's classes of the same names).

CuPy's pool has an arena per stream and knows nothing of a tensor's use on another stream: keep a tensor alive until the
other stream has done with it, or say so by `tensor.record_stream(stream)`. In the interpreter everything is done at once.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.capturing import refuse
from tenfold.cuda.devices import index_of
from tenfold.dispatch.devices import device


class Event:
    """A mark in a stream, to wait for or to time.

    With enable_timing, `start.elapsed_time(end)` gives milliseconds between two recorded events.
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        if interprocess:
            raise ValueError("Event: events for several processes are not supported; leave interprocess=False")
        self.enable_timing = enable_timing
        self._recorded_s: float | None = None
        self._blocking = blocking
        self._event: Any = None

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark at the end of a stream's work (None: the current stream's)."""
        self._recorded_s = time.perf_counter()
        stream = stream or current_stream()
        if stream.cupy_stream is None:
            return
        cuda = runtime.current().module.cuda
        with cuda.Device(stream.device_index):
            if self._event is None:  # made here, as CUDA's events belong to the GPU that was current when they were made
                self._event = cuda.Event(block=self._blocking, disable_timing=not self.enable_timing)
            self._event.record(stream.cupy_stream)

    def synchronize(self) -> None:
        """Wait until the work before the mark is done."""
        if self._event is not None:
            refuse("an event cannot be waited for", "wait after the capture, or let a stream wait (wait_event)")
            self._event.synchronize()

    def query(self) -> bool:
        """Whether the work before the mark is done."""
        return self._event is None or bool(self._event.done)

    def wait(self, stream: Stream | None = None) -> None:
        """Let a stream (None: the current one) wait for the mark before its further work."""
        (stream or current_stream()).wait_event(self)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to `end_event`, both recorded and done.

        Raises: RuntimeError if one was made without enable_timing or not recorded.
        """
        for event in (self, end_event):
            if not event.enable_timing or event._recorded_s is None:
                raise RuntimeError("elapsed_time: both events must be made with enable_timing=True and recorded")
        if self._event is None:
            assert self._recorded_s is not None
            assert end_event._recorded_s is not None
            return (end_event._recorded_s - self._recorded_s) * 1e3
        return float(runtime.current().module.cuda.get_elapsed_time(self._event, end_event._event))


class Stream:
    """A queue of work on a GPU; `priority` below 0 is served first."""

    def __init__(self, device: Any = None, priority: int = 0, *, cupy_stream: Any = None) -> None:
        self.device_index = index_of(device)
        self.priority = priority
        self.cupy_stream = cupy_stream
        if cupy_stream is None and not runtime.is_replaced():
            cupy = runtime.current().module
            with cupy.cuda.Device(self.device_index):
                self.cupy_stream = cupy.cuda.Stream(non_blocking=True, priority=priority)

    @property
    def device(self) -> Any:
        """The device whose work it queues."""
        return device("cuda", self.device_index)

    @property
    def cuda_stream(self) -> int:
        """The stream's handle as CUDA's libraries take it."""
        return 0 if self.cupy_stream is None else int(self.cupy_stream.ptr)

    def synchronize(self) -> None:
        """Wait until all its work is done."""
        if self.cupy_stream is not None:
            refuse("a stream cannot be waited for", "wait after the capture")
            self.cupy_stream.synchronize()

    def query(self) -> bool:
        """Whether all its work is done."""
        return self.cupy_stream is None or bool(self.cupy_stream.done)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event (a new one when none is given) and return it."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Do further work only after an event."""
        if self.cupy_stream is not None and event._event is not None:
            self.cupy_stream.wait_event(event._event)

    def wait_stream(self, stream: Stream) -> None:
        """Do further work only after all work that another stream has now."""
        self.wait_event(stream.record_event())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (other.device_index, other.cuda_stream) == (self.device_index, self.cuda_stream)

    def __hash__(self) -> int:
        return hash((self.device_index, self.cuda_stream))

    def __repr__(self) -> str:
        return f"<tenfold.cuda.Stream device=cuda:{self.device_index} cuda_stream={self.cuda_stream:#x}>"


def current_stream(device: Any = None) -> Stream:
    """The stream that takes a GPU's work now."""
    index = index_of(device)
    if runtime.is_replaced():
        return Stream(index)
    cupy = runtime.current().module
    with cupy.cuda.Device(index):
        return Stream(index, cupy_stream=cupy.cuda.get_current_stream())


def ExternalStream(stream_ptr: int, device: Any = None) -> Stream:
    """A stream that something else has made, given by its handle; whoever made it keeps it alive."""
    index = index_of(device)
    if runtime.is_replaced():
        return Stream(index)
    return Stream(index, cupy_stream=runtime.current().module.cuda.ExternalStream(stream_ptr, index))


def get_stream_from_external(data_ptr: int, device: Any = None) -> Stream:
    """`ExternalStream`, as a function."""
    return ExternalStream(data_ptr, device)


def default_stream(device: Any = None) -> Stream:
    """The stream that a GPU's work goes to when none is chosen."""
    index = index_of(device)
    return Stream(index) if runtime.is_replaced() else Stream(index, cupy_stream=runtime.current().module.cuda.Stream.null)


class StreamContext:
    """Sends the work of a block to a stream; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._inside: list[contextlib.ExitStack] = []

    def __enter__(self) -> None:
        inside = contextlib.ExitStack()
        if self.stream is not None and self.stream.cupy_stream is not None:
            inside.enter_context(runtime.current().module.cuda.Device(self.stream.device_index))
            inside.enter_context(self.stream.cupy_stream)
        self._inside.append(inside)

    def __exit__(self, *exc: object) -> None:
        self._inside.pop().close()


def stream(stream: Stream | None) -> StreamContext:
    """Send the work of a block to a stream; None changes nothing."""
    return StreamContext(stream)


def set_stream(stream: Stream | None) -> None:
    """Send the work of a stream's GPU to it from now on; None changes nothing. `with stream(...)` goes back by itself."""
    if stream is None or stream.cupy_stream is None:
        return
    with runtime.current().module.cuda.Device(stream.device_index):
        stream.cupy_stream.use()
