"""`torch.cuda.nvtx`: marks for NVIDIA's profilers, which refuse as those of a PyTorch without CUDA do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def mark(*arguments: Any, **options: Any) -> None:
    """RuntimeError: there is no CUDA here.

    >>> mark("here")
    Traceback (most recent call last):
    RuntimeError: NVTX functions not installed. Are you sure you have a CUDA build?
    """
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


range_push = range_pop = range_start = range_end = mark


@contextlib.contextmanager
def range(msg: str, *arguments: Any, **options: Any) -> Iterator[None]:
    """A context between two marks; entering it is the RuntimeError of `range_push`."""
    mark(msg)
    yield
