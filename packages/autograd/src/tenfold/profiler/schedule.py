"""Which training steps a profiler records, and where it leaves what it recorded."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from enum import Enum
from typing import Any


class ProfilerAction(Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """What to do in a step by its number: after the first ones, in turn nothing, warming up, recording.

    The last recorded step of each turn hands over its events. With `repeat` there are so many turns, else no end of them;
    with `skip_first_wait` the first turn does not wait.

    >>> chosen = schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [chosen(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise AssertionError("Invalid profiler schedule arguments")

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        step += wait if skip_first_wait else 0
        turn = wait + warmup + active
        place = step % turn
        if (repeat and step // turn >= repeat) or place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < turn - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[Any], None]:
    """An `on_trace_ready` that writes a Chrome trace into a folder, where TensorBoard's profiler looks for it."""

    def handle(prof: Any) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handle
