"""Norms under their older names, of differences, and of all dimensions but one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.tensor.tensor import Tensor


@composite("norms", rounded_once=True)
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of input - other.

    >>> import tenfold
    >>> tenfold.dist(tenfold.tensor([3.0, 4.0]), tenfold.zeros(2))
    tensor(5.)
    """
    return op.vector_norm(input - other, p)


@composite("norms", method=None, out="same")
def frobenius_norm(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """The root of the sum of squares over one or two dimensions, or over all that there are for `dim=()`.

    Raises: RuntimeError for more dimensions; `linalg.vector_norm` takes any number.

    >>> import tenfold
    >>> tenfold.frobenius_norm(tenfold.tensor([[3.0, 4.0], [0.0, 5.0]]), 1)
    tensor([5., 5.])
    """
    dims = tuple(dim) if isinstance(dim, Sequence) else (dim,)
    if len(dims) > 2:
        raise RuntimeError(
            f"frobenius_norm: Expected at most 2 dimensions, but got {len(dims)} dimensions instead; "
            "tenfold.linalg.vector_norm takes any number"
        )
    return op.vector_norm(input, 2, dims or None, keepdim)


@composite("norms", method=None, out="same")
def nuclear_norm(input: Tensor, dim: Any | bool = (-2, -1), keepdim: Any = False) -> Tensor:
    """The sum of singular values: `linalg.matrix_norm(input, "nuc")`. A bool in the place of `dim` is `keepdim`.

    Shape: (..., M, N) -> (...).

    >>> import tenfold
    >>> tenfold.nuclear_norm(tenfold.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor(7.)
    """
    if isinstance(dim, bool):
        dim, keepdim = (-2, -1), dim
    if len(dim) != 2:
        raise RuntimeError(f"nuclear_norm: linalg.matrix_norm: dim must be a 2-tuple. Got {', '.join(map(str, dim))}")
    return op.linalg_matrix_norm(input, "nuc", dim, keepdim)


@composite("norms", method=None)
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The p-norm over all dimensions but one, which keep size 1; for `dim=-1` over all, without dimensions.

    >>> import tenfold
    >>> tenfold.norm_except_dim(tenfold.tensor([[3.0, 4.0], [0.0, 5.0]]))
    tensor([[5.],
            [5.]])
    """
    if dim == -1:
        return op.vector_norm(v, pow)
    kept = wrap_dim(dim, v.dim(), "norm_except_dim")
    rest = tuple(d for d in range(v.dim()) if d != kept)
    return op.vector_norm(v, pow, rest, True) if rest else op.vector_norm(v.unsqueeze(0), pow, 0)
