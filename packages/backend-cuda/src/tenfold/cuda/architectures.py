"""GPUs by compute capability: which kernels are made for, and what is told of the others.

Machine code is made where it runs, for the GPU that is there, at a kernel's first use: no list of this package ends what it runs
on, but the compiler's. Source: Triton's README, "Compatibility": compute capability 8.0 and above.
"""

from __future__ import annotations

import warnings
from typing import Any

LEAST = 80
TESTED = (80, 86, 89, 90, 100, 120)  # that the tests compile for
MAJOR, MINOR = 75, 76  # cudaDeviceAttr values of a capability's parts, from the CUDA runtime's documentation


def text(capability: int) -> str:
    """A compute capability as people write it.

    >>> text(86), text(120)
    ('8.6', '12.0')
    """
    return f"{capability // 10}.{capability % 10}"


def needed(capability: int) -> str:
    """Why kernels may not work on such a GPU, or not yet; "" for those that they are tested to compile for."""
    if capability < LEAST:
        return (
            f"compute capability {text(capability)}, and Triton, which makes the kernels, supports {text(LEAST)} and above: some "
            "do not compile or load there, and half precision is slow; take another GPU (CUDA_VISIBLE_DEVICES) or the CPU"
        )
    if capability > TESTED[-1]:
        return (
            f"compute capability {text(capability)}; kernels are tested to compile up to {text(TESTED[-1])}: "
            "a newer Triton may be needed"
        )
    return ""


def warn_of_old(cupy: Any) -> None:
    """Warn of each GPU that kernels are not made for, as PyTorch does at the first use of CUDA."""
    ask = cupy.cuda.runtime.deviceGetAttribute
    for index in range(cupy.cuda.runtime.getDeviceCount()):
        capability = 10 * ask(MAJOR, index) + ask(MINOR, index)
        if capability < LEAST:
            name = cupy.cuda.runtime.getDeviceProperties(index)["name"]
            name = name.decode() if isinstance(name, bytes) else name
            supported = " ".join(f"sm_{c}" for c in TESTED)
            warnings.warn(f"cuda:{index} ({name}) has {needed(capability)}. Tested: {supported}", stacklevel=4)
