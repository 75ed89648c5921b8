"""Elements at positions of arrays that do not lie in one piece: the operator `index` of tenfold-core."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def _wrapped(beneath: Any) -> Any:
    def select(input: Any, indices: Any) -> Any:
        found = index(input, indices)
        return beneath(input, indices) if found is NotImplemented else found

    select.__module__ = getattr(beneath, "__module__", __name__)
    return select


ACCELERATED["index"] = index
kernel(op.index, device="cpu", wrap=True, note="rows of arrays that do not lie in one piece")(_wrapped)
