"""Where time and memory go: `profile` records every operator call, and prints, exports or draws it."""

from __future__ import annotations

from tenfold.profiler.averages import EventAverage, EventList
from tenfold.profiler.events import Event
from tenfold.profiler.profile import ProfilerActivity, profile, record_function
from tenfold.profiler.schedule import ProfilerAction, schedule, tensorboard_trace_handler


def kineto_available() -> bool:
    """Whether PyTorch's tracer of devices is there: never."""
    return False


def supported_activities() -> set[ProfilerActivity]:
    """What can be recorded: calls on the CPU."""
    return {ProfilerActivity.CPU}


__all__ = [
    "Event", "EventAverage", "EventList", "ProfilerAction", "ProfilerActivity", "kineto_available", "profile",
    "record_function", "schedule", "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip
