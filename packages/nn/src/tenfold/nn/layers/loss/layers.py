"""Losses: how far outputs are from targets, as one number."""

from __future__ import annotations

import warnings
from typing import Any

from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.module import Module


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

    >>> import tenfold
    >>> L1Loss()(tenfold.tensor([1.0, 4.0]), tenfold.zeros(2)).item()
    2.5
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """Mean squared error (x - y)^2. Shape: any, both alike. `reduction` is mean, sum or none.

    >>> import tenfold
    >>> MSELoss()(tenfold.tensor([1.0, 3.0]), tenfold.zeros(2)).item()
    5.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """(x - y)^2 / (2 beta) where |x - y| < beta, else |x - y| - beta / 2. Shape: any, both alike. Source: Girshick 2015.

    >>> import tenfold
    >>> SmoothL1Loss()(tenfold.tensor([0.5, 3.0]), tenfold.zeros(2)).item()
    1.3125
    """

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
    """(x - y)^2 / 2 where |x - y| < delta, else delta (|x - y| - delta / 2). Shape: any, both alike. Source: Huber 1964.

    >>> import tenfold
    >>> HuberLoss(delta=2.0)(tenfold.tensor([1.0, 4.0]), tenfold.zeros(2)).item()
    3.25
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """Minus the log-probability of the right class. Shape: (N, C, ...) and int64 (N, ...), or (C) and ().

    `weight` (C) rescales classes, `ignore_index` is a target that does not count. `reduction` is mean, sum or none.

    >>> import tenfold
    >>> NLLLoss()(tenfold.tensor([[-0.5, -1.0], [-2.0, -0.25]]), tenfold.tensor([0, 1])).item()
    0.375
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
    """-log softmax(x)[class], x being unnormalized scores. Shape: (N, C, ...) and int64 (N, ...) or probabilities (N,
    C, ...).

    `weight` (C) rescales classes, `ignore_index` is a target that does not count, `label_smoothing` mixes that much of the
    uniform distribution into the targets. `reduction` is mean, sum or none.

    >>> import tenfold
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
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence y (log y - x) for x in log space, and y too with `log_target`. Shape: any, both
    alike; "batchmean" divides by N.

    >>> import tenfold
    >>> round(KLDivLoss(reduction="batchmean")(tenfold.tensor([[0.5, 0.5]]).log(), tenfold.tensor([[1.0, 0.0]])).item(), 4)
    0.6931
    """

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
    """-(y log x + (1 - y) log(1 - x)) for probabilities x, logarithms limited to -100. Shape: any, both alike.
    `reduction` is mean, sum or none.

    >>> import tenfold
    >>> round(BCELoss()(tenfold.tensor([0.5, 0.5]), tenfold.tensor([0.0, 1.0])).item(), 4)
    0.6931
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """`BCELoss` of sigmoid(x), computed without overflow; `pos_weight` rescales the positive term. Shape: any, both alike.

    >>> import tenfold
    >>> round(BCEWithLogitsLoss()(tenfold.zeros(2), tenfold.tensor([0.0, 1.0])).item(), 4)
    0.6931
    """

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
    """exp(x) - y x, or x - y log(x + eps) without `log_input`; `full` adds Stirling's term. Shape: any, both alike.

    >>> import tenfold
    >>> PoissonNLLLoss()(tenfold.zeros(2), tenfold.tensor([1.0, 2.0])).item()
    1.0
    """

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
    """(log max(var, eps) + (x - y)^2 / max(var, eps)) / 2, `full` adds log(2 pi) / 2. Shape: any; var alike or one per
    sample.

    Source: Nix and Weigend 1994.

    >>> import tenfold
    >>> GaussianNLLLoss()(tenfold.tensor([2.0]), tenfold.tensor([0.0]), tenfold.ones(1)).item()
    2.0
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class CTCLoss(_Loss):
    """Minus the log-probability of a target sequence over all its alignments. Shape: (T, N, C) or (T, C) log-probabilities,
    (N, S) or flat targets, (N) or () lengths of each.

    `blank` is the class of no label; `zero_infinity` drops impossible alignments. Source: Graves et al. 2006.

    >>> import tenfold
    >>> scores = tenfold.zeros(4, 1, 3).log_softmax(2)
    >>> round(CTCLoss()(scores, tenfold.tensor([[1, 2]]), (4,), (2,)).item(), 4)
    0.8432
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)


class NLLLoss2d(NLLLoss):
    """Deprecated name of `NLLLoss` for images."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn("NLLLoss2d is deprecated, use NLLLoss.", FutureWarning, stacklevel=2)
        super().__init__(*args, **kwargs)
