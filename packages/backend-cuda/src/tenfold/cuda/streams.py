"""Streams: the order in which a GPU does its work (PyTorch's `torch.cuda.Stream`).

CuPy's pool has an arena per stream and knows nothing of a tensor's use on another stream: keep a tensor alive until the
other stream has done with it, or say so by `tensor.record_stream(stream)`. In the interpreter everything is done at once.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections import deque
from typing import Any, Self

from tenfold.cuda import interpreted_streams, meeting, runtime
from tenfold.cuda.capturing import refuse
from tenfold.cuda.devices import index_of
from tenfold.cuda.events import Event
from tenfold.dispatch.devices import device

CUDA = 1  # the number of the device type among PyTorch's
KEPT = 32  # streams of a GPU and a priority: as in PyTorch, who asks for more gets one of these again
_kept: dict[tuple[int, int], deque[Any]] = {}
runtime.ON_REPLACE.append(_kept.clear)
runtime.AFTER_FORK.append(_kept.clear)
LOWEST, HIGHEST = 0, -5  # priorities; the driver takes what is outside of its range for the nearest that it has


def _pooled(cuda: Any, index: int, priority: int) -> Any:
    """A CUDA stream of the current GPU, which is never destroyed.

    The pool keeps the memory of a stream that is gone for the next one of that handle, whose work would not wait for what the
    other one still has to do in it.
    """
    kept = _kept.setdefault((index, priority), deque())
    if len(kept) < KEPT:
        kept.append(cuda.Stream(non_blocking=True, priority=priority))
    else:
        kept.rotate(-1)
    return kept[-1]


class Stream:
    """A queue of work on a GPU; `priority` below 0 is served first. `with stream:` sends the work of a block to it.

    By `stream_id`, with `device_index`, a stream is named that there is already.
    """

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        known = kwargs.get("stream_id")
        self.device_index = index_of(kwargs.get("device_index", device))
        self.cupy_stream: Any = kwargs.get("cupy_stream")
        self._contexts: list[StreamContext] = []
        if self.cupy_stream is None and runtime.is_replaced():
            self.cupy_stream = interpreted_streams.ImmediateStream(known)
        elif self.cupy_stream is None:
            cuda = runtime.current().module.cuda
            with cuda.Device(self.device_index):
                if known is None:
                    self.cupy_stream = _pooled(cuda, self.device_index, max(HIGHEST, min(LOWEST, priority)))
                else:
                    self.cupy_stream = cuda.ExternalStream(known, self.device_index) if known else cuda.Stream.null
        self._priority = min(LOWEST, priority)

    @property
    def priority(self) -> int:
        """0, or below it for one that is served first."""
        if runtime.is_replaced() or not self.cuda_stream:
            return self._priority
        return int(runtime.current().module.cuda.runtime.streamGetPriority(self.cuda_stream))

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """(the lowest, the highest priority): the ones that GPUs have from compute capability 7.0 on."""
        return LOWEST, HIGHEST

    @property
    def device_type(self) -> int:
        """The number of the device type "cuda" among PyTorch's: 1."""
        return CUDA

    @property
    def _as_parameter_(self) -> Any:
        return ctypes.c_void_p(self.cuda_stream)

    @property
    def device(self) -> Any:
        """The device whose work it queues."""
        return device("cuda", self.device_index)

    @property
    def cuda_stream(self) -> int:
        """The stream's handle as CUDA's libraries take it."""
        return int(self.cupy_stream.ptr)

    stream_id = native_handle = cuda_stream

    def is_capturing(self) -> bool:
        """Whether its work is being recorded into a graph."""
        return bool(self.cupy_stream.is_capturing())

    def synchronize(self) -> None:
        """Wait until all its work is done."""
        refuse("a stream cannot be waited for", "wait after the capture")
        with _on(self):
            self.cupy_stream.synchronize()

    def query(self) -> bool:
        """Whether all its work is done."""
        with _on(self):
            return bool(self.cupy_stream.done)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event (a new one when none is given) and return it."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Do further work only after an event."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Do further work only after all work that another stream has now."""
        self.wait_event(stream.record_event())

    def __enter__(self) -> Self:
        inside = StreamContext(self)
        inside.__enter__()
        self._contexts.append(inside)
        return self

    def __exit__(self, *exc: object) -> None:
        self._contexts.pop().__exit__(*exc)

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
        return Stream(index, cupy_stream=interpreted_streams.current())
    cupy = runtime.current().module
    with cupy.cuda.Device(index):
        return Stream(index, cupy_stream=cupy.cuda.get_current_stream())


class ExternalStream(Stream):
    """A stream that something else has made, given by its handle; whoever made it keeps it alive."""

    def __init__(self, stream_ptr: int, device: Any = None, **kwargs: Any) -> None:
        super().__init__(device, stream_id=stream_ptr)


def get_stream_from_external(data_ptr: int, device: Any = None) -> Stream:
    """`ExternalStream`, as a function."""
    return ExternalStream(data_ptr, device)


def default_stream(device: Any = None) -> Stream:
    """The stream that a GPU's work goes to when none is chosen."""
    index = index_of(device)
    if runtime.is_replaced():
        return Stream(index, cupy_stream=interpreted_streams.DEFAULT)
    return Stream(index, cupy_stream=runtime.current().module.cuda.Stream.null)


class StreamContext:
    """Sends the work of a block to a stream; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._inside: list[contextlib.ExitStack] = []

    def __enter__(self) -> None:
        inside = contextlib.ExitStack()
        if self.stream is not None:
            meeting.leave(self.stream.device_index, current_stream)
            inside.enter_context(_on(self.stream))
            inside.enter_context(self.stream.cupy_stream)
            inside.callback(meeting.leave, self.stream.device_index, current_stream)
        self._inside.append(inside)

    def __exit__(self, *exc: object) -> None:
        self._inside.pop().close()


def stream(stream: Stream | None) -> StreamContext:
    """Send the work of a block to a stream; None changes nothing."""
    return StreamContext(stream)


def set_stream(stream: Stream | None) -> None:
    """Send the work of a stream's GPU to it from now on; None changes nothing. `with stream(...)` goes back by itself."""
    if stream is not None:
        meeting.leave(stream.device_index, current_stream)
        with _on(stream):
            stream.cupy_stream.use()


def _on(stream: Stream) -> Any:
    """A context in which a stream's GPU is the current one."""
    if runtime.is_replaced():
        return contextlib.nullcontext()
    return runtime.current().module.cuda.Device(stream.device_index)
