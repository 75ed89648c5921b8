"""Matrix products: cuBLASLt for floating types (half precision with float32 sums), CuPy's own kernel for integers.

Without cuBLASLt, and where it refuses a problem, cuBLAS multiplies (cublas.py, CuPy), and what is added is added after it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tenfold.cuda import cublas, products, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.capturing import CAPTURES
from tenfold.cuda.cublaslt import BIAS
from tenfold.cuda.kernels.array_kernels import F32, cast, is_half, wide
from tenfold.cuda.precision import products_in_tf32, switches
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op

LARGEST = 3e38  # a factor that is not larger is one in float32, too


def product(a: Any, b: Any) -> Any:
    """a @ b of matrices or batches of matrices, whose shapes fit."""
    if a.dtype.kind == "b":
        raise TypeError("products of bool matrices")
    if a.dtype.kind not in "iu" and (found := products.multiply(a, b)) is not None:
        return found
    if _by_ourselves(a, b):
        return cublas.product(runtime.current(), a, b)
    with np.errstate(all="ignore"):
        return cast(xp.matmul(wide(a), wide(b)), a.dtype)


def _by_ourselves(a: Any, b: Any) -> bool:
    """Whether CuPy would not do it, or not in the precision that is asked for."""
    if runtime.is_replaced() or 0 in (*a.shape, *b.shape) or a.dtype != b.dtype or a.dtype.name not in cublas.NUMBERS:
        return False
    return is_half(a) or bool(CAPTURES) or (a.dtype == F32 and products_in_tf32())


@kernel(op.mm, device="cuda", plays=switches)
def mm(input: Any, mat2: Any) -> Any:
    if input.ndim != 2 or mat2.ndim != 2 or input.shape[1] != mat2.shape[0]:
        raise ValueError("not matrices that fit")
    return product(input, mat2)


@kernel(op.bmm, device="cuda", plays=switches)
def bmm(input: Any, mat2: Any) -> Any:
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise ValueError("not batches of matrices that fit")
    return product(input, mat2)


@kernel(op.matmul, device="cuda", plays=switches, over=(op.mm, op.bmm))
def matmul(input: Any, other: Any) -> Any:
    if input.dtype.kind in "iub" or (input.ndim == 1 and other.ndim == 1):
        return NotImplemented
    return _or_body(products.multiply(input, other))


def _or_body(found: Any) -> Any:
    return NotImplemented if found is None else found


def added(input: Any, a: Any, b: Any, beta: Any, alpha: Any, epilogue: int = BIAS) -> Any:
    """beta * input + alpha * a @ b in one call, where a zero beta reads nothing of the input; NotImplemented for the body.

    An `epilogue` besides BIAS is of the sum, and needs an input that is one row.
    """
    dtype = a.dtype
    if dtype.kind in "iub" or not dtype == b.dtype == input.dtype:
        return NotImplemented
    if not _is_factor(beta, dtype) or not _is_factor(alpha, dtype):
        return NotImplemented
    if beta == 1 and _is_row(input, b.shape[-1]):
        found = products.multiply(a, b, alpha=alpha, bias=input, epilogue=epilogue)
        if found is not None:
            return found
    if epilogue != BIAS:
        return NotImplemented
    if beta == 0:
        fits = all(n in (1, m) for n, m in zip(input.shape[::-1], (b.shape[-1], *a.shape[-2::-1])))
        return _or_body(products.multiply(a, b, alpha=alpha)) if fits else NotImplemented
    return _or_body(products.multiply(a, b, alpha=alpha, beta=beta, c=input))


def _is_factor(x: Any, dtype: Any) -> bool:
    kinds = (int, float, complex) if dtype.kind == "c" else (int, float)
    return type(x) in kinds and math.isfinite(abs(x)) and abs(x) <= LARGEST


def _is_row(x: Any, width: int) -> bool:
    """Whether an array is the same row for every row of a product of this width, without gaps."""
    return bool(x.size == width == x.shape[-1] and (width == 1 or x.strides[-1] == x.dtype.itemsize)) if x.ndim else False


@kernel(op.addmm, device="cuda", plays=switches, over=(op.mm,))
def addmm(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    if mat1.ndim != 2 or mat2.ndim != 2 or input.ndim > 2:
        return NotImplemented
    return added(input, mat1, mat2, beta, alpha)


@kernel(op.baddbmm, device="cuda", plays=switches, over=(op.bmm,))
def baddbmm(input: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    if batch1.ndim != 3 or batch2.ndim != 3 or input.ndim > 3 or batch1.shape[0] != batch2.shape[0]:
        return NotImplemented
    return added(input, batch1, batch2, beta, alpha)


@kernel(op.addmv, device="cuda", plays=switches, over=(op.mm,))
def addmv(input: Any, mat: Any, vec: Any, beta: Any, alpha: Any) -> Any:
    if mat.ndim != 2 or vec.ndim != 1 or input.ndim > 1:
        return NotImplemented
    column = input[:, None] if input.ndim else input  # one number may be added to all
    found = added(column, mat, vec[:, None], beta, alpha)
    return found if found is NotImplemented else found.reshape(found.shape[:1])
