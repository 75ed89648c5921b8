"""Rows added up at places, as the gradient of an index has them: a form of the operator `index_put` of tenfold-core."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.positions import ADDED
from tenfold.llvm.programs import suitable
from tenfold.llvm.storage import FLOAT32, FLOAT64, INT64

Array = np.ndarray[Any, Any]
NARROWEST = 8  # numbers of a row
LEAST = 1 << 10  # numbers in all


def index_put(input: Array, indices: Any, values: Array, accumulate: bool, out: Array | None = None) -> Any:
    """Rows added to those that one index names, in their order; NotImplemented for all other forms."""
    if not accumulate or len(indices) != 1 or input.ndim < 2 or values.size < LEAST:
        return NotImplemented
    (index,) = indices
    if type(index) is not np.ndarray or index.dtype != INT64.dtype or not index.flags.carray or index is out or values is out:
        return NotImplemented
    if values.shape == index.shape + input.shape[1:] and not values.flags.carray:
        values = np.ascontiguousarray(values)  # such as the gradient of a sum, one number for all
    stored = suitable(input if out is None else out, values)
    if stored not in (FLOAT32, FLOAT64) or values.shape != index.shape + input.shape[1:] or input.dtype != stored.dtype:
        return NotImplemented
    width, least = values.size // index.size, index.min()
    if width < NARROWEST or least < -len(input) or index.max() >= len(input):
        return NotImplemented
    if least < 0:
        index = np.where(index < 0, index + len(input), index)
    made = input.copy() if out is None else out
    if out is not None and out is not input:
        np.copyto(out, input)
    done = ADDED.run((stored,), width, max(1, (1 << 14) // index.size), values, index, made, index.size, width)
    return made if done else NotImplemented


def _wrapped(beneath: Any) -> Any:
    def put(input: Any, indices: Any, values: Any, accumulate: bool, out: Any = None) -> Any:
        found = index_put(input, indices, values, accumulate, out)
        if found is not NotImplemented:
            return found
        into = {} if out is None else {"out": out}
        return beneath(input, indices, values, accumulate, **into)

    put.__module__ = getattr(beneath, "__module__", __name__)  # native writes at places stand for core's kernel, and no other
    return put


ACCELERATED["index_put"] = index_put
kernel(op.index_put, device="cpu", wrap=True, into=True, note="rows added up, float32 and float64 in one piece")(_wrapped)
