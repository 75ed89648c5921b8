"""Losses of classes, pairs and triplets kept apart by a margin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.layers.distance import PairwiseDistance
from tenfold.nn.layers.loss.layers import _Loss, _WeightedLoss
from tenfold.nn.module import Module


class HingeEmbeddingLoss(_Loss):
    """x where y = 1 and max(0, margin - x) where y = -1. Shape: any, both alike.

    >>> import tenfold
    >>> HingeEmbeddingLoss()(tenfold.tensor([0.5, 0.25]), tenfold.tensor([1, -1])).item()
    0.625
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """sum max(0, 1 - (x_target - x_other)) / C over pairs; targets are class indices, ended by -1. Shape: (N, C) or
    (C), both alike.

    >>> import tenfold
    >>> MultiLabelMarginLoss()(tenfold.tensor([[0.5, 0.25, 0.0, 1.0]]), tenfold.tensor([[3, 0, -1, 1]])).item()
    0.375
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-y x)) for y = 1 or -1. Shape: any, both alike.

    >>> import tenfold
    >>> round(SoftMarginLoss()(tenfold.tensor([0.0, 2.0]), tenfold.tensor([1.0, -1.0])).item(), 4)
    1.41
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of the binary cross entropy of sigmoid(x). Shape: (N, C), both alike.

    >>> import tenfold
    >>> round(MultiLabelSoftMarginLoss()(tenfold.zeros(1, 3), tenfold.tensor([[0.0, 1.0, 1.0]])).item(), 4)
    0.6931
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """1 - cos(x1, x2) where y = 1 and max(0, cos(x1, x2) - margin) where y = -1. Shape: (N, D), (N, D), (N), or without N.

    >>> import tenfold
    >>> CosineEmbeddingLoss()(tenfold.tensor([[1.0, 0.0]]), tenfold.tensor([[0.0, 2.0]]), tenfold.tensor([1])).item()
    1.0
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """max(0, -y (x1 - x2) + margin) for y = 1 or -1. Shape: (N) or (), all alike.

    >>> import tenfold
    >>> MarginRankingLoss(margin=1.0)(tenfold.tensor([1.0, 3.0]), tenfold.tensor([2.0, 0.0]), tenfold.tensor([1, 1])).item()
    1.0
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """sum max(0, margin - x_target + x_other)^p / C over the other classes, p = 1 or 2. Shape: (N, C) and int64 (N), or
    (C) and ().

    Raises ValueError for another p or a weight that is not 1-d.

    >>> import tenfold
    >>> MultiMarginLoss()(tenfold.tensor([[0.25, 0.5, 1.0]]), tenfold.tensor([2])).item()
    0.25
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"MultiMarginLoss: only p == 1 and p == 2 supported, got {p}")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: weight must be 1-dimensional, got {weight.dim()} dimensions")
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """max(0, |a - p| - |a - n| + margin) of anchors, positives and negatives. Shape: (N, D) or (D), all alike.

    `swap` takes the nearer of |a - n| and |p - n|. Raises ValueError unless margin > 0. Source: Balntas et al. 2016.

    >>> import tenfold
    >>> round(TripletMarginLoss()(tenfold.zeros(1, 2), tenfold.tensor([[3.0, 4.0]]), tenfold.tensor([[0.0, 5.0]])).item(), 3)
    1.0
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        _check_margin(self, margin)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` under any distance of two tensors (default: Euclidean). Shape: (N, ...), all alike.

    >>> import tenfold
    >>> loss = TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(1))
    >>> loss(tenfold.zeros(1, 2), tenfold.ones(1, 2), tenfold.ones(1, 2)).item()
    1.0
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        _check_margin(self, margin)
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


def _check_margin(loss: Module, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{type(loss).__name__}: expected margin to be greater than 0, got {margin} instead")
