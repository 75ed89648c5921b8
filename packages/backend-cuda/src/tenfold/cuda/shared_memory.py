"""How much shared memory a program may have on a GPU, and what happens where a kernel asks for more.

227 KiB on an H100, 163 on an A100, 99 on GPUs of compute capability 8.6, 8.9 and 12.0 (CUDA programming guide, "Technical
Specifications per Compute Capability"). Fewer blocks of a loop's operands on their way at a time need less of it and give the
same numbers; where that is not enough, whoever chose the block's sizes takes the next (tuning.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

# Above this many bytes of shared memory a kernel must ask for it (CUDA programming guide, "Shared Memory").
PLAIN_BYTES = 48 * 1024
MOST_BY_REQUEST = 97  # cudaDevAttrMaxSharedMemoryPerBlockOptin
_limits: dict[int, int] = {}


class TooLarge(RuntimeError):
    """A kernel needs more shared memory than a program may have on this GPU."""


def limit(cupy: Any, index: int) -> int:
    """Bytes that a program may ask for on a GPU."""
    found = _limits.get(index)
    if found is None:
        found = _limits[index] = int(cupy.cuda.runtime.deviceGetAttribute(MOST_BY_REQUEST, index))
    return found


def fitting(cupy: Any, kernel: Any, index: int, compiled: Callable[[Any], Any]) -> Any:
    """What `compiled` makes of the kernel, with as many stages as the GPU has shared memory for.

    Raises: TooLarge where one stage is too much.
    """
    found = compiled(kernel)
    if int(found.metadata.shared) <= PLAIN_BYTES:
        return found
    most = limit(cupy, index)
    while int(found.metadata.shared) > most and getattr(kernel, "stages", 1) > 1:
        kernel = replace(kernel, stages=kernel.stages - 1)
        found = compiled(kernel)
    if int(found.metadata.shared) > most:
        raise TooLarge(
            f"{kernel.name}: its programs need {found.metadata.shared} bytes of shared memory, and GPU {index} has {most}; "
            "run the operator on the CPU (x.cpu()), or with fewer features or another dtype"
        )
    return found
