"""NumPy kernels of the scans."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op


def _scan(accumulate: Any) -> Any:
    """Accumulation in float64 for floats, as PyTorch does, in int64 for integers."""

    def run(input: Any, dim: int) -> Any:
        kind = input.dtype.kind
        wide = np.int64 if kind in "biu" else np.complex128 if kind == "c" else np.float64
        if not input.ndim:
            np.empty(1)[dim]  # IndexError beyond 0 and -1
            return input.astype(wide if kind in "biu" else input.dtype)
        with np.errstate(all="ignore"):
            result = accumulate(input.astype(wide) if kind == "V" else input, dim, wide)
            return result if kind in "biu" else result.astype(input.dtype, copy=False)

    return run


kernel(op.cumsum, device="cpu")(_scan(np.add.accumulate))
kernel(op.cumprod, device="cpu")(_scan(np.multiply.accumulate))
