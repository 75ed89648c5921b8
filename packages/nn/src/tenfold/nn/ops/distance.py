"""Distances and similarities between vectors."""

from __future__ import annotations

from math import inf

import tenfold as tf
from tenfold.dispatch.accepted import Only
from tenfold.dispatch.operators import composite
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.nn.arguments import has_kernel, widened
from tenfold.nn.ops.all_pairs import differences_of_pairs, euclidean, fused_distances, in_one_pass, lengths_of
from tenfold.nn.ops.norm.scaling import slopes_of_norm
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
    if type(p) in (int, float) and p > 0 and rows_in_one_pass(x1, x2):
        distance = fused_row_pairs(x1, x2, "distance", float(eps), float(p))[0]
        return distance.unsqueeze(-1) if keepdim else distance
    return tf.norm(x1 - x2 + float(eps), p, dim, keepdim=keepdim)


def rows_in_one_pass(x1: Tensor, x2: Tensor) -> bool:
    """Whether the device has a kernel for the rows of these: plain tensors of one shape and floating dtype.

    On the CPU that is for their gradients: without them the formula is one loop, with compiled kernels.
    """
    if not has_kernel("fused_row_pairs", x1, x2):
        return False
    if x1.device.type == "cpu" and not (tf.is_grad_enabled() and (x1.requires_grad or x2.requires_grad)):
        return False
    return x1.dtype is x2.dtype and x1.dtype.is_floating_point and x1.shape == x2.shape and x1.dim() > 0 and x1.numel() > 0


@composite("distance", method=None)
def fused_row_pairs(x1: Tensor, x2: Tensor, kind: str, eps: float, p: float = 2.0) -> tuple[Tensor, Tensor]:
    """The "cosine" or the "distance" of each pair of rows; and the lengths of both, or of their difference: (2 or 1, *).

    A distance is the `p`-norm; behind infinity's stands how many elements attain it. Of a "smooth" cosine `eps` is added to the
    squares of the lengths, instead of being the least of them.

    >>> import tenfold
    >>> tenfold.op.fused_row_pairs(tenfold.tensor([[3.0, 4.0]]), tenfold.zeros(1, 2), "distance", 0.0)
    (tensor([5.]), tensor([[5.]]))
    """
    a, b = widened(x1), widened(x2)
    if kind == "distance":
        d = a - b + eps
        lengths = tf.norm(d, p, -1)
        kept = [lengths.detach()]
        if p == inf:
            kept.append((d.detach().abs() == kept[0].unsqueeze(-1)).sum(-1).to(a.dtype))
        return lengths.to(x1.dtype), tf.stack(kept)
    if kind == "smooth":
        l1, l2 = _smooth(a, eps), _smooth(b, eps)
        return ((a * b).sum(-1) / (l1 * l2)).to(x1.dtype), tf.stack([l1.detach(), l2.detach()])
    found = (_unit(a, -1, eps) * _unit(b, -1, eps)).sum(-1).to(x1.dtype)
    return found, tf.stack([tf.norm(v.detach(), 2, -1) for v in (a, b)])


def _smooth(x: Tensor, eps: float) -> Tensor:
    return ((x * x).sum(-1) + eps).sqrt()


@composite("distance", method=None)
def fused_row_pairs_grad(
    grad: Tensor, x1: Tensor, x2: Tensor, result: Tensor, lengths: Tensor, kind: str, eps: float, p: float = 2.0
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
        slopes = g * slopes_of_norm(d, tf.norm(d, p, -1, keepdim=True), p)
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
    if input.size(0) > 1 and in_one_pass(input):
        return fused_distances(input, None, float(p), False)
    return lengths_of(differences_of_pairs(input), p, own=True)


@composite("distance", accepts=_FLOATING, method=None)
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
    x1, x2 = x1.contiguous(), x2.contiguous()  # the result and the gradients lie row by row
    many = x1.size(-2) > 25 or x2.size(-2) > 25
    product = p == 2 and bool(x1.size(-1)) and (compute_mode == _MODES[1] or (many and compute_mode in (None, _MODES[0])))
    if in_one_pass(x1, x2) and not (product and x1.dtype.is_half):
        batch = broadcast_shapes("cdist", [x1.shape[:-2], x2.shape[:-2]])
        x1, x2 = (x if x.shape[:-2] == batch else x.expand(*batch, *x.shape[-2:]) for x in (x1, x2))
        return fused_distances(x1, x2, float(p), product)
    if x1.dtype.is_half:  # rounded once
        return cdist(x1.float(), x2.float(), p, compute_mode).to(x1.dtype)
    return euclidean(x1, x2) if product else lengths_of(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)
