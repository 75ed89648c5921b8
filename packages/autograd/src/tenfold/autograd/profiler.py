"""`tenfold.profiler` by PyTorch's older path `torch.autograd.profiler`."""

from __future__ import annotations

from typing import Self

from tenfold.profiler import (
    Event as FunctionEvent,
    EventAverage as FunctionEventAvg,
    EventList,
    ProfilerActivity,
    profile,
    record_function,
)

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "ProfilerActivity",
    "profile",
    "emit_itt",
    "emit_nvtx",
    "record_function",
]


class emit_nvtx:  # noqa: N801 - PyTorch's name
    """Ranges around operators for NVIDIA's profilers: RuntimeError on entering, unless `enabled` is False."""

    _tools = "NVTX"

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled, self.record_shapes = enabled, record_shapes

    def __enter__(self) -> Self:
        if self.enabled:
            raise RuntimeError(f"{self._tools} not installed: no ranges are emitted; tenfold.profiler.profile records operators")
        return self

    def __exit__(self, *exc: object) -> None:
        pass


class emit_itt(emit_nvtx):  # noqa: N801 - PyTorch's name
    """Ranges around operators for Intel's profilers: RuntimeError on entering, unless `enabled` is False."""

    _tools = "ITT"
