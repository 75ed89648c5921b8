"""Distances and similarities between vectors."""

from __future__ import annotations

from math import inf
from typing import Any

import tenfold as tf
from tenfold.dispatch.accepted import Only
from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.ops.pointwise.several import where
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import type_name

_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@composite("distance", method=None)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along a dimension, broadcast.

    >>> import tenfold
    >>> tenfold.cosine_similarity(tenfold.tensor([[3.0, 4.0]]), tenfold.tensor([[4.0, 3.0]]))
    tensor([0.9600])
    """
    dtype = tf.promote_types(x1.dtype, x2.dtype)
    if not dtype.is_floating_point:
        raise RuntimeError(f"cosine_similarity: expected common dtype to be floating point, yet common dtype is {dtype.name}")
    if not eps >= 0:
        raise RuntimeError(f"cosine_similarity: eps must be non-negative, got: {eps}")
    shape = broadcast_shapes("cosine_similarity", [x1.shape, x2.shape])
    x1, x2 = x1.to(dtype).expand(shape), x2.to(dtype).expand(shape)
    return (_unit(x1, dim, eps) * _unit(x2, dim, eps)).sum(dim)


def _unit(x: Tensor, dim: int, eps: float) -> Tensor:
    length = tf.norm(x, 2, dim, keepdim=True)
    with tf.no_grad():
        short = tf.clamp_min(eps - length, 0)
    return x / (length + short)


@composite("distance", method=None)
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension, broadcast.

    >>> import tenfold
    >>> tenfold.pairwise_distance(tenfold.tensor([3.0, 4.0]), tenfold.zeros(2), eps=0.0)
    tensor(5.)
    """
    dim = max(x1.dim(), x2.dim()) - 1
    return tf.norm(x1 - x2 + eps, p, dim, keepdim=keepdim)


_FLOATING = Only("floating", RuntimeError, "{name} only supports floating-point dtypes, got: {dtype}")


@composite("distance", accepts=_FLOATING, method=None)
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distance of every pair of rows: (N, M) -> (N (N - 1) / 2), in the order (0, 1), (0, 2), ...

    >>> import tenfold
    >>> tenfold.pdist(tenfold.tensor([[0.0], [1.0], [3.0]]))
    tensor([1., 3., 2.])
    """
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if not p >= 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got {p}")
    N = input.shape[0]
    first, second = tf.triu_indices(N, N, 1, device=input.device)
    difference = tf.index_select(input, 0, first) - tf.index_select(input, 0, second)
    return _lengths(difference, p)


@composite("distance", accepts=_FLOATING, method=None, rounded_once=True)
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
    if not p >= 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    if compute_mode not in (None, *_MODES):
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    many = x1.size(-2) > 25 or x2.size(-2) > 25
    if p == 2 and x1.size(-1) and (compute_mode == _MODES[1] or (many and compute_mode in (None, _MODES[0]))):
        return _euclidean(x1, x2)
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return _lengths(difference, p)


def _lengths(difference: Tensor, p: float) -> Tensor:
    """The p-norms of the last dimension, with a distance's gradient: 0 of equal rows, also where an infinite one comes in.

    Each of several elements that are the largest gets the whole of it, not its share. Of p = 1 and infinity it is a product
    with the signs, which an infinite one makes nan where elements are equal.
    """
    if not difference.size(-1):
        return difference.sum(-1)
    if 0 < p < 1:  # whose slope at 0 is infinite
        difference = where(difference == 0, 0, difference)
    norms = op.vector_norm(difference, p, -1)
    if not difference.requires_grad or p == 1:
        return norms
    if p == 0:  # the norm's value, and a sum of zeros whose derivative is the distance's
        return norms.detach() + where(tf.zeros_like(difference, dtype=tf.bool), difference, 0).sum(-1)
    if p == inf:
        size = difference.abs()
        finite = size.isfinite()
        size = where(finite, size, 0)
        largest = (size == norms.detach().unsqueeze(-1)) & finite
        return norms.detach() + ((size - size.detach()) * largest).sum(-1)
    return where(norms == 0, 0, norms)


def _euclidean(x1: Any, x2: Any) -> Tensor:
    """Distances by a product; 0, with gradient 0, where rounding would leave a negative square."""
    squares = x1.square().sum(-1, True) + x2.square().sum(-1, True).mT - 2 * x1.matmul(x2.mT)
    none = squares <= 0
    return where(none, 0, where(none, 1, squares).sqrt())
