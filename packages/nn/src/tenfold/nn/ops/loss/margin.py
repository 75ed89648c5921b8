"""Losses that ask for a margin between scores or distances."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.nn.ops.distance import fused_row_pairs, pairwise_distance, rows_in_one_pass
from tenfold.nn.ops.loss.class_margins import (
    fused_class_margins,
    fused_label_margins,
    in_one_pass as in_one_pass_of_rows,
    margins_of_classes,
    margins_of_labels,
)
from tenfold.nn.ops.loss.pointwise import divisor, fused_pointwise_loss, in_one_pass
from tenfold.nn.ops.loss.reduction import reduced, reduction_of
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import type_name


@composite("loss", method=None)
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Tensor:
    """The input where the target is 1, max(0, margin - input) where it is -1.

    >>> import tenfold
    >>> tenfold.op.hinge_embedding_loss(tenfold.tensor([0.5, 0.5]), tenfold.tensor([1, -1]), reduction="none")
    tensor([0.5000, 0.5000])
    """
    reduction = reduction_of("hinge_embedding_loss", size_average, reduce, reduction)
    if in_one_pass("hinge", input, target):
        return fused_pointwise_loss(input, target, None, None, "hinge", float(margin), 0.0, divisor(input, reduction))
    rest = (margin - input).clamp_min(0).to(input.dtype)  # of integers an integer
    near, far = tf.where(target == 1, input, 0), tf.where(target == -1, rest, 0)
    return reduced(tf.where((target == 1) | (target == -1), near + far, input + rest), reduction)


@composite("loss", method=None)
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target (input1 - input2) + margin).

    >>> import tenfold
    >>> tenfold.op.margin_ranking_loss(tenfold.tensor([1.0]), tenfold.tensor([3.0]), tenfold.tensor([1.0]))
    tensor(2.)
    """
    reduction = reduction_of("margin_ranking_loss", size_average, reduce, reduction)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: {list(input1.shape)}, "
            f"input2: {list(input2.shape)}, target: {list(target.shape)}"
        )
    if input1.shape == target.shape and in_one_pass("ranking", input1, input2, target):
        return fused_pointwise_loss(input1, input2, None, target, "ranking", float(margin), 0.0, divisor(input1, reduction))
    return reduced((-target * (input1 - input2) + float(margin)).clamp_min(0), reduction)


@composite("loss", method=None)
def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + exp(-target input)).

    >>> import tenfold
    >>> tenfold.op.soft_margin_loss(tenfold.zeros(1), tenfold.ones(1))
    tensor(0.6931)
    """
    if input.dtype.category < 2:
        raise RuntimeError(f"soft_margin_loss: expected a floating point input, got {input.dtype.name}")
    reduction = reduction_of("soft_margin_loss", size_average, reduce, reduction)
    if target.dtype.is_complex and not input.dtype.is_complex:
        raise RuntimeError(
            f"soft_margin_loss: result type {type_name(target.dtype)} can't be cast to the desired output type "
            f"{type_name(input.dtype)}, that of the input"
        )
    if reduction == "none" and broadcast_shapes("soft_margin_loss", [input.shape, target.shape]) != tuple(input.shape):
        raise RuntimeError(
            f"soft_margin_loss: output with shape {list(input.shape)} doesn't match the broadcast shape of input and target, "
            f"which is {list(target.shape)}"
        )
    if target.dtype is input.dtype and in_one_pass("soft_margin", input, target):
        return fused_pointwise_loss(input, target, None, None, "soft_margin", 0.0, 0.0, divisor(input, reduction))
    return reduced((-target.to(input.dtype) * input).exp().log1p(), reduction)


def _class_count(name: str, input: Tensor) -> int:
    """The size of the last dimension; RuntimeError for inputs that are no vector or batch of vectors."""
    C = input.shape[-1] if input.dim() else 1
    if input.dim() > 2 or C == 0:
        raise RuntimeError(
            f"{name}: Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    return C


@composite("loss", accepts={"input": "floating"}, method=None)
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: float = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over wrong classes of max(0, margin - input[target] + input[class])^p. Shape: (N, C), (N) or (C), ().

    >>> import tenfold
    >>> tenfold.op.multi_margin_loss(tenfold.tensor([[1.0, 0.5]]), tenfold.tensor([0]))
    tensor(0.2500)
    """
    reduction = reduction_of("multi_margin_loss", size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss: only p == 1 and p == 2 supported, got {p}")
    C = _class_count("multi_margin_loss", input)
    input = input if input.dim() else input.reshape(1)
    rows, classes = input.reshape(-1, C), target.reshape(-1, 1)
    if rows.shape[0] != classes.shape[0]:
        raise RuntimeError(f"multi_margin_loss: inconsistent target size, expected {rows.shape[0]} but got {list(target.shape)}")
    if in_one_pass_of_rows(input, target, weight):
        return fused_class_margins(input, target, weight, int(p), float(margin), reduction)
    losses = margins_of_classes(rows, classes, weight, int(p), margin)
    return reduced(losses.reshape(target.shape), reduction)


@composite("loss", accepts={"input": "floating"}, method=None)
def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Tensor:
    """The sum of max(0, 1 - input[label] + input[other]) / C over labels and other classes.

    The labels of a sample are the target's entries before its first -1. Shape: (N, C), (N, C) or (C), (C).

    >>> import tenfold
    >>> tenfold.op.multilabel_margin_loss(tenfold.tensor([[1.0, 0.5]]), tenfold.tensor([[0, -1]]))
    tensor(0.2500)
    """
    reduction = reduction_of("multilabel_margin_loss", size_average, reduce, reduction)
    C = _class_count("multilabel_margin_loss", input)
    if input.shape != target.shape:
        raise RuntimeError(
            f"multilabel_margin_loss: inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    input, target = (x if x.dim() else x.reshape(1) for x in (input, target))
    if in_one_pass_of_rows(input, target, None):
        return fused_label_margins(input, target, reduction)
    losses = margins_of_labels(input.reshape(-1, C), target.reshape(-1, C))
    return reduced(losses.reshape(input.shape[:-1]), reduction)


@composite("loss", method=None)
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of -(target log sigmoid(input) + (1 - target) log sigmoid(-input)) * weight.

    >>> import tenfold
    >>> tenfold.op.multilabel_soft_margin_loss(tenfold.zeros(1, 2), tenfold.ones(1, 2))
    tensor(0.6931)
    """
    reduction = reduction_of("multilabel_soft_margin_loss", size_average, reduce, reduction)
    if target.dtype is input.dtype and input.dim() and in_one_pass("labels", input, target, weight):
        parts = divisor(input, reduction) * (input.shape[-1] if reduction == "sum" else 1)
        losses = fused_pointwise_loss(input, target, weight, None, "labels", 0.0, 0.0, parts)
        return losses if parts else losses.mean(-1)
    losses = -(target * tf.logsigmoid(input) + (1 - target) * tf.logsigmoid(-input))
    if weight is not None:
        losses = losses * weight
    return reduced(losses.sum(input.dim() - 1) / input.shape[-1], reduction)


@composite("loss", method=None)
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1. Shape: (N, D), (N, D), (N).

    >>> import tenfold
    >>> tenfold.op.cosine_embedding_loss(tenfold.ones(1, 2), tenfold.ones(1, 2), tenfold.tensor([-1]))
    tensor(1.)
    """
    reduction = reduction_of("cosine_embedding_loss", size_average, reduce, reduction)
    if target.dim() > 1:
        raise RuntimeError(
            f"cosine_embedding_loss: 0D or 1D target tensor expected, multi-target not supported, got {target.dim()}D"
        )
    if not input1.dim() == input2.dim() == target.dim() + 1:
        raise RuntimeError(
            f"cosine_embedding_loss: {target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs "
            f"with sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    eps = 1e-12
    if rows_in_one_pass(input1, input2) and target.dim() and target.shape == input1.shape[:1]:
        cosine = fused_row_pairs(input1, input2, "smooth", eps)[0]
        if in_one_pass("alike", cosine, target):
            return fused_pointwise_loss(cosine, target, None, None, "alike", float(margin), 0.0, divisor(cosine, reduction))
    squares = ((input1 * input1).sum(-1) + eps) * ((input2 * input2).sum(-1) + eps)
    cosine = (input1 * input2).sum(-1) / squares.sqrt()
    alike = tf.where(target == 1, 1 - cosine, 0.0)
    return reduced(alike + tf.where(target == -1, (cosine - margin).clamp_min(0), 0.0), reduction)


@composite("loss", method=None)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-06,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm distance of the last dimension.

    `swap` takes d(positive, negative) where it is smaller. Source: Balntas et al., 2016.

    >>> import tenfold
    >>> tenfold.op.triplet_margin_loss(tenfold.zeros(1, 1), tenfold.ones(1, 1), tenfold.ones(1, 1))
    tensor(1.)
    """
    reduction = reduction_of("triplet_margin_loss", size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"triplet_margin_loss: margin must be greater than 0, got {margin}")
    _check_triplet("triplet_margin_loss", anchor, positive, negative)
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = tf.minimum(far, pairwise_distance(positive, negative, p, eps))
    return _ranked(near, far, margin, reduction)


def _ranked(near: Tensor, far: Tensor, margin: Any, reduction: str) -> Tensor:
    if isinstance(margin, (int, float)) and in_one_pass("ranking", far, near):
        return fused_pointwise_loss(far, near, None, None, "ranking", float(margin), 0.0, divisor(far, reduction))
    return reduced((margin + near - far).clamp_min(0), reduction)


def _check_triplet(name: str, anchor: Tensor, positive: Tensor, negative: Tensor) -> None:
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            f"{name}: The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )


@composite("loss", method=None)
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Any = None,
    margin: float | Tensor = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with any distance function of two tensors; None: `pairwise_distance`.

    >>> import tenfold
    >>> tenfold.op.triplet_margin_with_distance_loss(tenfold.zeros(1, 1), tenfold.ones(1, 1), tenfold.ones(1, 1))
    tensor(1.)
    """
    reduction = reduction_of("triplet_margin_with_distance_loss", None, None, reduction)
    if margin <= 0:
        raise ValueError(f"triplet_margin_with_distance_loss: margin must be greater than 0, got {margin}")
    _check_triplet("triplet_margin_with_distance_loss", anchor, positive, negative)
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = tf.minimum(far, distance(positive, negative))
    return _ranked(near, far, margin, reduction)
