"""Where masks hold, and what they select of arrays that do not lie in one piece."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.kernels.selecting import before
from tenfold.llvm.marked import positions
from tenfold.llvm.programs import Compiled

Array = np.ndarray[Any, Any]
POSITIONS = Compiled("positions where a mask holds", positions)
FEW = 400  # elements up to which NumPy's way takes less time


def nonzero(input: Array) -> Any:
    """The positions of what is not zero, which lie dimension by dimension, as PyTorch's."""
    if type(input) is not np.ndarray or not input.ndim:
        return NotImplemented
    if input.size < FEW:
        return np.array(input.nonzero()).T
    if input.dtype.kind not in "bifu":
        return NotImplemented
    mask = input if input.dtype.kind == "b" else input != 0
    if not mask.flags.c_contiguous:
        mask = mask.copy()
    count, shape = int(np.count_nonzero(mask)), mask.shape
    out = np.empty((mask.ndim, count), np.int64)
    if not count:
        return out.T
    *leading, length = shape
    done = POSITIONS.run((), 1, 1, mask, out, count, prod(leading), length, len(leading), *leading)
    return out.T if done else NotImplemented


before("nonzero", nonzero, "numbers and truth values")


def masked(input: Array, indices: Any) -> Any:
    """What a mask of an array's own shape selects where one of them is broadcast, or lies otherwise than row by row."""
    mask = indices[0]
    if len(indices) != 1 or type(mask) is not np.ndarray or mask.dtype.kind != "b" or mask.shape != input.shape:
        return NotImplemented
    if input.flags.c_contiguous and mask.flags.c_contiguous:
        return NotImplemented
    return np.ascontiguousarray(input)[np.ascontiguousarray(mask)]


before("index", masked, "masks of what does not lie in one piece")
