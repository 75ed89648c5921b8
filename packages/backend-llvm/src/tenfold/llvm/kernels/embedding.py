"""Vectors that are 1 at an index and 0 elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm import positions
from tenfold.llvm.gates import gated
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import INT64

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
