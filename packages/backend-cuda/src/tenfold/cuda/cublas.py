"""Products of matrices by cuBLAS's gemmStridedBatchedEx where CuPy's `matmul` does not reach it: half precision, TF32, captures.

cuBLAS reads matrices column by column: the row-major product C = A B is its C^T = B^T A^T, so B comes first, and a matrix
whose rows are contiguous is "not transposed" to it. Source: NVIDIA cuBLAS documentation, cublasGemmStridedBatchedEx.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from tenfold.cuda import capturing
from tenfold.cuda.precision import products_in_tf32
from tenfold.cuda.recordings import RECORDINGS, Go, Origin, Step, started

# cudaDataType_t and cublasComputeType_t, of library_types.h and cublas_api.h.
CUDA_R_32F = 0
COMPUTE_32F, COMPUTE_32F_FAST_TF32, COMPUTE_64F, ALGORITHM_DEFAULT = 68, 77, 70, -1
# By dtype: its number, what products are summed in, and the dtype of the factors alpha and beta.
NUMBERS = {
    "float16": (2, COMPUTE_32F, "f4"), "bfloat16": (14, COMPUTE_32F, "f4"), "float32": (CUDA_R_32F, COMPUTE_32F, "f4"),
    "float64": (1, COMPUTE_64F, "f8"), "complex64": (4, COMPUTE_32F, "c8"), "complex128": (5, COMPUTE_64F, "c16"),
}  # fmt: skip
WORKSPACE_BYTES = 32 << 20  # what cuBLAS asks for on Hopper
_handles: dict[int, int] = {}  # of each GPU, for captures
NOT_TRANSPOSED, TRANSPOSED = 0, 1
ADDRESSES = 6, 10, 15  # places of B, A and the result among gemmStridedBatchedEx's arguments after the handle


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


def product(now: Any, a: Any, b: Any) -> Any:
    """a @ b of floating-point matrices, or batches of them: half precision is summed in float32 and rounded once.

    float32 is multiplied in TensorFloat-32 where that is allowed (precision.py).
    """
    out = now.empty((*a.shape[:-1], b.shape[-1]), a.dtype, now.index_of(a))
    product_into(now, out, a, b)
    return out


def product_into(now: Any, out: Any, a: Any, b: Any, add: bool = False) -> None:
    """Write a @ b to a row-major array, or add it to what is there; of half precision `out` may be float32."""
    (a, a_layout), (b, b_layout) = _readable(a), _readable(b)
    index = now.index_of(a)
    (a_op, a_lead, a_batch), (b_op, b_lead, b_batch) = a_layout, b_layout
    M, K, N = a.shape[-2], a.shape[-1], b.shape[-1]
    batches = a.shape[0] if a.ndim == 3 else 1
    number, compute, scalar = NUMBERS[a.dtype.name]
    if number == CUDA_R_32F and products_in_tf32():
        compute = COMPUTE_32F_FAST_TF32
    one, beta = np.ones(1, scalar), np.full(1, int(add), scalar)
    arguments = (
        b_op, a_op, N, M, K, one.ctypes.data,
        now.pointer(b), number, b_lead, b_batch, now.pointer(a), number, a_lead, a_batch,
        beta.ctypes.data, now.pointer(out), NUMBERS[out.dtype.name][0], N, M * N, batches, compute, ALGORITHM_DEFAULT,
    )  # fmt: skip
    if RECORDINGS:
        started(Started(now, index, arguments, (one, beta)))
    with now.module.cuda.Device(index):
        _call(now, index)(*arguments)


class Started(Step):
    """A product that is recorded (playing.py); `factors` are alpha and beta, where the library reads them."""

    def __init__(self, now: Any, index: int, arguments: tuple[int, ...], factors: Any) -> None:
        self.now, self.index, self.arguments, self.factors = now, index, arguments, factors
        self.pointers = [arguments[i] for i in ADDRESSES]

    def placed(self, origin: Origin) -> Go:
        (b, of_b), (a, of_a), (out, of_out) = map(origin, self.pointers)
        now, index = self.now, self.index
        at_b, at_a, at_out = ADDRESSES
        arguments = list(self.arguments)

        def go(bases: list[int], stream: int, kept: Any = self.factors) -> bool:
            given = arguments.copy()  # another thread has its own
            given[at_b], given[at_a], given[at_out] = bases[b] + of_b, bases[a] + of_a, bases[out] + of_out
            _call(now, index)(*given)
            return True

        return go


def _call(now: Any, index: int) -> Callable[..., None]:
    """gemmStridedBatchedEx on the current stream: CuPy's, or inside a capture, which CuPy refuses, the library's own."""
    if capturing.CAPTURES and (capture := capturing.current()) is not None:
        return partial(_recorded, now, capture, index)
    from cupy.cuda import get_cublas_handle
    from cupy_backends.cuda.libs import cublas

    return partial(cublas.gemmStridedBatchedEx, get_cublas_handle())


@cache
def _library(version: int) -> Any:
    """cuBLAS as ctypes calls it: the copy of it that CuPy has loaded."""
    found = ctypes.CDLL(f"libcublas.so.{version // 1000}")
    signed, wide, pointer = ctypes.c_int, ctypes.c_longlong, ctypes.c_void_p
    matrix: list[Any] = [pointer, signed, signed, wide]
    found.cublasGemmStridedBatchedEx.argtypes = [
        pointer, *[signed] * 5, pointer, *matrix, *matrix, pointer, *matrix, signed, signed, signed
    ]  # fmt: skip
    found.cublasSetStream_v2.argtypes = [pointer, pointer]
    found.cublasSetWorkspace_v2.argtypes = [pointer, pointer, ctypes.c_size_t]
    return found


def prepared(index: int) -> int:
    """The handle for captures on the current GPU, whose number is `index`: better made before one begins."""
    handle = _handles.get(index)
    if handle is None:
        from cupy_backends.cuda.libs import cublas  # with the first product

        handle = _handles[index] = cublas.create()
    return handle


def _recorded(now: Any, capture: Any, index: int, *arguments: int) -> None:
    """The call while a stream is recorded: with a handle of its own, and a workspace that the graph keeps.

    Without a given workspace cuBLAS would share one between graphs that run at once (its documentation, "CUDA Graphs Support").
    """
    cupy = now.module
    library = _library(cupy.cuda.runtime.runtimeGetVersion())
    handle = prepared(index)
    stream = cupy.cuda.get_current_stream().ptr
    room = capture.workspaces.get((index, stream))
    if room is None:
        room = capture.workspaces[index, stream] = cupy.cuda.alloc(WORKSPACE_BYTES)
    _check(library.cublasSetStream_v2(handle, stream))  # which takes the workspace back
    _check(library.cublasSetWorkspace_v2(handle, room.ptr, WORKSPACE_BYTES))
    _check(library.cublasGemmStridedBatchedEx(handle, *arguments))


def _check(status: int) -> None:
    if status:
        raise RuntimeError(f"cuBLAS returned the status {status} for a product inside a CUDA graph's capture")


def _readable(x: Any) -> tuple[Any, tuple[int, int, int]]:
    """The array, copied if cuBLAS cannot read it as it lies, and its layout."""
    from tenfold.cuda.kernels.conversion import clone_contiguous  # most layouts do without

    found = layout(x.shape, tuple(s // x.dtype.itemsize for s in x.strides))
    if found is None:
        x = clone_contiguous(x)
        found = layout(x.shape, tuple(s // x.dtype.itemsize for s in x.strides))
        assert found is not None
    return x, found
