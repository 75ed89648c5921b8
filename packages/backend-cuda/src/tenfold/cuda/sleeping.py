"""Work that only takes time (PyTorch's `torch.cuda._sleep`): what tests and profilers give a stream to be busy with."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tenfold.cuda import runtime

SOURCE = """
extern "C" __global__ void sleep_for(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {}
}
"""


@cache
def _kernel(cupy: Any) -> Any:
    return cupy.RawKernel(SOURCE, "sleep_for")


def _sleep(cycles: int) -> None:
    """Keep the current stream busy for a number of the GPU's cycles; nothing in the interpreter, where work is done at once."""
    now, count = runtime.current(), np.int64(cycles)
    if not runtime.is_replaced():
        _kernel(now.module)((1,), (1,), (count,))
