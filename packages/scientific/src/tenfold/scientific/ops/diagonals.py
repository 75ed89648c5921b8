"""Matrices with given diagonals, and sums of these."""

from __future__ import annotations

from tenfold.dispatch.operators import composite
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.ops.indexing.strided import placed
from tenfold.ops.view.shapes import diagonal
from tenfold.tensor.tensor import Tensor


@composite("diagonals")
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Zeros with the last dimension of `input` on a diagonal of two new dimensions.

    >>> import tenfold
    >>> tenfold.diag_embed(tenfold.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    n = input.dim() + 1
    first, second = wrap_dim(dim1, n, "diag_embed"), wrap_dim(dim2, n, "diag_embed")
    if first == second:
        raise RuntimeError(f"diag_embed: diagonal dimensions cannot be identical {dim1}, {dim2}")
    side = input.size(-1) + abs(offset)
    shape = list(input.shape[:-1])
    for d in sorted((first, second)):
        shape.insert(d, side)
    return placed(input, shape, diagonal.op.shape_rule, offset, first, second)


@composite("diagonals", out="same")
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The matrix with a vector on a diagonal, or a copy of a matrix's diagonal.

    >>> import tenfold
    >>> tenfold.diag(tenfold.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.dim()}D")
    return diag_embed(input, diagonal) if input.dim() == 1 else input.diagonal(diagonal).clone()


@composite("diagonals", accepts="integer floating complex")
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal.

    >>> import tenfold
    >>> tenfold.trace(tenfold.tensor([[1, 2], [3, 4]]))
    tensor(5)
    """
    if input.dim() != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.dim()}")
    return diagonal(input).sum()
