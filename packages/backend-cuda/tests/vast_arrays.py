"""Arrays larger than this machine's memory, of which only what is touched takes any, and launches of which few programs run.

The interpreter runs the first two and the last two programs of a grid's dimension: where a number of 32 bits overflows, or a
program takes another's place, the last ones go wrong.
"""

from __future__ import annotations

import builtins
import math
import mmap

import numpy as np
import pytest

NO_RESERVE = 0x4000  # Linux: MAP_NORESERVE
ENDS = 2  # programs at either end


def vast(shape, dtype=np.float32):
    """An array of zeros that takes no memory yet."""
    size = max(math.prod(shape) * np.dtype(dtype).itemsize, 1)
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    return np.ndarray(shape, dtype, memory)


@pytest.fixture
def few_programs(monkeypatch):
    """Launches that run at their ends only, and results that take memory where they are touched."""
    from triton.runtime import interpreter as triton_interpreter

    from tenfold.cuda import interpreter

    def at_the_ends(*given):
        whole = builtins.range(*given)
        if len(given) > 1 or len(whole) <= 2 * ENDS:  # a program's own loop, or a grid that is short anyway
            return whole
        return [*whole[:ENDS], *whole[-ENDS:]]

    monkeypatch.setattr(triton_interpreter, "range", at_the_ends, raising=False)
    monkeypatch.setattr(interpreter.InterpretedRuntime, "empty", lambda self, shape, dtype, index: vast(tuple(shape), dtype))
