"""PyTorch's `torch.cuda.profiler`: the range that NVIDIA's profilers record when they are told to wait for it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tenfold.cuda import runtime


def start() -> None:
    """Let the profiler begin to record."""
    if not runtime.is_replaced():
        runtime.current().module.cuda.runtime.profilerStart()


def stop() -> None:
    """Let the profiler stop recording."""
    if not runtime.is_replaced():
        runtime.current().module.cuda.runtime.profilerStop()


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """Record a block."""
    start()
    try:
        yield
    finally:
        stop()
