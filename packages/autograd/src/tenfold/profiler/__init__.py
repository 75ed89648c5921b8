"""Where the time goes: `profile` records every operator call with its time, and prints or exports it."""

from __future__ import annotations

from tenfold.profiler.events import Event, EventAverage, EventList
from tenfold.profiler.profile import ProfilerActivity, profile, record_function

__all__ = ["Event", "EventAverage", "EventList", "ProfilerActivity", "profile", "record_function"]
