"""Distances of all pairs of rows as an operator: where a device has kernels for it, no difference is kept in memory.

Everywhere else they are the formulas here by themselves, which `cdist` and `pdist` (distance.py) call.
"""

from __future__ import annotations

from math import inf, nan

import numpy as np

import tenfold as tf
from tenfold.dispatch.operators import composite, op
from tenfold.nn.arguments import has_kernel, widened
from tenfold.ops.pointwise.several import where
from tenfold.tensor.tensor import Tensor


def in_one_pass(x1: Tensor, x2: Tensor | None = None) -> bool:
    """Whether the device has a kernel for the distances of these: plain floating tensors that are not empty."""
    if not has_kernel("fused_distances", x1, x2) or not x1.dtype.is_floating_point or not x1.numel():
        return False
    return x2 is None or bool(x2.numel())


def lengths_of(difference: Tensor, p: float, own: bool = False) -> Tensor:
    """The p-norms of the last dimension, with a distance's gradient: 0 of equal rows, also where an infinite one comes in.

    Each of several elements that are the largest gets the whole of it, not its share. Of p = 1 and infinity it is a product
    with the signs, which an infinite one makes nan where elements are equal. The largest of two matrices' differences is that
    of those that are known, of one's own rows (`own`) it is nan where one is.
    """
    if not difference.size(-1):
        return difference.sum(-1)
    if p == inf and not own:
        difference = where(difference.isnan(), 0, difference)
    if p == 1 and difference.requires_grad:
        return (difference * sign_of(difference.detach())).sum(-1)
    if 0 < p < 1:  # whose slope at 0 is infinite
        difference = where(difference == 0, 0, difference)
    norms = op.vector_norm(difference, p, -1)
    if p == 0:  # how many differ: nan, where it is unknown
        norms = where(difference.isnan().any(-1), nan, norms)
    if not difference.requires_grad:
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


def sign_of(difference: Tensor) -> Tensor:
    """1, -1 or 0, and nan of nan."""
    return where(difference.isnan(), difference, difference.sign())


def euclidean(x1: Tensor, x2: Tensor) -> Tensor:
    """Distances by a product; 0, with gradient 0, where rounding would leave a negative square."""
    squares = x1.square().sum(-1, True) + x2.square().sum(-1, True).mT - 2 * x1.matmul(x2.mT)
    none = squares <= 0
    return where(none, 0, where(none, 1, squares).sqrt())


def _pairs(x: Tensor) -> tuple[Tensor, Tensor]:
    """The rows (0, 1), (0, 2), ... of a matrix, first ones and second ones."""
    first, second = (tf.from_numpy(rows).to(x.device) for rows in np.triu_indices(len(x), 1))
    return first, second


def differences_of_pairs(x: Tensor) -> Tensor:
    """The differences of rows (0, 1), (0, 2), ... of a matrix."""
    first, second = _pairs(x)
    return tf.index_select(x, 0, first) - tf.index_select(x, 0, second)


@composite("distance", method=None)
def fused_distances(x1: Tensor, x2: Tensor | None, p: float, product: bool) -> Tensor:
    """The p-norms of the differences of all pairs of rows. Shape: (*B, P, M), (*B, R, M) -> (*B, P, R).

    Without `x2` they are those of pairs (0, 1), (0, 2), ... of x1's own rows: (N, M) -> (N (N - 1) / 2). With `product` those
    of p = 2 come from the product of the matrices.

    >>> import tenfold
    >>> tenfold.op.fused_distances(tenfold.tensor([[0.0, 0.0]]), tenfold.tensor([[3.0, 4.0]]), 2.0, False)
    tensor([[5.]])
    """
    a = widened(x1)
    if x2 is None:
        return lengths_of(differences_of_pairs(a), p, own=True).to(x1.dtype)
    b = widened(x2)
    found = euclidean(a, b) if product else lengths_of(a.unsqueeze(-2) - b.unsqueeze(-3), p)
    return found.to(x1.dtype)


@composite("distance", method=None)
def fused_distances_grad(grad: Tensor, x1: Tensor, x2: Tensor | None, result: Tensor, p: float, product: bool) -> Tensor:
    """The gradient of `fused_distances` for x1; the body computes the distances again.

    >>> import tenfold
    >>> x1, x2 = tenfold.tensor([[3.0, 4.0]]), tenfold.zeros(1, 2)
    >>> out = tenfold.op.fused_distances(x1, x2, 2.0, False)
    >>> tenfold.op.fused_distances_grad(tenfold.ones(1, 1), x1, x2, out, 2.0, False)
    tensor([[0.6000, 0.8000]])
    """
    a, g = widened(x1), widened(grad)
    if x2 is None:
        first, second = _pairs(a)
        slopes = _slopes(differences_of_pairs(a), g, p, own=True)
        return tf.zeros_like(a).index_add(0, first, slopes).index_add(0, second, -slopes).to(x1.dtype)
    b = widened(x2)
    if not product:
        return _slopes(a.unsqueeze(-2) - b.unsqueeze(-3), g, p).sum(-2).to(x1.dtype)
    share = _over(g, euclidean(a, b))
    return (a * share.sum(-1, True) - share.matmul(b)).to(x1.dtype)


def _over(x: Tensor, length: Tensor) -> Tensor:
    """x / length, 0 for a length of 0, whose slope is taken for 0."""
    none = length == 0
    return where(none, 0, x / where(none, 1, length))


def _slopes(difference: Tensor, grad: Tensor, p: float, own: bool = False) -> Tensor:
    """What each difference gets of the gradient of its norm."""
    g = grad.unsqueeze(-1)
    if p == 0:
        return tf.zeros_like(difference)
    if p == 1:
        return sign_of(difference) * g
    norms = lengths_of(difference, p, own).unsqueeze(-1)
    if p == inf:
        short = norms - difference.abs()  # nan where either is, or both are infinite
        return where(short.isnan(), short, where(short == 0, difference.sign(), 0)) * g
    if p == 2:
        return _over(g, norms) * difference
    still = difference == 0
    powers = where(still, 1, difference).abs() ** (p - 1) * difference.sign()
    return where(still, 0, powers) * _over(g, norms ** (p - 1))
