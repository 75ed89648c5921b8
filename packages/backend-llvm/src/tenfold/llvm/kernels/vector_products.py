"""Small products that are added to something, and those of vectors, of which nothing is recorded: quick functions.

They compute what the composites' parts do, in the same order, of float32 and float64. What they do not know is left to the
composites, by NotImplemented or by any exception.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.blas import SMALL
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import op
from tenfold.llvm.kernels.attaching import quickly
from tenfold.llvm.kernels.matmul import only_ours
from tenfold.llvm.quick_views import free, quietly
from tenfold.llvm.storage import FLOAT32, FLOAT64
from tenfold.tensor.tensor import wrap

F32, F64 = FLOAT32.dtype, FLOAT64.dtype
SERVED = frozenset((F32, F64))
LARGEST, WHOLE = 3.4e38, 1 << 24  # of numbers that are surely float32's
_bmm: Any = op.bmm.fn


def _together(*tensors: Any) -> bool:
    """Whether nothing is recorded of these tensors, which have one dtype that is served."""
    dtype = tensors[0]._array.dtype
    return dtype in SERVED and all(free(x) and x._array.dtype is dtype for x in tensors)


def _factor(number: Any) -> bool:
    return (type(number) is float and abs(number) < LARGEST) or (type(number) is int and -WHOLE < number < WHOLE)


def _times(mat: Any, vec: Any) -> Any:
    """The product of a matrix and a vector; None where BLAS has other ways: of large ones, and of one element."""
    few = mat.size + vec.size <= SMALL and mat.size > 1 and vec.size > 1
    return quietly(np.ndarray.dot, mat, vec) if few and mat.ndim == 2 and vec.ndim == 1 else None


def mv(input: Any, vec: Any) -> Any:
    """A matrix times a vector."""
    made = _times(input._array, vec._array) if _together(input, vec) else None
    return NotImplemented if made is None else wrap(made, CPU)


def _blended(input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta * input + alpha * product, written into the product."""
    if beta != 1 or alpha != 1:
        if not _factor(beta) or not _factor(alpha):
            return NotImplemented
        if alpha != 1:
            quietly(np.multiply, product, alpha, product)
        if beta == 0:
            return wrap(product, CPU) if np.broadcast_shapes(input.shape, product.shape) == product.shape else NotImplemented
        input = input if beta == 1 else quietly(np.multiply, input, beta)
    elif type(beta) is bool or type(alpha) is bool:
        return NotImplemented
    return wrap(quietly(np.add, product, input, product), CPU)


def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """A matrix times a vector, added to a tensor."""
    made = _times(mat._array, vec._array) if _together(input, mat, vec) else None
    return NotImplemented if made is None else _blended(input._array, made, beta, alpha)


def addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """All products of two vectors' elements, added to a tensor."""
    if not _together(input, vec1, vec2) or vec1._array.ndim != 1 or vec2._array.ndim != 1 or input._array.ndim > 2:
        return NotImplemented
    return _blended(input._array, quietly(np.multiply, vec1._array[:, None], vec2._array), beta, alpha)


def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Products of matrices, added to a tensor."""
    if not _together(input, batch1, batch2):
        return NotImplemented
    made = _bmm(batch1, batch2)._array
    return _blended(input._array, made, beta, alpha) if made.flags.c_contiguous else NotImplemented


def vdot(input: Any, other: Any) -> Any:
    """The inner product of two vectors of real numbers."""
    a, b = input._array, other._array
    if not _together(input, other) or a.ndim != 1 or a.shape != b.shape or not 1 < a.size <= SMALL:
        return NotImplemented
    made = np.empty((), a.dtype)
    quietly(np.ndarray.dot, a, b, made)
    return wrap(made, CPU)


if only_ours("mm", "bmm", "matmul"):
    quickly(mv, addmv, addr, baddbmm, vdot)
