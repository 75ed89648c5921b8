"""Histograms with bins of equal width: an operator of tenfold-scientific."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import sums
from tenfold.cuda.kernels.array_kernels import cast, wide
from tenfold.cuda.kernels.counts import count
from tenfold.cuda.kernels.handwritten import F64, contiguous
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op


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
        if min == max:  # those of the data, which stay on the device
            x = wide(input)
            bounds = xp.stack([cast(x.min(), F64), cast(x.max(), F64)])
        else:
            bounds = now.empty((2,), F64, index)
            bounds[:1].fill(min)
            bounds[1:].fill(max)
        count(counts, contiguous(input), bounds)
    return cast(counts, input.dtype)
