"""`tenfold.profiler` by PyTorch's older path `torch.autograd.profiler`, and ranges for other vendors' profilers."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Self

from tenfold.autograd.nvprof import EnforceUnique, load_nvprof, parse_nvprof_trace
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import Layer, call_inside
from tenfold.profiler import (
    Event as FunctionEvent,
    EventAverage as FunctionEventAvg,
    EventList,
    ProfilerActivity,
    profile as _profile,
    record_function,
)
from tenfold.profiler.profile import shapes_of

__all__ = [
    "EnforceUnique", "EventList", "FunctionEvent", "FunctionEventAvg", "ProfilerActivity", "emit_itt", "emit_nvtx",
    "load_nvprof", "parse_nvprof_trace", "profile", "record_function",
]  # fmt: skip


class profile(_profile):  # noqa: N801 - PyTorch's name
    """The profiler with its older options: `enabled=False` records nothing, and the results' methods are its own.

    >>> import tenfold
    >>> from tenfold.autograd import profiler
    >>> with profiler.profile() as prof:
    ...     y = tenfold.ones(2) * 2
    >>> prof.total_average().count
    2
    """

    def __init__(
        self, enabled: bool = True, *, use_cuda: bool = False, use_device: str | None = None, record_shapes: bool = False,
        with_flops: bool = False, profile_memory: bool = False, with_stack: bool = False, with_modules: bool = False,
        use_kineto: bool = False, use_cpu: bool = True, experimental_config: Any = None, acc_events: bool = False,
        custom_trace_id_callback: Any = None, post_processing_timeout_s: float | None = None, activity_filters: Any = None,
    ) -> None:  # fmt: skip
        on_device = use_cuda or use_device not in (None, "cpu")
        super().__init__(
            activities=[ProfilerActivity.CPU, *[ProfilerActivity.CUDA] * on_device],
            record_shapes=record_shapes, with_flops=with_flops, profile_memory=profile_memory, with_stack=with_stack,
            acc_events=acc_events, custom_trace_id_callback=custom_trace_id_callback,
        )  # fmt: skip
        self.enabled = enabled

    def __enter__(self) -> Self:
        return super().__enter__() if self.enabled else self

    def __exit__(self, *exc: object) -> None:
        if self.enabled:
            super().__exit__(*exc)

    @property
    def function_events(self) -> EventList:
        """Every recorded call."""
        return self.events()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all calls, each without those inside it."""
        return self.key_averages().self_cpu_time_total

    def total_average(self) -> FunctionEventAvg:
        """Everything together."""
        return self.key_averages().total_average()

    def table(self, *args: Any, **kwargs: Any) -> str:
        """A text table of all calls, one by one; see `key_averages().table`."""
        return self.events().table(*args, **kwargs)

    def __str__(self) -> str:
        return str(self.key_averages())


class emit_nvtx(Layer):  # noqa: N801 - PyTorch's name
    """A range around every operator, for NVIDIA's profilers: needs the package `nvtx` or CuPy. `load_nvprof` reads nvprof's file.

    RuntimeError on entering where neither is installed, unless `enabled` is False.
    """

    in_backward = True
    _tools = "NVTX"

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled, self.record_shapes = enabled, record_shapes

    @staticmethod
    def _functions() -> tuple[Callable[[str], Any], Callable[[], Any]] | None:
        """What opens a range and what closes it."""
        for name, push, pop in (("nvtx", "push_range", "pop_range"), ("cupy.cuda.nvtx", "RangePush", "RangePop")):
            try:
                module = importlib.import_module(name)
            except ImportError:
                continue
            return getattr(module, push), getattr(module, pop)
        return None

    def __enter__(self) -> Self:
        if self.enabled:
            found = self._functions()
            if found is None:
                raise RuntimeError(
                    f"{self._tools} not installed: no ranges are emitted; tenfold.profiler.profile records operators"
                )
            self._push, self._pop = found
            super().__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        if self.enabled:
            super().__exit__(*exc)

    def handle(self, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        sizes = f", sizes = {[shapes_of(a) for a in args]}" if self.record_shapes else ""
        self._push(operator.name + sizes)
        try:
            return call_inside(self, operator, args, kwargs)
        finally:
            self._pop()


class emit_itt(emit_nvtx):  # noqa: N801 - PyTorch's name
    """A range around every operator, for Intel's profilers: needs the package `ittapi`; otherwise as `emit_nvtx`."""

    _tools = "ITT"

    @staticmethod
    def _functions() -> tuple[Callable[[str], Any], Callable[[], Any]] | None:
        try:
            ittapi = importlib.import_module("ittapi")
        except ImportError:
            return None
        domain, tasks = ittapi.Domain("tenfold"), list[Any]()

        def push(name: str) -> None:
            tasks.append(ittapi.task(name, domain=domain))
            tasks[-1].begin()

        return push, lambda: tasks.pop().end()
