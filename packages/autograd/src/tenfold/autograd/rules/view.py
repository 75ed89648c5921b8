"""Gradients of the view operators."""

from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.geometry import placed, through_memory
from tenfold.autograd.gradients import gradient, gradients
from tenfold.ops.creation.factories import zeros
from tenfold.ops.indexing.joining import cat, stack

gradient(op.view, input=lambda g, input_shape: g.reshape(input_shape))
gradient(op.transpose, input=lambda g, dim0, dim1: g.transpose(dim0, dim1))
gradient(op.permute, input=lambda g, dims: g.permute(_inverse(dims)))
gradient(op.expand, input=lambda g: g)
gradient(op.unsqueeze, input=lambda g, dim: g.squeeze(dim))
gradient(op.squeeze, input=lambda g, input_shape: g.reshape(input_shape))


def _inverse(dims: Any) -> tuple[int, ...]:
    n = len(dims)
    order = [d % n for d in dims]
    return tuple(order.index(i) for i in range(n))


# A view that picks elements: its gradient lies at the same places of zeros.
gradient(op.select, input=lambda g, input_shape, dim, index: placed(g, input_shape, op.select.shape_rule, dim, index))
gradient(
    op.diagonal,
    input=lambda g, input_shape, offset, dim1, dim2: placed(g, input_shape, op.diagonal.shape_rule, offset, dim1, dim2),
)
gradient(
    op.unfold,
    input=lambda g, input_shape, dimension, size, step: placed(g, input_shape, op.unfold.shape_rule, dimension, size, step),
)


@gradients(op.split_with_sizes, "input")
def _(g: Any, dim: int) -> Any:
    return (cat(g, dim),)


@gradients(op.unbind, "input")
def _(g: Any, dim: int, input_shape: Any, input_dtype: Any) -> Any:
    return (stack(g, dim) if g else zeros(input_shape, dtype=input_dtype),)


@gradients(op.as_strided, "input")
def _(g: Any, input_geometry: Any, size: Any, stride: Any, storage_offset: Any) -> Any:
    return (through_memory(g, input_geometry, size, stride, storage_offset),)
