"""Elements at positions of arrays that do not lie in one piece, and the gradients of views: operators of tenfold-core."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tenfold.cpu.indexing import independent
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.storage import INT64

Array = np.ndarray[Any, Any]
ALL = slice(None)


def index(input: Array, indices: Any) -> Any:
    """What one tensor of positions selects of rows whose order is that of memory: it comes row by row, as PyTorch has it."""
    if input.flags.c_contiguous or not input.size:
        return NotImplemented
    *before, place = indices
    if any(i is not None for i in before) or place is None or place.dtype != INT64.dtype or not place.flags.c_contiguous:
        return NotImplemented
    last = None
    for d, (size, step) in enumerate(zip(input.shape, input.strides, strict=True)):
        if d != len(before):
            if size < 2 or step <= 0 or (last is not None and step >= last):
                return NotImplemented
            last = step
    try:
        return np.ascontiguousarray(input[(*[ALL] * len(before), place)])
    except IndexError:  # the kernel beneath has the words of the error
        return NotImplemented


@lru_cache(maxsize=1 << 10)
def _meets_itself(size: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """Whether two places of a region are one in memory."""
    return bool(independent(size, stride)[1])


def strided_sum(input: Array, shape: Any, size: Any, stride: Any, storage_offset: int) -> Any:
    """Zeros with an array in a region of them, whose geometry was looked at before."""
    if type(input) is not np.ndarray or not input.size or _meets_itself(tuple(size), tuple(stride)):
        return NotImplemented
    result = np.zeros(shape, input.dtype)
    bytes_of = input.itemsize
    np.ndarray(size, input.dtype, result, storage_offset * bytes_of, [s * bytes_of for s in stride])[...] = input
    return result


def before(name: str, serve: Any, note: str) -> None:
    """Attach a function that serves some of an operator's calls, whatever their dtype, or returns NotImplemented."""

    def wrapped(beneath: Any) -> Any:
        def kernel_of(*arguments: Any) -> Any:
            found = serve(*arguments)
            return beneath(*arguments) if found is NotImplemented else found

        kernel_of.__module__ = getattr(beneath, "__module__", __name__)  # native code stands for core's kernel, and no other
        return kernel_of

    ACCELERATED[name] = serve
    kernel(getattr(op, name), device="cpu", wrap=True, note=note)(wrapped)


before("index", index, "arrays that do not lie in one piece")
before("strided_sum", strided_sum, "regions seen before")
