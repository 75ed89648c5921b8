"""Matrix products: cuBLAS for floating types (half precision with float32 sums), CuPy's own kernel for integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import cublas, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.capturing import CAPTURES
from tenfold.cuda.kernels.array_kernels import F32, cast, is_half, wide
from tenfold.cuda.precision import products_in_tf32
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op


def product(a: Any, b: Any) -> Any:
    """a @ b of matrices or batches of matrices, whose shapes fit."""
    if a.dtype.kind == "b":
        raise TypeError("products of bool matrices")
    if _by_ourselves(a, b):
        return cublas.product(runtime.current(), a, b)
    with np.errstate(all="ignore"):
        return cast(xp.matmul(wide(a), wide(b)), a.dtype)


def _by_ourselves(a: Any, b: Any) -> bool:
    """Whether CuPy would not do it, or not in the precision that is asked for."""
    if runtime.is_replaced() or 0 in (*a.shape, *b.shape) or a.dtype != b.dtype or a.dtype.name not in cublas.NUMBERS:
        return False
    return is_half(a) or bool(CAPTURES) or (a.dtype == F32 and products_in_tf32())


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
