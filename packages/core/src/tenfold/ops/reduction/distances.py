"""Distances between the rows of two matrices, and limits on the norms of slices."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.ops.pointwise.arithmetic import where
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import type_name

_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")

_FLOATING = Only("floating", RuntimeError, "{name} only supports floating-point dtypes, got: {dtype}")
_NORMED = Only("floating complex", RuntimeError, "{name}: Expected a floating point or complex tensor as input. Got {dtype}")


@composite("reduction", accepts=_FLOATING, method=None, rounded_once=True)
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None) -> Tensor:
    """The p-norm of the difference of each row of x1 and each row of x2. Shape: (..., P, M), (..., R, M) -> (..., P, R).

    Formula of p = 2 with more than 25 rows, or on demand: sqrt(|a|^2 + |b|^2 - 2 a b), a product of matrices; otherwise, or
    with `compute_mode="donot_use_mm_for_euclid_dist"`, the norms of differences, which are more exact for close rows.

    >>> import tenfold
    >>> tenfold.cdist(tenfold.tensor([[0.0, 0.0]]), tenfold.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5., 1.]])
    """
    if x1.dim() < 2 or x2.dim() < 2:
        raise RuntimeError(f"cdist only supports at least 2D tensors, got {x1.dim()}D and {x2.dim()}D")
    if x1.size(-1) != x2.size(-1):
        raise RuntimeError(f"cdist: X1 and X2 must have the same number of columns. X1: {x1.size(-1)} X2: {x2.size(-1)}")
    if x1.dtype is not x2.dtype:
        raise RuntimeError(f"cdist: expected scalar type {type_name(x1.dtype)} but found {type_name(x2.dtype)}")
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    if compute_mode not in (None, *_MODES):
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    many = x1.size(-2) > 25 or x2.size(-2) > 25
    if p == 2 and x1.size(-1) and (compute_mode == _MODES[1] or (many and compute_mode in (None, _MODES[0]))):
        return _euclidean(x1, x2)
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    if not x1.size(-1):
        return difference.sum(-1)
    return op.vector_norm(difference, p, -1)


def _euclidean(x1: Any, x2: Any) -> Tensor:
    """Distances by a product; 0, with gradient 0, where rounding would leave a negative square."""
    squares = x1.square().sum(-1, True) + x2.square().sum(-1, True).mT - 2 * x1.matmul(x2.mT)
    none = squares <= 0
    return where(none, 0, where(none, 1, squares).sqrt())


@composite("reduction", accepts=_NORMED, inplace=True, out=True)
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Each slice along a dimension whose p-norm is above `maxnorm`, scaled down to it.

    >>> import tenfold
    >>> tenfold.renorm(tenfold.tensor([[3.0, 4.0], [0.5, 0.0]]), 2, 0, 1)
    tensor([[0.6000, 0.8000],
            [0.5000, 0.0000]])
    """
    dim = _check_renorm(input.shape, p, dim, maxnorm)
    dims = [d for d in range(input.dim()) if d != dim]
    if input.dtype.is_half:  # whose norms may be larger than any of its numbers
        return renorm(input.float(), p, dim, maxnorm).to(input.dtype)
    norms: Any = op.vector_norm(input, p, dims, True)
    # The small number keeps rounding from leaving a norm above the limit.
    if input.requires_grad:  # only what is scaled has a norm that matters, even beside nan
        scaled = where(norms > maxnorm, input, 1)
        factor = (maxnorm / (op.vector_norm(scaled, p, dims, True) + 1e-7)).to(norms.dtype)
        return where(norms > maxnorm, scaled * factor, input).contiguous()
    return (input * where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0).to(norms.dtype)).contiguous()


def _check_renorm(shape: Any, p: float, dim: int, maxnorm: float) -> int:
    """The dimension, counted from the front; RuntimeError for arguments that mean no limit."""
    if len(shape) < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {len(shape)} dimensions")
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got p={p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    return wrap_dim(dim, len(shape), "renorm")


@renorm.rule
def _(input: Any, p: float, dim: int, maxnorm: float) -> Meta:
    _check_renorm(input.shape, p, dim, maxnorm)
    return Meta(input.shape, input.dtype)
