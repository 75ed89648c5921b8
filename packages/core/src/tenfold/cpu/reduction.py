"""NumPy kernels of the reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.kernels import kernel
from tenfold.operators import op

add_reduce = np.add.reduce


def axes(dim: Any, ndim: int) -> Any:
    """NumPy's axis argument; an empty tuple means all dimensions, as in PyTorch."""
    if dim is None or type(dim) is int:
        return None if ndim == 0 and dim in (0, -1) else dim
    return tuple(dim) if dim and ndim else None


@kernel(op.sum, device="cpu")
def sum(input: Any, dim: Any, keepdim: bool) -> Any:
    dtype = input.dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return add_reduce(input.astype(np.float32), axes(dim, input.ndim), None, None, keepdim).astype(dtype)
    return add_reduce(input, None if dim is None else axes(dim, input.ndim), np.int64 if dtype.kind in "biu" else None, None, keepdim)
