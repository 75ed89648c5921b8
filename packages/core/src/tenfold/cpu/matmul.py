"""NumPy (BLAS) kernels of the matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.kernels import kernel
from tenfold.operators import op


def product(a: Any, b: Any) -> Any:
    """a @ b; types without BLAS are computed in float32 (float16, bfloat16) and rounded once."""
    if a.dtype.itemsize == 2 and a.dtype.kind in "fV":
        return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    return np.matmul(a, b)


@kernel(op.mm, device="cpu")
def mm(input: Any, mat2: Any) -> Any:
    if input.ndim != 2 or mat2.ndim != 2:
        raise ValueError("not matrices")
    return product(input, mat2)


@kernel(op.bmm, device="cpu")
def bmm(input: Any, mat2: Any) -> Any:
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0]:
        raise ValueError("not batches of matrices")
    return product(input, mat2)
