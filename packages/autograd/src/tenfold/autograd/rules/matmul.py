"""Gradients of the matrix products."""

from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient, gradients


def adjoint(x: Any) -> Any:
    """The conjugate transpose of the last two dimensions."""
    x = x.transpose(-2, -1)
    return x.conj() if x._array.dtype.kind == "c" else x


def _conj(x: Any) -> Any:
    return x.conj() if x._array.dtype.kind == "c" else x


gradient(op.mm, input=lambda g, mat2: g.mm(adjoint(mat2)), mat2=lambda g, input: adjoint(input).mm(g))
gradient(op.bmm, input=lambda g, mat2: g.bmm(adjoint(mat2)), mat2=lambda g, input: adjoint(input).bmm(g))
gradient(op.dot, input=lambda g, tensor: g * _conj(tensor), tensor=lambda g, input: g * _conj(input))


@gradients(op.matmul, "input", "other", node="MmBackward0")
def _(g: Any, needs: Any, input: Any, other: Any) -> Any:
    """Vectors become matrices of one row or column; the engine sums over broadcast batches."""
    a = input.unsqueeze(0) if input.dim() == 1 else input
    b = other.unsqueeze(1) if other.dim() == 1 else other
    if other.dim() == 1:
        g = g.unsqueeze(-1)
    if input.dim() == 1:
        g = g.unsqueeze(-2)
    to_input = g.matmul(adjoint(b)) if needs[0] else None
    to_other = _to_right(g, a, b) if needs[1] else None
    if to_input is not None and input.dim() == 1:
        to_input = to_input.squeeze(-2)
    if to_other is not None and other.dim() == 1:
        to_other = to_other.squeeze(-1)
    return to_input, to_other


def _to_right(g: Any, a: Any, b: Any) -> Any:
    if b.dim() == 2 and a.dim() > 2 and a.numel() and g.numel():  # the batch is summed by the product itself
        return adjoint(a.reshape(-1, a.shape[-1])).mm(g.reshape(-1, g.shape[-1]))
    return adjoint(a).matmul(g)


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
