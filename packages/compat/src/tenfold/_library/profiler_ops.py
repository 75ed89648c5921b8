"""`torch.ops.profiler`: a stretch of code named in the profile by two calls, as graphs of programs have it."""

from __future__ import annotations

import importlib
from typing import Any

import tenfold
from tenfold import Tensor


class _RecordFunction:
    """What `_record_function_enter_new` gives, for `_record_function_exit` to end."""

    def __init__(self, name: str, args: str | None) -> None:
        self.recorded = importlib.import_module("tenfold.profiler").record_function(name, args).__enter__()


def _record_function_enter_new(name: str, args: str | None = None) -> _RecordFunction:
    """Begin a stretch of code of this name."""
    return _RecordFunction(name, args)


def _record_function_enter(name: str, args: str | None = None) -> Tensor:
    """Begin a stretch of code of this name; the tensor says which, and has no numbers to read."""
    handle: Any = tenfold.zeros(1, dtype=tenfold.uint8)
    handle._stretch = _RecordFunction(name, args)
    return handle  # type: ignore[no-any-return]


def _record_function_exit(handle: Any) -> None:
    """End the stretch of code."""
    stretch = handle if isinstance(handle, _RecordFunction) else handle._stretch
    stretch.recorded.__exit__(None, None, None)
