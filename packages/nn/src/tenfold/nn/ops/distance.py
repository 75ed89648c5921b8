"""Distances and similarities between vectors."""

from __future__ import annotations

from math import inf
from typing import Any

import tenfold as tf
from tenfold.dispatch.accepted import Only
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.nn.arguments import widened
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
    if rows_in_one_pass(x1, x2):
        return fused_row_pairs(x1.movedim(dim, -1), x2.movedim(dim, -1), "cosine", float(eps))[0]
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
    if p == 2 and rows_in_one_pass(x1, x2):
        distance = fused_row_pairs(x1, x2, "distance", float(eps))[0]
        return distance.unsqueeze(-1) if keepdim else distance
    return tf.norm(x1 - x2 + eps, p, dim, keepdim=keepdim)


def rows_in_one_pass(x1: Tensor, x2: Tensor) -> bool:
    """Whether the device has a kernel for the rows of these: plain tensors of one shape and floating dtype."""
    key = x1._key
    if key is CPU or key.level is not None or key.override or key.kernels.fused_row_pairs is None or x2._key is not key:
        return False
    return x1.dtype is x2.dtype and x1.dtype.is_floating_point and x1.shape == x2.shape and x1.dim() > 0 and x1.numel() > 0


@composite("distance", method=None)
def fused_row_pairs(x1: Tensor, x2: Tensor, kind: str, eps: float) -> tuple[Tensor, Tensor]:
    """The "cosine" or the "distance" of each pair of rows; and the lengths of both, or of their difference: (2 or 1, *).

    Of a "smooth" cosine `eps` is added to the squares of the lengths, instead of being the least of them.

    >>> import tenfold
    >>> tenfold.op.fused_row_pairs(tenfold.tensor([[3.0, 4.0]]), tenfold.zeros(1, 2), "distance", 0.0)
    (tensor([5.]), tensor([[5.]]))
    """
    a, b = widened(x1), widened(x2)
    if kind == "distance":
        lengths = tf.norm(a - b + eps, 2, -1)
        return lengths.to(x1.dtype), lengths.detach().unsqueeze(0)
    if kind == "smooth":
        l1, l2 = _smooth(a, eps), _smooth(b, eps)
        return ((a * b).sum(-1) / (l1 * l2)).to(x1.dtype), tf.stack([l1.detach(), l2.detach()])
    found = (_unit(a, -1, eps) * _unit(b, -1, eps)).sum(-1).to(x1.dtype)
    return found, tf.stack([tf.norm(v.detach(), 2, -1) for v in (a, b)])


def _smooth(x: Tensor, eps: float) -> Tensor:
    return ((x * x).sum(-1) + eps).sqrt()


@composite("distance", method=None)
def fused_row_pairs_grad(
    grad: Tensor, x1: Tensor, x2: Tensor, result: Tensor, lengths: Tensor, kind: str, eps: float
) -> tuple[Tensor, Tensor]:
    """The gradients of `fused_row_pairs` for both; the body computes the lengths again.

    >>> import tenfold
    >>> x1, x2 = tenfold.tensor([[3.0, 4.0]]), tenfold.zeros(1, 2)
    >>> out, lengths = tenfold.op.fused_row_pairs(x1, x2, "distance", 0.0)
    >>> tenfold.op.fused_row_pairs_grad(tenfold.ones(1), x1, x2, out, lengths, "distance", 0.0)[1]
    tensor([[-0.6000, -0.8000]])
    """
    a, b, g = widened(x1), widened(x2), widened(grad).unsqueeze(-1)
    if kind == "distance":
        d = a - b + eps
        slopes = _over(g, tf.norm(d, 2, -1, keepdim=True)) * d
        return slopes.to(x1.dtype), (-slopes).to(x1.dtype)
    l1, l2 = (_smooth(v, eps).unsqueeze(-1) if kind == "smooth" else tf.norm(v, 2, -1, keepdim=True) for v in (a, b))
    with tf.no_grad():
        s1, s2 = (tf.clamp_min(eps - v, 0) for v in (l1, l2))
    d1, d2 = l1 + s1, l2 + s2
    share = g / (d1 * d2)
    cosine = g * (a * b).sum(-1, True) / (d1 * d2)
    return (share * b - _over(cosine, d1 * l1) * a).to(x1.dtype), (share * a - _over(cosine, d2 * l2) * b).to(x1.dtype)


def _over(x: Tensor, length: Tensor) -> Tensor:
    """x / length, 0 for a length of 0, whose slope is taken for 0."""
    none = length == 0
    return where(none, 0, x / where(none, 1, length))


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
