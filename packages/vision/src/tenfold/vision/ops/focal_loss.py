"""The focal loss of dense detection."""

from __future__ import annotations

from tenfold import Tensor
from tenfold.nn.functional import binary_cross_entropy_with_logits


def sigmoid_focal_loss(inputs: Tensor, targets: Tensor, alpha: float = 0.25, gamma: float = 2, reduction: str = "none") -> Tensor:
    """Binary cross entropy weighted by ``(1 - p)**gamma``, p being the probability given to the true class.

    ``alpha`` weighs the positive class and 1 - alpha the negative; -1 weighs neither.

    Shape: ``inputs`` (logits) and ``targets`` (0 or 1, float) alike; the result is alike, or 0-d for "mean" and "sum".

    Raises:
        ValueError: ``alpha`` is neither in 0..1 nor -1, or ``reduction`` is not "none", "mean" or "sum".

    Source: T.-Y. Lin and others, Focal Loss for Dense Object Detection, arXiv:1708.02002, equation 5.
    """
    if not (0 <= alpha <= 1) and alpha != -1:
        raise ValueError(f"sigmoid_focal_loss: Invalid alpha value: {alpha}. alpha must be in the range [0,1] or -1 for ignore.")
    p = inputs.sigmoid()
    missed = p + targets - 2 * p * targets  # 1 - p for a true class, p for a false one
    loss = binary_cross_entropy_with_logits(inputs, targets, reduction="none") * missed**gamma
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(
            f"sigmoid_focal_loss: Invalid Value for arg 'reduction': {reduction!r}; supported: 'none', 'mean', 'sum'"
        )
    return loss.mean() if reduction == "mean" else loss.sum()
