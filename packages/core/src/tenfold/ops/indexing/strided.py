"""What gradients of views need: adding into, and replacing, a strided region of a fresh tensor."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import primitive
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


@primitive("indexing", method=None)
def strided_set(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy of `input` in row-major order whose region (size, stride, offset) holds `src`.

    >>> import tenfold
    >>> tenfold.op.strided_set(tenfold.zeros(4), tenfold.ones(2), (2,), (2,), 1)
    tensor([0., 1., 0., 1.])
    """


@strided_set.rule
def _(input: Any, src: Any, size: Any, stride: Any, storage_offset: int | None) -> Meta:
    refuse_negative(stride)
    return Meta(input.shape, input.dtype)
