"""The profiler layer and `record_function`."""

from __future__ import annotations

import enum
import functools
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from typing import Any, Self

from tenfold.autograd import engine
from tenfold.autograd.nodes import LEAF, NUMBERS, PLACE
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import Layer, call_inside
from tenfold.profiler import exports
from tenfold.profiler.averages import EventList, averages
from tenfold.profiler.device_times import DeviceTimes
from tenfold.profiler.events import Event, in_order, number_of
from tenfold.profiler.flops import flops
from tenfold.profiler.memory import Account
from tenfold.profiler.schedule import ProfilerAction
from tenfold.tensor.tensor import Tensor
from tenfold.types.memory_format import strided


class ProfilerActivity(enum.Enum):
    """What to watch."""

    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    PrivateUse1 = 5


def _any_name() -> str:
    """32 hexadecimal digits, as PyTorch names recordings."""
    return uuid.uuid4().hex.upper()


class profile(Layer):  # noqa: N801 - PyTorch's name
    """Record every operator call of this thread inside, forward and backward, with its time.

    A composite's inner calls appear inside it, those of a backward pass inside the node that makes them. Times are those of
    this process's clock around each call; the profiler's own cost (some 5 us a call) is part of them. Where a call's tensors
    are on an accelerator, `device_time_total` is from when that came to the call until it was done with it, measured by marks
    in its queue; where the queue is empty it waits for this process, and that counts. The marks are awaited at the end.

    Args:
        activities: where these are `ProfilerActivity.CPU` alone, accelerators are not timed.
        schedule: a function of the number of the step that says what to do in it (`tenfold.profiler.schedule`).
        on_trace_ready: called with the profiler at the end of each recording.
        record_shapes: keep the shapes of the arguments.
        profile_memory: keep account of the memory that results take, which is freed when it is freed.
        with_stack: keep the lines of the program from which a call came.
        with_flops: count the operations of products, convolutions and attention.
        acc_events: keep the events of former recordings of a schedule, too.

    >>> import tenfold
    >>> from tenfold.profiler import profile
    >>> with profile(record_shapes=True) as prof:
    ...     y = tenfold.ones(4) + 1
    >>> [(e.key, e.input_shapes) for e in prof.key_averages(group_by_input_shape=True)]
    [('ones', [[]]), ('add', [[4], []])]
    """

    in_backward = True  # the engine keeps this layer on during the backward pass

    def __init__(
        self, *, activities: Any = None, schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None, record_shapes: bool = False, profile_memory: bool = False,
        with_stack: bool = False, with_flops: bool = False, with_modules: bool = False, experimental_config: Any = None,
        execution_trace_observer: Any = None, acc_events: bool = False, use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None, post_processing_timeout_s: float | None = None,
    ) -> None:  # fmt: skip
        self.record_shapes, self.with_stack, self.with_flops = record_shapes, with_stack, with_flops
        self.profile_memory, self.on_trace_ready, self.acc_events = profile_memory, on_trace_ready, acc_events
        self.schedule, self.step_num = schedule or (lambda step: ProfilerAction.RECORD), 0
        self._by_steps = schedule is not None
        chosen = [kind for a in activities or () for kind in (a if isinstance(a, dict) else (a,))]  # a dictionary has settings
        self.times_devices = bool(use_cuda) or activities is None or any(kind is not ProfilerActivity.CPU for kind in chosen)
        self.collects, self._name_trace = True, custom_trace_id_callback or _any_name
        self.current_action = self.schedule(0)
        self.metadata: dict[str, Any] = {}
        self._step: Event | None = None
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._roots: list[Event] = []
        self._open: dict[int, list[Event]] = {}  # by thread
        self._count = 0
        self._task: Any = None
        self._newest = next(NUMBERS)  # nodes made from now on have higher ones
        self._threads: dict[int, int] = {}  # of the calls that made nodes, by sequence number
        self._origin = time.perf_counter()
        self.trace_id = self._name_trace()
        self.account = Account(self._now_us)
        self.device_times = DeviceTimes(self._now_us)

    def _now_us(self) -> float:
        return (time.perf_counter() - self._origin) * 1e6

    @property
    def is_recording(self) -> bool:
        """Whether calls are recorded at this step."""
        return self.collects and self.current_action in _RECORDING

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Record from now on, or no more: calls (`ProfilerActivity.CPU`), or only the times of accelerators (another)."""
        for activity in activities:
            if activity is ProfilerActivity.CPU:
                self.collects = enable
            else:
                self.times_devices = enable

    # Recording

    def begin(self, name: str, values: Any = (), category: str = "cpu_op") -> Event:
        """Open an event inside the one that is open in this thread."""
        thread = threading.get_ident()
        around = self._open.setdefault(thread, [])
        parent = around[-1] if around else None
        self._count += 1
        event = Event(name, 0.0, depth=len(around), thread=thread, parent=parent, category=category, id=self._count)
        if self.record_shapes:
            event.input_shapes = [shapes_of(v) for v in values]
        if self.with_stack:
            event.stack = program_stack()
        (self._roots if parent is None else parent.children).append(event)
        around.append(event)
        self.account.open = event
        event.start_us = self._now_us()
        return event

    def end(self, event: Event) -> None:
        """Close the event, and what is still open inside it."""
        event.end_us = self._now_us()
        around = self._open.get(event.thread, [])
        if event in around:
            del around[around.index(event) :]
        self.account.open = around[-1] if around else None

    def handle(self, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self.is_recording:
            return operator(*args, **kwargs)
        if self.profile_memory:
            self.account.saw((args, kwargs), engine.TASKS.current is not None)
        event = self.begin(operator.name, args)
        begun = self.device_times.before(args, kwargs) if self.times_devices and not operator.view else None
        try:
            newest = self._newest
            result = call_inside(self, operator, args, kwargs)
            if (number := number_of(result)) > newest:
                event.sequence_nr, self._newest, self._threads[number] = number, max(number, self._newest), event.thread
            if self.profile_memory:
                self.account.made(event, result, engine.TASKS.current is not None)
            if self.with_flops:
                self._count_flops(event, operator.name, result, args, kwargs)
            return result
        finally:
            self.device_times.after(event, begun)
            self.end(event)

    def _count_flops(self, event: Event, name: str, result: Any, args: Any, kwargs: Any) -> None:
        """Note a call's operations, unless calls inside it have been counted."""
        if not any(e.flops for e in in_order(event.children)):
            event.flops = flops(name, result, args, kwargs)

    def around_node(self, run: Callable[..., Any], node: Any, g: Any, wanted: Any) -> Any:
        """Run one node of a backward pass (the engine asks)."""
        if not self.is_recording:
            return run(node, g, wanted)
        if engine.TASKS.current is not self._task:
            self._task = engine.TASKS.current
            self.account.backward_us.append(self._now_us())
        event = self.begin(f"autograd::engine::evaluate_function: {node.name()}", (), "backward")
        if node._number not in (LEAF, PLACE):
            event.sequence_nr, event.fwd_thread = node._number, self._threads.get(node._number)
        try:
            return run(node, g, wanted)
        finally:
            self.end(event)

    # The extent

    def __enter__(self) -> Self:
        self._begin_anew()
        _active.append(self)
        super().__enter__()
        self._begin_step()
        return self

    def __exit__(self, *exc: object) -> None:
        self._end_step()
        super().__exit__(*exc)
        _active.remove(self)
        self.account.stop()
        if self.current_action in _RECORDING:
            self._hand_over()

    def _hand_over(self) -> None:
        self.device_times.settle()
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def start(self) -> None:
        """Enter the block."""
        self.__enter__()

    def stop(self) -> None:
        """Leave the block."""
        self.__exit__(None, None, None)

    def step(self) -> None:
        """Mark the end of a training step; `schedule` says what happens in the next one."""
        self._end_step()
        self.step_num += 1
        before, self.current_action = self.current_action, self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._hand_over()
        if before is not ProfilerAction.RECORD and self.current_action in _RECORDING:  # each turn begins anew
            kept = self._roots if self.acc_events else []
            self._begin_anew()
            self._roots = kept
        self._begin_step()

    def _begin_step(self) -> None:
        if self._by_steps and self.current_action in _RECORDING:
            self._step = self.begin(f"ProfilerStep#{self.step_num}", (), "user_annotation")

    def _end_step(self) -> None:
        if self._step is not None:
            self.end(self._step)
            self._step = None

    # What was recorded

    def events(self) -> EventList:
        """Every recorded call, in order of start."""
        return EventList(in_order(self._roots))

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Totals and averages by name, and by the arguments' shapes or the innermost lines of the program if asked for."""
        return averages(self._roots, group_by_input_shape, group_by_stack_n)

    def get_trace_id(self) -> str:
        """The name of this recording: 32 hexadecimal digits, or what `custom_trace_id_callback` gave when it began."""
        return self.trace_id

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Let a function name the next recordings."""
        self._name_trace = callback

    def add_metadata(self, key: str, value: str) -> None:
        """Put a text into the trace."""
        self.metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Put a value, given as JSON, into the trace."""
        self.metadata[key] = exports.parsed(value)

    preset_metadata_json = add_metadata_json  # before it begins

    def export_chrome_trace(self, path: str | os.PathLike[str], use_python_export: bool = False) -> None:
        """Write the events in the Trace Event Format (chrome://tracing, Perfetto); compressed for a name that ends in .gz.

        `use_python_export` chooses between PyTorch's two writers, of which there is one here.
        """
        exports.chrome_trace(self.events(), path, self.account if self.profile_memory else None, self.metadata)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Write a line for each stack, `outer;inner;operator microseconds`, as programs that draw flame graphs read them."""
        exports.stacks(self._roots, path, metric)

    def export_flame_graph(self, path: str | os.PathLike[str]) -> None:
        """Draw where the time went: each call above those it makes, as wide as it took long (.svg, or .png with Pillow).

        With `with_stack` the lines of the program that lead to the calls are drawn, too.
        """
        exports.flame_graph(self, path)

    def export_memory_timeline(self, path: str | os.PathLike[str], device: str | None = None) -> None:
        """Write the memory over time by category; needs `profile_memory=True`, else RuntimeError.

        The name's ending chooses: `.svg`, `.png` (with Pillow) and `.html` draw it, `.json` has [times in us, bytes of each
        category], `.raw.json` every allocation and free; `.gz` behind them compresses.
        """
        exports.memory_timeline(self, path)


def shapes_of(value: Any) -> Any:
    """The shape of an argument, as PyTorch tells it: that of a tensor, those of a list of tensors, [] for all else.

    A nested tensor of the strided layout has no shape.
    """
    if isinstance(value, Tensor):
        return [] if value.is_nested and value.layout is strided else list(value.shape)
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        return [shapes_of(v) for v in value]
    return []


_OWN = ("dispatch", "inspection", "profiler", "autograd")  # the rooms that a call passes through on its way


@functools.cache
def _is_own(filename: str) -> bool:
    if filename.startswith("<tenfold"):
        return True
    parts = filename.replace("\\", "/").split("/")
    return "tenfold" in parts and parts[len(parts) - parts[::-1].index("tenfold") :][0] in _OWN


def program_stack() -> list[str]:
    """The lines of the program that led here, innermost first, without those of dispatch and the profiler."""
    found = []
    frame: Any = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if not _is_own(code.co_filename):
            found.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return found


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
_active: list[profile] = []


class record_function:  # noqa: N801 - PyTorch's name
    """Name a stretch of code in the profile: a context manager and a decorator.

    >>> import tenfold
    >>> from tenfold.profiler import profile, record_function
    >>> with profile() as prof, record_function("my part"):
    ...     y = tenfold.ones(4)
    >>> [e.key for e in prof.key_averages()]
    ['my part', 'ones']
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name

    def __enter__(self) -> Self:
        self._events = [(p, p.begin(self.name, (), "user_annotation")) for p in _active if p.is_recording]
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


__all__ = ["ProfilerActivity", "profile", "record_function"]
