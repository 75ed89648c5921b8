"""Losses: how far outputs are from targets, as one number."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from tenfold import Tensor

from tenfold.nn import functional as F
from tenfold.nn.layers.distance import PairwiseDistance
from tenfold.nn.module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _Loss(Module):
    """What all losses share: how the losses of the elements become one number.

    `size_average` and `reduce` are the deprecated spelling of `reduction`.
    """

    reduction: str

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = _reduction(size_average, reduce) if size_average is not None or reduce is not None else reduction


class _WeightedLoss(_Loss):
    """A loss with a rescaling weight, kept as the buffer `weight`."""

    weight: Tensor | None

    def __init__(
        self, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


def _reduction(size_average: bool | None, reduce: bool | None) -> str:
    """The `reduction` that the two old flags stand for (each True where missing)."""
    result = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(f"size_average and reduce are deprecated, use reduction='{result}' instead.", UserWarning, stacklevel=4)
    return result


class L1Loss(_Loss):
    """Mean absolute error |x - y|. Shape: any, both alike. `reduction` is mean, sum or none.

    >>> L1Loss()(tenfold.tensor([1.0, 4.0]), tenfold.zeros(2)).item()
    2.5
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """Mean squared error (x - y)^2. Shape: any, both alike. `reduction` is mean, sum or none.

    >>> MSELoss()(tenfold.tensor([1.0, 3.0]), tenfold.zeros(2)).item()
    5.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """(x - y)^2 / (2 beta) where |x - y| < beta, else |x - y| - beta / 2. Shape: any, both alike. Source: Girshick 2015."""

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """(x - y)^2 / 2 where |x - y| < delta, else delta (|x - y| - delta / 2). Shape: any, both alike. Source: Huber 1964."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """Minus the log-probability of the right class. Shape: (N, C, ...) and int64 (N, ...), or (C) and ().

    `weight` (C) rescales classes, `ignore_index` is a target that does not count. `reduction` is mean, sum or none.
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """-log softmax(x)[class], x being unnormalized scores. Shape: (N, C, ...) and int64 (N, ...) or probabilities (N, C, ...).

    `weight` (C) rescales classes, `ignore_index` is a target that does not count, `label_smoothing` mixes that much of the
    uniform distribution into the targets. `reduction` is mean, sum or none.

    >>> round(CrossEntropyLoss()(tenfold.zeros(1, 2), tenfold.tensor([0])).item(), 4)
    0.6931
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction, label_smoothing=self.label_smoothing
        )


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence y (log y - x) for x in log space, and y too with `log_target`. Shape: any, both alike; "batchmean" divides by N."""

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """-(y log x + (1 - y) log(1 - x)) for probabilities x, logarithms limited to -100. Shape: any, both alike. `reduction` is mean, sum or none."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """`BCELoss` of sigmoid(x), computed without overflow; `pos_weight` rescales the positive term. Shape: any, both alike."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class PoissonNLLLoss(_Loss):
    """exp(x) - y x, or x - y log(x + eps) without `log_input`; `full` adds Stirling's term. Shape: any, both alike."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: Any = None,
        eps: float = 1e-8,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """(log max(var, eps) + (x - y)^2 / max(var, eps)) / 2, `full` adds log(2 pi) / 2. Shape: any; var alike or one per sample.

    Source: Nix and Weigend 1994.
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class HingeEmbeddingLoss(_Loss):
    """x where y = 1 and max(0, margin - x) where y = -1. Shape: any, both alike."""

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
    """sum max(0, 1 - (x_target - x_other)) / C over pairs; targets are class indices, ended by -1. Shape: (N, C) or (C), both alike."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-y x)) for y = 1 or -1. Shape: any, both alike."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of the binary cross entropy of sigmoid(x). Shape: (N, C), both alike."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """1 - cos(x1, x2) where y = 1 and max(0, cos(x1, x2) - margin) where y = -1. Shape: (N, D), (N, D), (N), or without N."""

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
    """max(0, -y (x1 - x2) + margin) for y = 1 or -1. Shape: (N) or (), all alike."""

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
    """sum max(0, margin - x_target + x_other)^p / C over the other classes, p = 1 or 2. Shape: (N, C) and int64 (N), or (C) and ().

    Raises ValueError for another p or a weight that is not 1-d.
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
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class TripletMarginLoss(_Loss):
    """max(0, |a - p| - |a - n| + margin) of anchors, positives and negatives. Shape: (N, D) or (D), all alike.

    `swap` takes the nearer of |a - n| and |p - n|. Raises ValueError unless margin > 0. Source: Balntas et al. 2016.
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
            anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps, swap=self.swap, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` under any distance of two tensors (default: Euclidean). Shape: (N, ...), all alike."""

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


class CTCLoss(_Loss):
    """Minus the log-probability of a target sequence over all its alignments. Shape: (T, N, C) or (T, C) log-probabilities,
    (N, S) or flat targets, (N) or () lengths of each.

    `blank` is the class of no label; `zero_infinity` drops impossible alignments. Source: Graves et al. 2006.
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class NLLLoss2d(NLLLoss):
    """Deprecated name of `NLLLoss` for images."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn("NLLLoss2d is deprecated, use NLLLoss.", FutureWarning, stacklevel=2)
        super().__init__(*args, **kwargs)
