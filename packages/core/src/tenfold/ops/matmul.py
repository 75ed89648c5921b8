"""Matrix products."""

from __future__ import annotations

from typing import Any

from tenfold.meta import Meta
from tenfold.operators import composite, primitive
from tenfold.ops.rules import broadcast_shapes
from tenfold.tensor import Tensor


@primitive("matmul", promote="same", out=True)
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Matrix product. Shape: (M, K), (K, N) -> (M, N).

    >>> import tenfold
    >>> tenfold.mm(tenfold.ones(2, 3), tenfold.ones(3, 1))
    tensor([[3.],
            [3.]])
    """


@mm.rule
def _(input: Any, mat2: Any) -> Meta:
    if len(input.shape) != 2:
        raise RuntimeError(f"mm: self must be a matrix, got shape {list(input.shape)}")
    if len(mat2.shape) != 2:
        raise RuntimeError(f"mm: mat2 must be a matrix, got shape {list(mat2.shape)}")
    (M, K), (K2, N) = input.shape, mat2.shape
    if K != K2:
        raise RuntimeError(f"mm: mat1 and mat2 shapes cannot be multiplied ({M}x{K} and {K2}x{N})")
    return Meta((M, N), input.dtype)


@primitive("matmul", promote="same", out=True)
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Batch of matrix products. Shape: (B, M, K), (B, K, N) -> (B, M, N).

    >>> import tenfold
    >>> tenfold.bmm(tenfold.ones(2, 1, 3), tenfold.ones(2, 3, 1)).shape
    tenfold.Size([2, 1, 1])
    """


@bmm.rule
def _(input: Any, mat2: Any) -> Meta:
    if len(input.shape) != 3 or len(mat2.shape) != 3:
        raise RuntimeError(f"bmm: batch1 and batch2 must be 3D tensors, got {list(input.shape)} and {list(mat2.shape)}")
    B, M, K = input.shape
    if tuple(mat2.shape[:2]) != (B, K):
        raise RuntimeError(
            f"bmm: Expected size for first two dimensions of batch2 tensor to be: [{B}, {K}] but got: {list(mat2.shape[:2])}."
        )
    return Meta((B, M, mat2.shape[2]), input.dtype)


@composite("matmul", promote="same", out=True)
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Matrix product of tensors of any dimension: the last two are matrices, those before broadcast.

    Shape: (K), (K) -> (); (M, K), (K) -> (M); (..., M, K), (..., K, N) -> (..., M, N).

    >>> import tenfold
    >>> tenfold.matmul(tenfold.ones(2, 3), tenfold.ones(3))
    tensor([3., 3.])
    """
    n, m = input.dim(), other.dim()
    if n == 2 and m == 2:
        return mm(input, other)
    if n == 0 or m == 0:
        raise RuntimeError(f"matmul: both arguments to matmul need to be at least 1D, but they are {n}D and {m}D")
    if input.shape[-1] != other.shape[-2 if m > 1 else 0]:
        raise RuntimeError(
            f"matmul: mat1 and mat2 shapes cannot be multiplied ({list(input.shape)} and {list(other.shape)})"
        )
    if n == 1:
        return matmul(input.unsqueeze(0), other).squeeze(-2 if m > 1 else 0)
    if m == 1:
        return matmul(input, other.unsqueeze(1)).squeeze(-1)
    if m == 2:  # fold the batch into the rows: one product
        return mm(input.reshape(-1, input.shape[-1]), other).view(*input.shape[:-1], other.shape[-1])
    batch = broadcast_shapes("matmul", [input.shape[:-2], other.shape[:-2]])
    a = input.expand(*batch, *input.shape[-2:]).reshape(-1, *input.shape[-2:])
    b = other.expand(*batch, *other.shape[-2:]).reshape(-1, *other.shape[-2:])
    return bmm(a, b).view(*batch, input.shape[-2], other.shape[-1])
