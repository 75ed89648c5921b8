"""Elements taken along a dimension at given positions, in one pass that checks them, too."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.llvm import positions
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled
from tenfold.llvm.storage import INT64

Array = np.ndarray[Any, Any]
ALL = slice(None)
GATHERED = Compiled("elements along a dimension", positions.gathered)
MEMORY = {2: "i16", 4: "i32", 8: "i64"}


def gather(input: Array, dim: int, index: Array, sparse_grad: bool) -> Any:
    """x at positions along a dimension; positions that are beyond it are left to the kernel beneath, which says so."""
    if type(index) is not np.ndarray or index.dtype != INT64.dtype or not input.ndim or not index.size:
        return NotImplemented
    if type(dim) is not int or not -input.ndim <= dim < input.ndim or index.ndim != input.ndim:
        return NotImplemented
    dim %= input.ndim
    shape, places = input.shape, index.shape
    before, after = places[:dim], places[dim + 1 :]
    if shape[:dim] != before or shape[dim + 1 :] != after:  # of the other dimensions the index may have less
        input = input[tuple([ALL if d == dim else slice(n) for d, n in enumerate(places)])]
        if input.shape[:dim] != before or input.shape[dim + 1 :] != after:
            return NotImplemented
    if not input.flags.carray:
        return NotImplemented
    index = np.ascontiguousarray(index)  # one that is expanded, for one
    out, flag, inner = np.empty(places, input.dtype), np.zeros((), np.int64), prod(after)
    arguments = (input, index, out, flag, shape[dim], places[dim], inner)
    done = GATHERED.run((MEMORY[input.itemsize],), prod(before), max(1, GRAIN_ELEMENTS // (places[dim] * inner)), *arguments)
    return out if done and not flag else NotImplemented


chosen("gather", gather, 4, "floats in one piece")
