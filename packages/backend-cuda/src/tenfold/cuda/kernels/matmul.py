"""Matrix products: cuBLAS for floating types (half precision with float32 sums), CuPy's own kernel for integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import cublas, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import cast, is_half, wide
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op


def product(a: Any, b: Any) -> Any:
    """a @ b of matrices or batches of matrices, whose shapes fit."""
    if a.dtype.kind == "b":
        raise TypeError("products of bool matrices")
    if not is_half(a):
        with np.errstate(all="ignore"):
            return xp.matmul(a, b)
    if runtime.is_replaced() or 0 in (*a.shape, *b.shape):
        return cast(xp.matmul(wide(a), wide(b)), a.dtype)
    return cublas.half_product(runtime.current(), a, b)


@kernel(op.mm, device="cuda")
def mm(input: Any, mat2: Any) -> Any:
    if input.ndim != 2 or mat2.ndim != 2 or input.shape[1] != mat2.shape[0]:
        raise ValueError("not matrices that fit")
    return product(input, mat2)


@kernel(op.bmm, device="cuda")
def bmm(input: Any, mat2: Any) -> Any:
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise ValueError("not batches of matrices that fit")
    return product(input, mat2)
