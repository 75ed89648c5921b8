"""What a profiler records: one event for each call, each node of a backward pass and each stretch of code that has a name."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from tenfold.autograd.nodes import LEAF, PLACE
from tenfold.profiler.formats import format_time


class DeviceType(IntEnum):
    """What an event is of, by PyTorch's numbers."""

    CPU, CUDA, XPU, MPS, Meta, HPU, MTIA, PrivateUse1 = 0, 1, 12, 13, 14, 15, 19, 20


class Interval(NamedTuple):
    """From when to when, in microseconds since the profiler started."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it took."""
        return self.end - self.start


class Told:
    """What PyTorch's events and their averages say besides: times as texts, and what is the same for all of ours."""

    __slots__ = ()
    is_async = is_legacy = is_remote = False
    node_id = -1
    overload_name = ""
    device_type = DeviceType.CPU  # a call is of the CPU, whatever it gives an accelerator to do

    cpu_time_str = property(lambda self: format_time(self.cpu_time))
    cpu_time_total_str = property(lambda self: format_time(self.cpu_time_total))
    self_cpu_time_total_str = property(lambda self: format_time(self.self_cpu_time_total))
    device_time_str = property(lambda self: format_time(self.device_time))
    device_time_total_str = property(lambda self: format_time(self.device_time_total))
    self_device_time_total_str = property(lambda self: format_time(self.self_device_time_total))
    cuda_time = property(lambda self: self.device_time)  # by their older names
    cuda_time_total = property(lambda self: self.device_time_total)
    self_cuda_time_total = property(lambda self: self.self_device_time_total)
    self_cuda_memory_usage = property(lambda self: self.self_device_memory_usage)


@dataclass(slots=True, eq=False)
class Event(Told):
    """One call: times in microseconds since the profiler started; children are the calls inside it.

    `device_us` is from when an accelerator came to the call until it was done with it; None where that was not measured.
    """

    name: str
    start_us: float
    end_us: float = 0.0
    depth: int = 0
    thread: int = 0
    input_shapes: list[Any] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)  # innermost first
    children: list[Event] = field(default_factory=list)
    parent: Event | None = None
    category: str = "cpu_op"  # or "user_annotation", "backward"
    self_cpu_memory_usage: int = 0  # bytes of results that came to be and were freed, by this call and not those inside it
    flops: int = 0
    id: int = 0
    use_device: str | None = None  # the accelerator that it is of
    device_line: str = ""  # and which of its queues
    device_start_us: float = 0.0
    device_us: float | None = None
    self_device_memory_usage: int = 0
    sequence_nr: int = -1  # of the node that the call made, or that the backward pass runs here
    fwd_thread: int | None = None  # of a node in the backward pass, where the call was that made it

    @property
    def is_user_annotation(self) -> bool:
        """Whether the program named it, by `record_function`."""
        return self.category == "user_annotation"

    @property
    def key(self) -> str:
        """The name by which calls are grouped."""
        return "ProfilerStep*" if self.name.startswith("ProfilerStep#") else self.name

    @property
    def cpu_children(self) -> list[Event]:
        """The calls inside it."""
        return self.children

    @property
    def cpu_parent(self) -> Event | None:
        """The call that it is inside of."""
        return self.parent

    @property
    def time_range(self) -> Interval:
        """From when to when."""
        return Interval(self.start_us, self.end_us)

    @property
    def cpu_time_total(self) -> float:
        return self.end_us - self.start_us

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.children)

    @property
    def cpu_memory_usage(self) -> int:
        """Bytes that came to be, less those that were freed, between its begin and its end."""
        return self.self_cpu_memory_usage + sum(c.cpu_memory_usage for c in self.children)

    @property
    def device_memory_usage(self) -> int:
        """The same of an accelerator's memory."""
        return self.self_device_memory_usage + sum(c.device_memory_usage for c in self.children)

    @property
    def device_time_total(self) -> float:
        """Microseconds on an accelerator; those of the calls inside it where it was not timed itself."""
        return sum(c.device_time_total for c in self.children) if self.device_us is None else self.device_us

    @property
    def device_time(self) -> float:
        return self.device_time_total

    @property
    def self_device_time_total(self) -> float:
        """Without those of the calls inside it."""
        return 0.0 if self.device_us is None else max(0.0, self.device_us - sum(c.device_time_total for c in self.children))

    @property
    def count(self) -> int:
        return 1


def number_of(result: Any) -> int:
    """The sequence number of the node that a result came from; -1 of a leaf and of what no node made."""
    first = result[0] if isinstance(result, (tuple, list)) and result else result
    node = getattr(first, "_node", None)
    number = getattr(getattr(node, "parent", node), "_number", -1)  # a place among several results has its node's
    return -1 if number in (LEAF, PLACE) else int(number)


def in_order(roots: list[Event]) -> list[Event]:
    """The events and all inside them, in order of start."""
    found: list[Event] = []
    stack = list(reversed(roots))
    while stack:
        event = stack.pop()
        found.append(event)
        stack.extend(reversed(event.children))
    return found


__all__ = ["DeviceType", "Event", "Interval", "Told", "in_order"]
