"""Ranges and marks that NVIDIA's profilers show: PyTorch's `torch.cuda.nvtx`, by CuPy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tenfold.cuda import availability

_depth = [0]
GREEN = 0xFF76B900  # alpha, red, green, blue, as NVTX has colours: CuPy asks for one


def _library() -> Any:
    cupy, reason = availability.load_cupy()
    if cupy is None:
        raise RuntimeError(f"nvtx: NVTX functions not installed: {reason}")
    return cupy.cuda.nvtx


def range_push(msg: str) -> int:
    """Begin a range inside the one that is open; its depth, from 0."""
    _library().RangePush(msg)
    _depth[0] += 1
    return _depth[0] - 1


def range_pop() -> int:
    """End the range begun last; its depth."""
    _library().RangePop()
    _depth[0] -= 1
    return _depth[0]


def mark(msg: str) -> None:
    """A mark at this moment."""
    _library().Mark(msg)


def range_start(msg: str) -> int:
    """Begin a range that may overlap others and end in another thread; its number, for `range_end`."""
    return int(_library().RangeStart(msg, GREEN))


def range_end(range_id: int) -> None:
    """End a range that `range_start` began."""
    _library().RangeEnd(range_id)


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A range around a block; the message is formatted with the arguments."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()


__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]
