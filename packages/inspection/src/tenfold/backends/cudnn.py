"""Switches of cuDNN, which tenfold-backend-cuda uses where its extra `cudnn` is installed."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

enabled = allow_tf32 = True
benchmark = deterministic = False
benchmark_limit: int | None = 10


def _library() -> Any:
    """cuDNN's module, if tenfold-backend-cuda is there and finds it."""
    try:
        return importlib.import_module("tenfold.cuda.cudnn_graphs").library()
    except ImportError:
        return None


def is_available() -> bool:
    """Whether cuDNN is there."""
    return _library() is not None


def version() -> int | None:
    """cuDNN's version, such as 92000; None if it is not there."""
    found = _library()
    return None if found is None else int(found.backend_version())


@contextlib.contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """A context in which the switches have these values: as in PyTorch, those that are not given have the values above."""
    here, names = globals(), ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")
    given = (enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    before = {name: here[name] for name in names}
    here.update(zip(names, given))
    try:
        yield
    finally:
        here.update(before)


__all__ = ["flags", "is_available", "version"]
