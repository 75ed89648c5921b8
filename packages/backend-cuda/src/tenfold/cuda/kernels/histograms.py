"""Histograms with bins of equal width: an operator of tenfold-scientific."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import sums
from tenfold.cuda.kernels.array_kernels import cast, wide
from tenfold.cuda.kernels.counts import count
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.handwritten import F64, contiguous
from tenfold.cuda.kernels.reducing import both_extremes
from tenfold.dispatch.operators import op


def _extremes(input: Any) -> Any:
    """The least and the greatest element."""
    found = both_extremes(input, None, False)
    return (wide(input).min(), wide(input).max()) if found is NotImplemented else found


@kernel(op.histc, device="cuda")
def histc(input: Any, bins: int, min: Any, max: Any) -> Any:
    if bins <= 0 or min > max:
        raise ValueError("no bins")
    if input.dtype.kind not in "fViu" or input.dtype.name == "uint64":
        return NotImplemented
    if not (np.isfinite(min) and np.isfinite(max)):
        raise RuntimeError(f"histc: range of [{min}, {max}] is not finite")
    now = runtime.current()
    index = now.index_of(input)
    counts = sums.zeros((bins,), sums.I64, index)
    if input.size:
        bounds = now.empty((2,), F64, index)
        if min == max:  # those of the data, which stay on the device
            for end, value in zip((bounds[:1], bounds[1:]), _extremes(input)):
                run("cast", value.reshape(1), out=end)
        else:
            bounds[:1].fill(min)
            bounds[1:].fill(max)
        count(counts, contiguous(input), bounds)
    return cast(counts, input.dtype)
