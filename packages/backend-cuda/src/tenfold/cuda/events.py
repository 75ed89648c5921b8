"""Events: marks in the order of a GPU's work (PyTorch's `torch.cuda.Event`). In the interpreter everything is done at once."""

from __future__ import annotations

import ctypes
import time
from typing import TYPE_CHECKING, Any, Self

from tenfold.cuda import runtime
from tenfold.cuda.capturing import refuse
from tenfold.cuda.devices import index_of
from tenfold.dispatch.devices import device

if TYPE_CHECKING:
    from tenfold.cuda.streams import Stream


class Event:
    """A mark in a stream, to wait for or to time.

    With enable_timing, `start.elapsed_time(end)` gives milliseconds between two recorded events. With interprocess, and no
    timing, `ipc_handle()` can be sent to another process, whose `from_ipc_handle` gives the same event. CUDA's event is made
    at the first record, on the GPU of its stream. `external` changes nothing: the driver's graphs take marks as what orders them.

    Raises: ValueError for an event of several processes with times, as CUDA has none.
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        if interprocess and enable_timing:
            raise ValueError("Event: an event for several processes has no times; leave enable_timing=False")
        self.enable_timing = enable_timing
        self.external = external
        self._recorded_s: float | None = None
        self._blocking, self._interprocess = blocking, interprocess
        self._event: Any = None
        self._device_index: int | None = None

    def _made(self, index: int) -> Any:
        """CUDA's event, which belongs to the GPU that was current when it was made."""
        if self._event is None:
            cuda = runtime.current().module.cuda
            with cuda.Device(index):
                self._event = cuda.Event(self._blocking, not self.enable_timing, self._interprocess)
            self._device_index = index
        return self._event

    @property
    def device(self) -> Any:
        """The device in whose stream it was recorded; None before."""
        return None if self._device_index is None else device("cuda", self._device_index)

    @property
    def cuda_event(self) -> int:
        """The event's handle as CUDA's libraries take it; 0 before it was recorded."""
        return 0 if self._event is None else int(self._event.ptr)

    event_id = cuda_event

    @property
    def _as_parameter_(self) -> Any:
        return ctypes.c_void_p(self.cuda_event)

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark at the end of a stream's work (None: the current stream's)."""
        index, queue = _queue(stream)
        self._recorded_s = time.perf_counter()
        if queue is None:
            self._device_index = index
            return
        event = self._made(index)
        if self._device_index != index:
            raise RuntimeError(
                f"Event device {self._device_index} does not match recording stream's device {index}: make an event for each GPU"
            )
        with runtime.current().module.cuda.Device(index):
            event.record(queue)

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
        index, queue = _queue(stream)
        if queue is not None and self._event is not None:
            with runtime.current().module.cuda.Device(index):  # every GPU has a default stream of the handle 0
                queue.wait_event(self._event)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to `end_event`, both recorded and done.

        Raises: RuntimeError if one was made without enable_timing, not recorded, or is not done: wait for it first; ValueError if
        one is of another device.
        """
        pair = (self, end_event)
        if not all(event.enable_timing for event in pair):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        if any(event._recorded_s is None for event in pair):
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        if self._event is None:
            assert self._recorded_s is not None
            assert end_event._recorded_s is not None
            return (end_event._recorded_s - self._recorded_s) * 1e3
        if not all(event.query() for event in pair):
            raise RuntimeError("Both events must be completed before calculating elapsed time: synchronize() the later one.")
        return float(runtime.current().module.cuda.get_elapsed_time(self._event, end_event._event))

    def ipc_handle(self) -> bytes:
        """What another process makes this event of, by `from_ipc_handle`.

        Raises: RuntimeError for an event that was made without interprocess=True, and in the interpreter.
        """
        if not self._interprocess or runtime.is_replaced():
            raise RuntimeError("ipc_handle: only events that a GPU has, made with interprocess=True, can be sent")
        index = index_of(None) if self._device_index is None else self._device_index
        made = self._made(index)
        return bytes(runtime.current().module.cuda.runtime.ipcGetEventHandle(made.ptr))

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: bytes) -> Self:
        """The event whose handle another process has sent, on a GPU.

        Raises: RuntimeError in the interpreter.
        """
        index = index_of(device)
        if runtime.is_replaced():
            raise RuntimeError("from_ipc_handle: this process interprets kernels; events of other processes are a GPU's")
        cuda = runtime.current().module.cuda
        found = cls(interprocess=True)
        with cuda.Device(index):
            found._event = _Opened(cuda, cuda.runtime.ipcOpenEventHandle(handle))
        found._device_index, found._recorded_s = index, time.perf_counter()
        return found

    def __repr__(self) -> str:
        return f"<tenfold.cuda.Event {self.cuda_event:#x}>" if self._event is not None else "<tenfold.cuda.Event uninitialized>"


def _queue(stream: Stream | None) -> tuple[int, Any]:
    """(the GPU, CuPy's stream, None in the interpreter) of a stream; None: of the current one."""
    if stream is not None:
        return stream.device_index, None if runtime.is_replaced() else stream.cupy_stream
    now = runtime.current()
    return int(now.current_index()), None if runtime.is_replaced() else now.module.cuda.get_current_stream()


class _Opened:
    """CuPy's `Event` of a handle that exists already."""

    def __init__(self, cuda: Any, pointer: int) -> None:
        self.ptr = pointer
        self._query, self._synchronize, self._record, self._destroy = (
            cuda.runtime.eventQuery, cuda.runtime.eventSynchronize, cuda.runtime.eventRecord, cuda.runtime.eventDestroy,
        )  # fmt: skip

    @property
    def done(self) -> bool:
        return int(self._query(self.ptr)) == 0

    def synchronize(self) -> None:
        self._synchronize(self.ptr)

    def record(self, stream: Any) -> None:
        self._record(self.ptr, stream.ptr)

    def __del__(self) -> None:
        self._destroy(self.ptr)
