"""Operators computed on the host: copied there, run by the CPU's kernel, copied back. For what is rare and short."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.dispatch.kernels import table


def through_host(name: str) -> Callable[..., Any]:
    """The CPU's kernel for arrays of the device: synchronises, and moves every argument and result."""

    def call(*arguments: Any, out: Any = None) -> Any:
        now = runtime.current()
        _announce(name)
        arrays = [x for x in _flat(arguments) if isinstance(x, now.array_type)]
        index = now.index_of(arrays[0]) if arrays else now.current_index()
        result = getattr(table("cpu"), name)(*[_to_host(now, x) for x in arguments])
        if result is NotImplemented:
            return result
        if out is not None:
            from tenfold.cuda.kernels.conversion import write  # most calls have no out=

            write(out, now.from_host(np.asarray(result), index))
            return out
        if isinstance(result, (tuple, list)):
            return type(result)(now.from_host(np.asarray(r), index) for r in result)
        return now.from_host(np.asarray(result), index)

    call.__name__ = call.__qualname__ = name
    return call


_announced: set[str] = set()


def _announce(name: str) -> None:
    """Say once for each operator that it waits and copies; the interpreter is the host."""
    if name in _announced or runtime.is_replaced():
        return
    _announced.add(name)
    warnings.warn(
        f"{name} on device 'cuda' is computed on the host: it waits for the device and copies its arguments and result",
        stacklevel=3,
    )


def _flat(arguments: Any) -> Any:
    for x in arguments:
        if isinstance(x, (tuple, list)):
            yield from _flat(x)
        else:
            yield x


def _to_host(now: Any, value: Any) -> Any:
    if isinstance(value, now.array_type):
        return now.to_host(value)
    return [_to_host(now, v) for v in value] if isinstance(value, list) else value
