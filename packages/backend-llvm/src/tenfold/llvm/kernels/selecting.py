"""Elements at positions of arrays that do not lie in one piece, and the gradients of views: operators of tenfold-core."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.indexing import independent
from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.storage import INT64

Array = np.ndarray[Any, Any]
ALL = slice(None)
FEW = 1 << 10  # numbers of a region, whose places are kept


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
def _meeting(size: tuple[int, ...], stride: tuple[int, ...]) -> Any:
    """Where the numbers of a region lie, if two of them are one in memory; None if none are, NotImplemented for many."""
    if not independent(size, stride)[1]:
        return None
    if prod(size) > FEW:
        return NotImplemented
    return sum(np.arange(n).reshape([-1] + [1] * (len(size) - 1 - d)) * stride[d] for d, n in enumerate(size))


_add_at: Any = quiet(np.add.at)


def strided_sum(input: Array, shape: Any, size: Any, stride: Any, storage_offset: int) -> Any:
    """Zeros with an array in a region of them, whose geometry was looked at before."""
    if type(input) is not np.ndarray or not input.size:
        return NotImplemented
    places = _meeting(tuple(size), tuple(stride))
    if places is NotImplemented or (places is not None and (input.itemsize == 2 or input.dtype.kind == "b")):
        return NotImplemented
    result = np.zeros(shape, input.dtype)
    if places is not None:
        _add_at(result.reshape(-1), places + storage_offset, input.reshape(places.shape))
        return result
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
