"""Operators of tenfold-scientific: Fourier transforms by cuFFT."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from tenfold.cuda import capturing, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op

# The array module's name for a divisor depends on the direction: "backward" leaves the forward transform as it is.
FORWARD = {"none": "backward", "root": "ortho", "count": "forward"}
BACKWARD = {"none": "forward", "root": "ortho", "count": "backward"}


class _Last(threading.local):
    """Of each GPU the stream of the last transform, and a mark behind it: CuPy keeps plans for each thread."""

    def __init__(self) -> None:
        self.marks: dict[int, tuple[int, Any]] = {}


_LAST = _Last()
runtime.ON_REPLACE.append(_LAST.marks.clear)


def in_turn(transform: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which waits for the last transform where that was another stream's: both may be by one plan of CuPy's, and
    a plan has one piece of memory to work in.
    """

    @wraps(transform)
    def call(*arguments: Any) -> Any:
        if runtime.is_replaced():
            return transform(*arguments)
        if capturing.CAPTURES and capturing.current() is not None:
            return _recorded(transform, arguments)
        cuda = runtime.current().module.cuda
        index, stream = cuda.runtime.getDevice(), cuda.get_current_stream()
        last, mark = _LAST.marks.get(index, (stream.ptr, None))
        if last != stream.ptr:
            stream.wait_event(mark)
        if mark is None or last != stream.ptr:
            mark = cuda.Event(disable_timing=True)
        found = transform(*arguments)
        mark.record(stream)
        _LAST.marks[index] = stream.ptr, mark
        return found

    return call


def _recorded(transform: Callable[..., Any], arguments: Any) -> Any:
    """The transform into a graph, by plans of the graph's own, which it keeps: CuPy gives a plan up for later ones."""
    plans = runtime.current().module.fft.config.get_plan_cache()
    plans.clear()
    try:
        return transform(*arguments)
    finally:
        capturing.hold(*[node.plan for _, node in plans])
        plans.clear()


@kernel(op.complex_transform, device="cuda")
@in_turn
def complex_transform(input: Any, dim: Any, forward: bool, divisor: str) -> Any:
    transform, norm = (xp.fft.fft, FORWARD[divisor]) if forward else (xp.fft.ifft, BACKWARD[divisor])
    for d in reversed(dim):
        input = transform(input, axis=d, norm=norm)
    return input if dim else input.astype("c16" if input.dtype.itemsize * (1 + (input.dtype.kind != "c")) == 16 else "c8")


@kernel(op.real_transform, device="cuda")
@in_turn
def real_transform(input: Any, dim: int, divisor: str) -> Any:
    return xp.fft.rfft(input, axis=dim, norm=FORWARD[divisor])


@kernel(op.real_inverse_transform, device="cuda")
@in_turn
def real_inverse_transform(input: Any, dim: int, size: int, divisor: str) -> Any:
    return xp.fft.irfft(input, size, axis=dim, norm=BACKWARD[divisor])
