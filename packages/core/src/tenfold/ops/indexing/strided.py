"""What gradients of views need: adding into, and replacing, a strided region of a fresh tensor."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, primitive
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.ops.view.shapes import diagonal
from tenfold.tensor.tensor import Tensor
from tenfold.types.memory_format import refuse_negative


@primitive("indexing", method=None)
def strided_sum(input: Tensor, shape: Any, size: Any, stride: Any, storage_offset: int) -> Tensor:
    """Zeros of a shape, with `input` added to the region (size, stride, offset) of them: the adjoint of a view.

    >>> import tenfold
    >>> tenfold.op.strided_sum(tenfold.tensor([5.0, 7.0]), (4,), (2,), (2,), 1)
    tensor([0., 5., 0., 7.])
    """


@strided_sum.rule
def _(input: Any, shape: Any, size: Any, stride: Any, storage_offset: int) -> Meta:
    return Meta(shape, input.dtype)


def placed(g: Tensor, shape: Any, rule: Any, *arguments: Any) -> Tensor:
    """The gradient of a view of a tensor of this shape, from the view's gradient and its shape rule."""
    geometry = rule(Meta(shape, "u1"), *arguments)
    return strided_sum(g, tuple(shape), geometry.shape, geometry.strides, geometry.offset)


@primitive("indexing")
def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy of `input` in row-major order whose region (size, stride, offset) holds `src`.

    >>> import tenfold
    >>> tenfold.zeros(4).as_strided_scatter(tenfold.ones(2), (2,), (2,), 1)
    tensor([0., 1., 0., 1.])
    """


@as_strided_scatter.rule
def _(input: Any, src: Any, size: Any, stride: Any, storage_offset: int | None) -> Meta:
    if tuple(src.shape) != tuple(size) and len(src.shape):
        raise RuntimeError(
            f"as_strided_scatter: expected src to have a size equal to the slice of self. src size = {list(src.shape)}, "
            f"slice size = {list(size)}"
        )
    refuse_negative(stride)
    return Meta(input.shape, input.dtype)


@composite("indexing")
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


@composite("indexing", out="same")
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


@composite("indexing", accepts="integer floating complex")
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal.

    >>> import tenfold
    >>> tenfold.trace(tenfold.tensor([[1, 2], [3, 4]]))
    tensor(5)
    """
    if input.dim() != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.dim()}")
    return diagonal(input).sum()
