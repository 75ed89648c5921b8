"""Reductions of segments of a dimension: an operator of tenfold-scientific."""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.handwritten import FLOATS, contiguous
from tenfold.cuda.kernels.sums import reduced
from tenfold.dispatch.operators import op


@kernel(op.reduced_segments, device="cuda")
def reduced_segments(data: Any, offsets: Any, reduce: str, initial: Any) -> Any:
    if data.dtype not in FLOATS:
        raise TypeError(f"segment_reduce: numbers of {data.dtype}")
    now, axis = runtime.current(), offsets.ndim - 1
    count, columns = offsets.shape[-1] - 1, prod(data.shape[axis + 1 :])
    out = now.empty((*data.shape[:axis], count, *data.shape[axis + 1 :]), data.dtype, now.index_of(data))
    sizes = (prod(offsets.shape[:-1]), count, data.shape[axis], columns)
    reduced(reduce, out, contiguous(data), None, contiguous(offsets), sizes, int(initial is not None), initial)
    return out
