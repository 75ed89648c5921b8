"""Losses, each by its formula for an element (or a row of scores), then reduced."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tenfold.testing.references import NO_REFERENCE, NO_SPECIAL, REFERENCES
from tenfold.testing.references.activation import log_softmax

Array = Any


def total(losses: Array, reduction: str) -> Array:
    if reduction == "batchmean":
        return losses.sum() / losses.shape[0]
    return losses.mean() if reduction == "mean" else losses.sum() if reduction == "sum" else losses


def elementwise(formula: Any) -> Any:
    """A loss of an input and a target, with the old parameters that say the reduction in two words left out."""

    def reference(input: Array, target: Array, *args: Any, reduction: str = "mean", weight: Any = None, **keywords: Any) -> Array:
        if args:
            keywords["first"] = args[0]
        losses = formula(input, target, **keywords)
        if weight is None:
            return total(losses, reduction)
        weighted = losses * weight
        return weighted.sum() / np.broadcast_to(weight, losses.shape).sum() if reduction == "mean" else total(weighted, reduction)

    return reference


def averaged(formula: Any) -> Any:
    """The same where a weighted mean divides by the number of elements."""

    def reference(input: Array, target: Array, weight: Any = None, reduction: str = "mean", **keywords: Any) -> Array:
        losses = formula(input, target, **keywords)
        return total(losses if weight is None else losses * weight, reduction)

    return reference


def huber(input: Array, target: Array, delta: float = 1.0) -> Array:
    d = np.abs(input - target)
    return np.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))


def cross_entropy_of(p: Array, target: Array) -> Array:
    """Logarithms are cut off at -100."""
    return -(target * np.maximum(np.log(p), -100) + (1 - target) * np.maximum(np.log1p(-p), -100))


def with_logits(input: Array, target: Array, pos_weight: Any = None) -> Array:
    share = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    return (1 - target) * input + share * np.logaddexp(0, -input)


def with_logits_grad(grad: Array, input: Array, target: Array, pos_weight: Any = None) -> Array:
    if pos_weight is None:
        return grad * (1 / (1 + np.exp(-input)) - target)
    positive = target * pos_weight
    return grad * ((1 - target + positive) / (1 + np.exp(-input)) - positive)


def kl_div(input: Array, target: Array, reduction: str = "mean", log_target: bool = False) -> Array:
    if log_target:
        return total(np.exp(target) * (target - input), reduction)
    log = np.where(target == 0, 0, np.log(np.where(target == 0, 1, target)))
    return total(np.where(np.equal(target, 0), 0, target * log) - target * input, reduction)


def poisson(
    input: Array, target: Array, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean"
) -> Array:
    losses = np.exp(input) - target * input if log_input else input - target * np.log(input + eps)
    if full:
        stirling = target * np.log(target) - target + 0.5 * np.log(2 * np.pi * target)
        losses = losses + np.where(target > 1, stirling, 0)
    return total(losses, reduction)


def gaussian(input: Array, target: Array, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> Array:
    var = np.asarray(var, np.float64)
    if var.ndim == input.ndim - 1 and var.ndim:
        var = var[..., None]
    var = np.maximum(var, eps)
    losses = 0.5 * (np.log(var) + (input - target) ** 2 / var) + (0.5 * math.log(2 * math.pi) if full else 0)
    return total(losses, reduction)


def hinge_embedding(input: Array, target: Array, margin: float = 1.0, reduction: str = "mean") -> Array:
    return total(np.where(target != 1, np.maximum(margin - input, 0), 0) + np.where(target != -1, input, 0), reduction)


def ranking(input1: Array, input2: Array, target: Array, margin: float = 0, reduction: str = "mean") -> Array:
    return total(np.maximum(-target * (input1 - input2) + margin, 0), reduction)


def above_zero(gaps: Array) -> Array:
    """The gaps above 0, of which NaN is none, as in PyTorch's kernels."""
    return np.where(gaps > 0, gaps, 0.0)


def multi_margin(
    input: Array, target: Array, p: int = 1, margin: float = 1.0, weight: Any = None, reduction: str = "mean"
) -> Array:
    rows, classes = np.atleast_2d(input), np.atleast_1d(target).astype(np.int64)
    own = rows[np.arange(len(rows)), classes][:, None]
    terms = above_zero(margin - own + rows) ** p
    if weight is not None:
        terms = terms * weight[classes][:, None]
    terms[np.arange(len(rows)), classes] = 0
    losses = terms.sum(1) / rows.shape[1]
    return total(losses if np.ndim(input) > 1 else losses[0], reduction)


def multilabel_margin(input: Array, target: Array, reduction: str = "mean") -> Array:
    """Labels stand before the first -1 of a row."""
    rows, labels = np.atleast_2d(input), np.atleast_2d(target).astype(np.int64)
    losses = []
    for x, row in zip(rows, labels, strict=True):
        own = list(row[: np.argmax(row < 0)] if (row < 0).any() else row)
        others = [i for i in range(len(x)) if i not in own]
        losses.append(sum(above_zero(1 - (x[i] - x[j])) for i in own for j in others) / len(x))
    found = np.asarray(losses)
    return total(found if np.ndim(input) > 1 else found[0], reduction)


def multilabel_soft(input: Array, target: Array, weight: Any = None, reduction: str = "mean") -> Array:
    losses = with_logits(input, target) * (1 if weight is None else weight)
    return total(losses.mean(-1), reduction)


def cosine_embedding(input1: Array, input2: Array, target: Array, margin: float = 0, reduction: str = "mean") -> Array:
    eps = 1e-12
    lengths = np.sqrt(((input1**2).sum(-1) + eps) * ((input2**2).sum(-1) + eps))
    cosine = (input1 * input2).sum(-1) / lengths
    return total(np.where(target == 1, 1 - cosine, np.maximum(cosine - margin, 0)), reduction)


def triplet(
    anchor: Array, positive: Array, negative: Array, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False,
    reduction: str = "mean",
) -> Array:  # fmt: skip
    def distance(a: Array, b: Array) -> Array:
        return (np.abs(a - b + eps) ** p).sum(-1) ** (1 / p)

    apart = distance(anchor, negative)
    if swap:
        apart = np.minimum(apart, distance(positive, negative))
    return total(np.maximum(distance(anchor, positive) - apart + margin, 0), reduction)


def triplet_with_distance(
    anchor: Array, positive: Array, negative: Array, distance_function: Any = None, margin: float = 1.0, swap: bool = False,
    reduction: str = "mean",
) -> Array:  # fmt: skip
    def euclidean(a: Array, b: Array) -> Array:
        return np.sqrt(((a - b + 1e-6) ** 2).sum(-1))

    distance = distance_function or euclidean
    apart = distance(anchor, negative)
    if swap:
        apart = np.minimum(apart, distance(positive, negative))
    return total(np.maximum(distance(anchor, positive) - apart + margin, 0), reduction)


def nll(
    input: Array, target: Array, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", smoothing: float = 0.0
) -> tuple[Array, Array]:
    """The loss and the sum of its weights; classes are dimension 1, or 0 of a single example."""
    dim = 1 if input.ndim > 1 else 0
    C = input.shape[dim]
    kept = target != ignore_index
    classes = np.where(kept, target, 0).astype(np.int64)
    factors = np.ones(C) if weight is None else weight
    picked = np.squeeze(np.take_along_axis(input, np.expand_dims(classes, dim), dim), dim)
    weights = np.where(kept, factors[classes], 0)
    losses = np.where(kept, -picked * factors[classes], 0)
    if smoothing:
        spread = -(np.moveaxis(input, dim, -1) * factors).sum(-1) * smoothing / C
        losses = losses * (1 - smoothing) + np.where(kept, spread, 0)
    if reduction == "mean":
        return losses.sum() / weights.sum(), weights.sum()
    return total(losses, reduction), weights.sum()


def cross_entropy(
    input: Array, target: Array, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Array:  # fmt: skip
    dim = 1 if input.ndim > 1 else 0
    log_probs = log_softmax(input, dim)
    if target.shape != input.shape:
        return nll(log_probs, target, weight, ignore_index, reduction, label_smoothing)[0]
    target = target * (1 - label_smoothing) + label_smoothing / input.shape[dim]
    factors = 1 if weight is None else weight.reshape(-1, *[1] * (input.ndim - dim - 1))
    losses = -(log_probs * target * factors).sum(dim)
    return losses.sum() / (losses.size or 1) if reduction == "mean" else total(losses, reduction)


def _fused_nll(input: Array, target: Array, weight: Any, ignore_index: int, reduction: str) -> tuple[Array, Array]:
    return nll(input, target, weight, ignore_index, reduction)


def _fused_cross_entropy(
    input: Array, target: Array, weight: Any, ignore_index: int, label_smoothing: float, reduction: str
) -> tuple[Array, ...]:
    dim = 1 if input.ndim > 1 else 0
    loss, weights = nll(log_softmax(input, dim), target, weight, ignore_index, reduction, label_smoothing)
    return loss, weights, None, None  # what the gradient needs of each row


def _soft(input: Array, target: Array, weight: Any, label_smoothing: float, reduction: str) -> tuple[Array, ...]:
    return cross_entropy(input, target, weight, reduction=reduction, label_smoothing=label_smoothing), None


REFERENCES |= {
    "mse_loss": elementwise(lambda input, target: (input - target) ** 2),
    "l1_loss": elementwise(lambda input, target: np.abs(input - target)),
    "huber_loss": averaged(huber),
    "binary_entropies": cross_entropy_of,
    "binary_entropies_grad": lambda grad, input, target: grad * (input - target) / np.maximum(input * (1 - input), 1e-12),
    "binary_cross_entropy": averaged(cross_entropy_of),
    "binary_cross_entropy_with_logits": averaged(with_logits),
    "logit_entropies": with_logits,
    "logit_entropies_grad": with_logits_grad,
    "kl_div": kl_div,
    "poisson_nll_loss": poisson,
    "gaussian_nll_loss": gaussian,
    "hinge_embedding_loss": hinge_embedding,
    "margin_ranking_loss": ranking,
    "multi_margin_loss": multi_margin,
    "multilabel_margin_loss": multilabel_margin,
    "multilabel_soft_margin_loss": multilabel_soft,
    "cosine_embedding_loss": cosine_embedding,
    "triplet_margin_loss": triplet,
    "triplet_margin_with_distance_loss": triplet_with_distance,
    "fused_nll_loss": _fused_nll,
    "nll_loss": lambda input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean": nll(
        input, target, weight, ignore_index, reduction
    )[0],
    "fused_cross_entropy": _fused_cross_entropy,
    "fused_soft_cross_entropy": _soft,
    "cross_entropy": cross_entropy,
}
_GRADIENT = "it is a gradient, which is compared with that of the loss's body"
NO_REFERENCE |= {
    "fused_nll_loss_grad": _GRADIENT,
    "fused_cross_entropy_grad": _GRADIENT,
    "fused_soft_cross_entropy_grad": _GRADIENT,
    "ctc_loss": "a sum over all alignments has no short formula; its tests compare with PyTorch's",
}
NO_SPECIAL |= {
    "binary_cross_entropy": "it refuses what is no probability",
    "gaussian_nll_loss": "it refuses a negative variance",
}
