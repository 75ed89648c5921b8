"""The NumPy kernel of histograms with bins of equal width."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.reduction.reductions import orderable
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op


@kernel(op.histc, device="cpu")
def histc(input: Any, bins: int, min: Any, max: Any) -> Any:
    x = orderable(input).reshape(-1)
    if bins <= 0 or min > max:
        raise ValueError("no bins")
    if min == max and x.size:
        min, max = x.min().item(), x.max().item()
    if min == max:
        min, max = min - 1, max + 1
    if not (np.isfinite(min) and np.isfinite(max)):
        raise RuntimeError(f"histc: range of [{min}, {max}] is not finite")
    x = x[(x >= min) & (x <= max)]
    width = (max - min) / bins
    place = ((x.astype(np.float64) - min) / width).astype(np.int64)
    return np.bincount(np.minimum(place, bins - 1), minlength=bins).astype(input.dtype)
