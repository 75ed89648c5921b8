"""Distances and similarities between vectors."""

from __future__ import annotations

import tenfold as tf
from tenfold.dispatch.accepted import Only
from tenfold.dispatch.operators import composite
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.tensor.tensor import Tensor


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


@composite(
    "distance", accepts=Only("floating", RuntimeError, "{name} only supports floating-point dtypes, got: {dtype}"), method=None
)
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distance of every pair of rows: (N, M) -> (N (N - 1) / 2), in the order (0, 1), (0, 2), ...

    >>> import tenfold
    >>> tenfold.pdist(tenfold.tensor([[0.0], [1.0], [3.0]]))
    tensor([1., 3., 2.])
    """
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got {p}")
    N = input.shape[0]
    first, second = tf.triu_indices(N, N, 1, device=input.device)
    difference = tf.index_select(input, 0, first) - tf.index_select(input, 0, second)
    return tf.norm(difference, p, 1) if input.shape[1] else difference.sum(1)
