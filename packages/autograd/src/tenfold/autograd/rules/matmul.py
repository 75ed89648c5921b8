"""Gradients of the matrix products."""

from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.autograd.rules.conjugates import conj
from tenfold.autograd.rules.passing import as_rows, turned


def adjoint(x: Any) -> Any:
    """The conjugate transpose of the last two dimensions, for one product."""
    x = turned(x)
    return x.conj() if x._array.dtype.kind == "c" else x


gradient(op.mm, input=lambda g, mat2: g.mm(adjoint(mat2)), mat2=lambda g, input: adjoint(input).mm(g))
gradient(op.bmm, input=lambda g, mat2: g.bmm(adjoint(mat2)), mat2=lambda g, input: adjoint(input).bmm(g))
gradient(op.dot, input=lambda g, tensor: g * conj(tensor), tensor=lambda g, input: g * conj(input))


def _restored(g: Any, input_shape: Any, other_shape: Any) -> Any:
    """The gradient of a product with the dimension back that each vector lost."""
    if len(other_shape) == 1:
        g = g.unsqueeze(-1)
    return g.unsqueeze(-2) if len(input_shape) == 1 else g


def _to_left(g: Any, other: Any, input_shape: Any) -> Any:
    """Vectors are matrices of one row or column; the engine sums over broadcast batches."""
    if len(input_shape) == 1 and other.dim() == 2:
        return conj(other).matmul(g)
    b = other.unsqueeze(1) if other.dim() == 1 else other
    g = _restored(g, input_shape, other.shape).matmul(adjoint(b))
    return g.squeeze(-2) if len(input_shape) == 1 else g


def _to_right(g: Any, input: Any, other_shape: Any) -> Any:
    if input.dim() == 1 and len(other_shape) == 2:
        column = conj(input).unsqueeze(-1)
        # In vmap these are as many products as there are examples, which the kernel has a way for.
        return column * g if g._key.level is None else column.matmul(g.unsqueeze(-2))
    a = input.unsqueeze(0) if input.dim() == 1 else input
    g = _restored(g, input.shape, other_shape)
    if len(other_shape) < 3 and a.dim() > 2 and a.numel() and g.numel():  # the batch is summed by the product itself
        g = adjoint(as_rows(a)).mm(as_rows(g))
    else:
        g = adjoint(a).matmul(g)
    return g.squeeze(-1) if len(other_shape) == 1 else g


gradient(op.matmul, node="MmBackward0", input=_to_left, other=_to_right)


def _scaled(g: Any, factor: Any) -> Any:
    if factor == 1:
        return g
    return g * (factor.conjugate() if isinstance(factor, complex) else factor)


gradient(
    op.addmm,
    input=lambda g, beta: _scaled(g, beta),  # noqa: PLW0108 - rules name what they need
    mat1=lambda g, mat2, alpha: _scaled(g.mm(adjoint(mat2)), alpha),
    mat2=lambda g, mat1, alpha: _scaled(adjoint(mat1).mm(g), alpha),
)
