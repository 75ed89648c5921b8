"""Losses that ask for margins between the scores of a row, as operators: where a device has kernels for them, one pass over rows.

Everywhere else they are the formulas here by themselves, which the losses of margin.py call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.dispatch.runtime import STATE
from tenfold.nn.arguments import has_kernel, widened
from tenfold.nn.ops.loss.reduction import reduced
from tenfold.tensor.tensor import Tensor


def in_one_pass(input: Tensor, target: Tensor, weight: Tensor | None) -> bool:
    """Whether the device has a kernel for these: plain tensors, of which only the input wants a gradient."""
    if not has_kernel("fused_class_margins", input, target, weight) or not input.numel() or target.dtype.category > 1:
        return False
    return weight is None or (weight.is_floating_point() and not (weight.requires_grad and tf.is_grad_enabled()))


def _above_zero(gaps: Tensor) -> Tensor:
    """The gaps that are kept: 0, without a gradient, for those that are not above 0, NaN being none."""
    return tf.where(gaps > 0, gaps, 0.0)


def margins_of_classes(rows: Tensor, classes: Tensor, weight: Tensor | None, p: int, margin: float) -> Tensor:
    """The losses of rows (N, C), whose classes are (N, 1): of wrong classes max(0, margin - right score + score)^p / C."""
    C = rows.shape[1]
    gaps = _above_zero(margin - rows.gather(1, classes) + rows)
    gaps = gaps if p == 1 else gaps * gaps
    if weight is not None:
        gaps = gaps * tf.index_select(weight, 0, classes.reshape(-1)).unsqueeze(1)
    return tf.where(_others(rows, classes), gaps, 0.0).sum(1) / C


def _others(rows: Tensor, classes: Tensor) -> Any:
    return tf.arange(rows.shape[1], device=rows.device) != classes


def margins_of_labels(rows: Tensor, labels: Tensor) -> Tensor:
    """The losses of rows (N, C) with labels (N, C): of all labels and other classes max(0, 1 - label's score + score) / C."""
    _, counted, gaps = _gaps_of_labels(rows, labels)
    return tf.where(counted, _above_zero(gaps), 0.0).sum([1, 2]) / rows.shape[1]


def _gaps_of_labels(rows: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The class of each label (N, L), whether it and a class (N, L, C) meet, and the gap between them."""
    used = (labels < 0).to(tf.int64).cumsum(1) == 0
    if type(labels._array) is np.ndarray and not STATE.transforms:  # at hand: no row has more labels than the longest list
        longest = int(used._array.sum(1).max(initial=0))
        labels, used = labels[:, :longest], used[:, :longest]
    index = tf.where(used, labels, 0)
    hits = tf.zeros(rows.shape, dtype=labels.dtype, device=labels.device).scatter_add(1, index, used.to(labels.dtype))
    gaps = 1 - rows.gather(1, index).unsqueeze(2) + rows.unsqueeze(1)
    return index, used.unsqueeze(2) & (hits == 0).unsqueeze(1), gaps


@composite("loss", accepts={"input": "floating"}, method=None)
def fused_class_margins(input: Tensor, target: Tensor, weight: Tensor | None, p: int, margin: float, reduction: str) -> Tensor:
    """`multi_margin_loss` of arguments that are known to fit.

    >>> import tenfold
    >>> tenfold.op.fused_class_margins(tenfold.tensor([[1.0, 0.5]]), tenfold.tensor([0]), None, 1, 1.0, "sum")
    tensor(0.2500)
    """
    rows = widened(input).reshape(-1, input.shape[-1])
    losses = margins_of_classes(rows, target.reshape(-1, 1), None if weight is None else widened(weight), p, margin)
    return reduced(losses.reshape(target.shape), reduction).to(input.dtype)


@composite("loss", method=None)
def fused_class_margins_grad(
    grad: Tensor, input: Tensor, target: Tensor, weight: Tensor | None, p: int, margin: float, reduction: str
) -> Tensor:
    """The gradient of `fused_class_margins` for its input.

    >>> import tenfold
    >>> one, x, t = tenfold.tensor(1.0), tenfold.tensor([[1.0, 0.5]]), tenfold.tensor([0])
    >>> tenfold.op.fused_class_margins_grad(one, x, t, None, 1, 1.0, "sum")
    tensor([[-0.5000,  0.5000]])
    """
    rows, classes = widened(input).reshape(-1, input.shape[-1]), target.reshape(-1, 1)
    gaps = margin - rows.gather(1, classes) + rows
    share = _share(grad, rows, reduction)
    if weight is not None:
        share = share * tf.index_select(widened(weight), 0, classes.reshape(-1)).unsqueeze(1)
    others = _others(rows, classes)
    slopes = tf.where(others & (gaps > 0), share if p == 1 else 2 * gaps * share, 0.0)
    return tf.where(others, slopes, -slopes.sum(1, True)).reshape(input.shape).to(input.dtype)


def _share(grad: Tensor, rows: Tensor, reduction: str) -> Tensor:
    """What a unit of a row's losses gets of the gradient: (N or 1, 1)."""
    N, C = rows.shape
    return widened(grad).reshape(-1, 1) / (N * C if reduction == "mean" else C)


@composite("loss", accepts={"input": "floating"}, method=None)
def fused_label_margins(input: Tensor, target: Tensor, reduction: str) -> Tensor:
    """`multilabel_margin_loss` of arguments that are known to fit.

    >>> import tenfold
    >>> tenfold.op.fused_label_margins(tenfold.tensor([[1.0, 0.5]]), tenfold.tensor([[0, -1]]), "sum")
    tensor(0.2500)
    """
    C = input.shape[-1]
    losses = margins_of_labels(widened(input).reshape(-1, C), target.reshape(-1, C))
    return reduced(losses.reshape(input.shape[:-1]), reduction).to(input.dtype)


@composite("loss", method=None)
def fused_label_margins_grad(grad: Tensor, input: Tensor, target: Tensor, reduction: str) -> Tensor:
    """The gradient of `fused_label_margins` for its input.

    >>> import tenfold
    >>> one, x, t = tenfold.tensor(1.0), tenfold.tensor([[1.0, 0.5]]), tenfold.tensor([[0, -1]])
    >>> tenfold.op.fused_label_margins_grad(one, x, t, "sum")
    tensor([[-0.5000,  0.5000]])
    """
    rows = widened(input).reshape(-1, input.shape[-1])
    index, counted, gaps = _gaps_of_labels(rows, target.reshape(rows.shape))
    slopes = tf.where(counted & (gaps > 0), _share(grad, rows, reduction).unsqueeze(2), 0.0)  # (N, L, C)
    slopes = slopes.sum(1).scatter_add(1, index, -slopes.sum(2))
    return slopes.reshape(input.shape).to(input.dtype)
