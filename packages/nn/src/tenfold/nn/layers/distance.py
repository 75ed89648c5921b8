"""Distances and similarities of pairs of vectors."""

from __future__ import annotations

from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.module import Module


class PairwiseDistance(Module):
    """(sum |x1 - x2 + eps|^p)^(1/p) of rows. Shape: (N, D) or (D), (N, D) or (D) -> (N) or (), or (N, 1) with `keepdim`.

    >>> import tenfold
    >>> PairwiseDistance()(tenfold.tensor([[3.0, 4.0]]), tenfold.zeros(1, 2))
    tensor([5.0000])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along `dim`. Shape: (..., D, ...) twice -> (..., ...).

    >>> import tenfold
    >>> CosineSimilarity()(tenfold.tensor([[1.0, 0.0]]), tenfold.tensor([[1.0, 1.0]]))
    tensor([0.7071])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
