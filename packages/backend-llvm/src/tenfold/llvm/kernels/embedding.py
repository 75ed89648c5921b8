"""Vectors that are 1 at an index and 0 elsewhere, and the gradient of a table whose rows were looked up."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm import positions
from tenfold.llvm.gates import gated
from tenfold.llvm.kernels.adding import add_rows
from tenfold.llvm.kernels.attaching import ACCELERATED, chosen
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import BY_DTYPE, FLOATING, INT64

Array = np.ndarray[Any, Any]
ONE_HOT = Compiled("vectors of one index", positions.one_hot)


def one_hot(tensor: Array, num_classes: int) -> Any:
    """The vectors; an index that is no class is left to the body, which says so."""
    if type(num_classes) is not int or not tensor.size or not tensor.flags.carray:
        return NotImplemented
    classes = int(np.maximum.reduce(tensor, None)) + 1 if num_classes == -1 else num_classes
    if classes < 1:
        return NotImplemented
    try:
        out = empty((*tensor.shape, classes), INT64)
    except (MemoryError, ValueError):
        return NotImplemented
    flag = np.zeros((), np.int64)
    done = ONE_HOT.run((), tensor.size, max(1, (1 << 14) // classes), tensor, out, flag, classes)
    return out if done and not flag else NotImplemented


ACCELERATED["one_hot"] = one_hot
kernel(op.one_hot, device="cpu", wrap=True, note="int64 in one piece")(gated(one_hot, 2, dtypes=(INT64,)))


def embedding_weight_grad(grad: Array, indices: Array, num_weights: int, padding_idx: int, scale_by_freq: bool) -> Any:
    """The rows of grad added up in their order, half precision rounded each time; the kernel beneath says which index is none."""
    stored = BY_DTYPE.get(grad.dtype)
    if stored not in FLOATING or indices.dtype != INT64.dtype or not indices.size or not grad.size or scale_by_freq:
        return NotImplemented
    if (
        not indices.flags.carray or int(indices.view(np.uint64).max()) >= num_weights
    ):  # negative ones are the largest without a sign
        return NotImplemented
    width = grad.shape[-1]
    out = empty((num_weights, width), stored)
    out.fill(0)
    done = add_rows(stored, np.ascontiguousarray(grad), indices, out, width)
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out if done else NotImplemented


chosen("embedding_weight_grad", embedding_weight_grad, 5, "floats, at indices of int64")
