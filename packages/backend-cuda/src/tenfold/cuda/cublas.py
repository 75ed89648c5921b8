"""Products of half precision matrices by cuBLAS's gemmStridedBatchedEx, which CuPy's `matmul` does not reach for batches.

cuBLAS reads matrices column by column: the row-major product C = A B is its C^T = B^T A^T, so B comes first, and a matrix
whose rows are contiguous is "not transposed" to it. Source: NVIDIA cuBLAS documentation, cublasGemmStridedBatchedEx.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CUDA_R_16F, CUDA_R_16BF = 2, 14
COMPUTE_32F, ALGORITHM_DEFAULT = 68, -1
NOT_TRANSPOSED, TRANSPOSED = 0, 1


def layout(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int, int] | None:
    """(transposed or not, leading dimension, stride between matrices) in elements; None for what cuBLAS cannot read.

    >>> layout((5, 2, 3), (6, 3, 1)), layout((2, 3), (1, 2)), layout((2, 3), (6, 2))
    ((0, 3, 6), (1, 2, 0), None)
    """
    (rows, columns), (down, across) = shape[-2:], strides[-2:]
    batch = strides[0] if len(shape) == 3 and shape[0] > 1 else 0
    if (across == 1 or columns == 1) and (down >= columns or rows == 1):
        return NOT_TRANSPOSED, max(down if rows > 1 else columns, columns, 1), batch
    if (down == 1 or rows == 1) and (across >= rows or columns == 1):
        return TRANSPOSED, max(across if columns > 1 else rows, rows, 1), batch
    return None


def half_product(now: Any, a: Any, b: Any) -> Any:
    """a @ b of float16 or bfloat16 matrices, or batches of them, summed in float32 and rounded once."""
    from cupy.cuda import get_cublas_handle
    from cupy_backends.cuda.libs import cublas

    (a, a_layout), (b, b_layout) = _readable(a), _readable(b)
    out = now.empty((*a.shape[:-1], b.shape[-1]), a.dtype, now.index_of(a))
    (a_op, a_lead, a_batch), (b_op, b_lead, b_batch) = a_layout, b_layout
    M, K, N = a.shape[-2], a.shape[-1], b.shape[-1]
    batches = a.shape[0] if a.ndim == 3 else 1
    number = CUDA_R_16F if a.dtype.kind == "f" else CUDA_R_16BF
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    with now.module.cuda.Device(now.index_of(a)):
        cublas.gemmStridedBatchedEx(
            get_cublas_handle(), b_op, a_op, N, M, K, one.ctypes.data,
            now.pointer(b), number, b_lead, b_batch, now.pointer(a), number, a_lead, a_batch,
            zero.ctypes.data, now.pointer(out), number, N, M * N, batches, COMPUTE_32F, ALGORITHM_DEFAULT,
        )  # fmt: skip
    return out


def _readable(x: Any) -> tuple[Any, tuple[int, int, int]]:
    """The array, copied if cuBLAS cannot read it as it lies, and its layout."""
    from tenfold.cuda.kernels.conversion import clone_contiguous  # most layouts do without

    found = layout(x.shape, tuple(s // x.dtype.itemsize for s in x.strides))
    if found is None:
        x = clone_contiguous(x)
        found = layout(x.shape, tuple(s // x.dtype.itemsize for s in x.strides))
        assert found is not None
    return x, found
