"""Where time and memory go: `profile` records every operator call, and prints, exports or draws it."""

from __future__ import annotations

from tenfold.dispatch.devices import accelerator_backend
from tenfold.profiler.averages import EventAverage, EventList
from tenfold.profiler.events import DeviceType, Event
from tenfold.profiler.profile import ProfilerActivity, profile, record_function
from tenfold.profiler.schedule import ProfilerAction, schedule, tensorboard_trace_handler


def kineto_available() -> bool:
    """Whether PyTorch's tracer of devices is there: never."""
    return False


def supported_activities() -> set[ProfilerActivity]:
    """What can be recorded: calls, and an accelerator's times where there is one whose backend tells them."""
    timed = hasattr(accelerator_backend(), "timer")
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA} if timed else {ProfilerActivity.CPU}


__all__ = [
    "DeviceType", "Event", "EventAverage", "EventList", "ProfilerAction", "ProfilerActivity", "kineto_available", "profile",
    "record_function", "schedule", "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip
