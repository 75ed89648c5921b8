"""NumPy (BLAS) kernels of the matrix products."""

from typing import Any

import numpy as np

from tenfold.cpu import blas
from tenfold.cpu.blas import dot as _dot
from tenfold.cpu.half import rounded, widened
from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def product(multiply: Any, a: Any, b: Any) -> Any:
    """multiply(a, b); types without BLAS are computed in float32 (float16, bfloat16) and rounded once."""
    dtype = a.dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return rounded(multiply(a.astype(np.float32), b.astype(np.float32)), dtype)
    return multiply(a, b)


@kernel(op.mm, device="cpu")
def mm(input: Any, mat2: Any) -> Any:
    if input.ndim != 2 or mat2.ndim != 2:
        raise ValueError("not matrices")
    if input.dtype is F32 or input.dtype is F64:
        return _dot(input, mat2)
    return product(_dot, input, mat2)


@kernel(op.bmm, device="cpu")
def bmm(input: Any, mat2: Any) -> Any:
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0]:
        raise ValueError("not batches of matrices")
    return product(blas.outer if input.shape[2] == mat2.shape[1] == 1 and input.dtype.kind == "f" else blas.matmul, input, mat2)


@kernel(op.matmul, device="cpu", over=(op.mm, op.bmm))
@quiet
def matmul(input: Any, other: Any) -> Any:
    dtype, n, m = input.dtype, input.ndim, other.ndim
    try:
        if n == m == 2 and (dtype is F32 or dtype is F64):
            (M, K), (_, N) = input.shape, other.shape
            if (M + N) * K <= blas.SMALL and (K > 1 or (M > 1 and N > 1)):  # else `blas.dot` has the reason
                return input.dot(other)
        if dtype.kind == "b" or not n or not m:
            return NotImplemented  # the body has the words of the error
        if n <= 2 and m <= 2:
            return product(_dot, input, other)
        if m == 2 and n > 2:  # fold the batch into the rows: one product
            rows = input.reshape(-1, input.shape[-1]) if input.size else input.reshape(input.size, other.shape[0])
            return product(_dot, rows, other).reshape(*input.shape[:-1], other.shape[1])
        of_one = n > 1 and m > 1 and input.shape[-1] == other.shape[-2] == 1 and dtype.kind == "f"
        return product(blas.outer if of_one else blas.matmul, input, other)
    except ValueError:
        return NotImplemented


@kernel(op.dot, device="cpu")
def dot(input: Any, tensor: Any) -> Any:
    if input.ndim != 1 or input.shape != tensor.shape or input.dtype.kind == "b":
        return NotImplemented
    return product(_dot, input, tensor)


@kernel(op.addmm, device="cpu", over=(op.mm,))
@widened
@quiet
def addmm(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    if (mat1.dtype is not F32 and mat1.dtype is not F64) or mat1.ndim != 2 or mat2.ndim != 2 or mat1.shape[1] != mat2.shape[0]:
        return NotImplemented
    if hasattr(beta, "_array") or hasattr(alpha, "_array"):
        return NotImplemented
    result = _dot(mat1, mat2)
    if alpha != 1:
        result *= alpha
    if beta == 0:
        return result
    try:
        result += input if beta == 1 else input * beta
    except ValueError:
        return NotImplemented
    return result
