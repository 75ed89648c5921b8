"""Arrays one after the other, in one native call; large results are copied by all threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm import session as sessions
from tenfold.llvm.formats import LAST, channels_first, channels_last
from tenfold.llvm.kernels.attaching import lead
from tenfold.llvm.memory import CACHED_FROM
from tenfold.llvm.storage import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT64

Array = np.ndarray[Any, Any]
DTYPES = (
    *(stored.dtype for stored in (FLOAT32, FLOAT64, FLOAT16, BFLOAT16, BOOL, INT64)),
    np.dtype(np.int32),
    np.dtype(np.uint8),
)
MOST_BYTES = 1 << 16  # of a result that one thread copies under the interpreter's lock
# The words of the gate, as native/joining.ll reads them.
BENEATH, CACHED, MOST, FIRST_DTYPE, FIRST_SIZE, WORDS = 0, 3, 4, 8, 16, 24


def _joined_last(tensors: Any, dim: Any) -> Any:
    """Images joined where all lie channels last, in runs of their channels; None for others."""
    first = tensors[0]
    n = first.ndim
    if type(dim) is not int or n not in LAST or first.flags.c_contiguous or not -n <= dim < n:
        return None
    axis = LAST[n].index(dim % n)
    moved: list[Array] = []
    for x in tensors:
        last = channels_last(x) if x.ndim == n and x.dtype is first.dtype else None
        if last is None or not _meet(last.shape, (moved or [last])[0].shape, axis):
            return None
        moved.append(last)
    return channels_first(np.concatenate(moved, axis))


def _with_channels_last(beneath: Any) -> Any:
    """Images that lie channels last are joined there, in runs of their channels."""

    def join(tensors: Any, dim: Any = 0) -> Any:
        found = _joined_last(tensors, dim) if tensors else None
        return beneath(tensors, dim) if found is None else found

    join.__module__ = getattr(beneath, "__module__", __name__)
    return join


def _meet(a: tuple[int, ...], b: tuple[int, ...], axis: int) -> bool:
    """Whether shapes differ at one dimension at most."""
    return a[:axis] == b[:axis] and a[axis + 1 :] == b[axis + 1 :]


def cat(beneath: Any) -> Any:
    session = sessions.session()
    if session is None:
        return beneath
    beneath = _with_channels_last(beneath)
    words = np.zeros(WORDS, np.int64)
    session.native.keep.append((words, beneath))
    words[BENEATH], words[CACHED], words[MOST] = id(beneath), CACHED_FROM, MOST_BYTES
    words[FIRST_DTYPE:FIRST_SIZE] = [id(dtype) for dtype in DTYPES]
    words[FIRST_SIZE:WORDS] = [dtype.itemsize for dtype in DTYPES]
    lead("cat")
    return session.native.builtin("cat_gate", words)


kernel(op.cat, device="cpu", wrap=True, note="arrays in one piece")(cat)
