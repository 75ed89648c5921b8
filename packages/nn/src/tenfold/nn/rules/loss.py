"""Gradients of the fused losses."""

# ruff: noqa: PLW0108  a rule is read by the names of its parameters, so it needs a lambda of its own
from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.autograd.gradients import gradient, gradients
from tenfold.nn.ops.loss import class_margins, classes as ops, ctc, elementwise, pointwise, soft_targets


@gradients(ops.fused_nll_loss, "input", node="NllLossBackward0", results=(0,))
def _nll_loss(g: Any, input: Any, target: Any, weight: Any, ignore_index: int, reduction: str, out1: Any) -> Any:
    return (ops.fused_nll_loss_grad(g[0], input, target, weight, ignore_index, reduction, out1),)


@gradients(ops.fused_cross_entropy, "input", node="NllLossBackward0", results=(0,))
def _cross_entropy(
    g: Any,
    input: Any,
    target: Any,
    weight: Any,
    ignore_index: int,
    label_smoothing: float,
    reduction: str,
    out1: Any,
    out2: Any,
    out3: Any,
) -> Any:
    return (
        ops.fused_cross_entropy_grad(g[0], input, target, weight, ignore_index, label_smoothing, reduction, out1, out2, out3),
    )


@gradients(soft_targets.fused_soft_cross_entropy, "input", node="DivBackward1", results=(0,))
def _soft_cross_entropy(g: Any, input: Any, target: Any, weight: Any, label_smoothing: float, reduction: str, out1: Any) -> Any:
    return (soft_targets.fused_soft_cross_entropy_grad(g[0], input, target, weight, label_smoothing, reduction, out1),)


@gradients(ctc.fused_ctc, "log_probs", node="CtcLossBackward0", results=(0,))
def _ctc(
    g: Any,
    log_probs: Any,
    labels: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int,
    zero_infinity: bool,
    out0: Any,
    out1: Any,
) -> Any:
    given = log_probs, labels, input_lengths, target_lengths
    return (ctc.fused_ctc_grad(g[0], *given, out0, out1, blank, zero_infinity),)


@gradients(class_margins.fused_class_margins, "input", node="MultiMarginLossBackward0")
def _class_margins(g: Any, input: Any, target: Any, weight: Any, p: int, margin: float, reduction: str) -> Any:
    return (class_margins.fused_class_margins_grad(g, input, target, weight, p, margin, reduction),)


@gradients(class_margins.fused_label_margins, "input", node="MultilabelMarginLossBackward0")
def _label_margins(g: Any, input: Any, target: Any, reduction: str) -> Any:
    return (class_margins.fused_label_margins_grad(g, input, target, reduction),)


@gradients(pointwise.fused_pointwise_loss, "input", "target", "third", node="LossBackward0")
def _pointwise_loss(
    g: Any,
    needs: Any,
    input: Any,
    target: Any,
    weight: Any,
    third: Any,
    kind: str,
    a: float,
    b: float,
    divisor: int,
) -> Any:
    if needs[1] and kind not in pointwise.OF_DIFFERENCES:
        raise RuntimeError(f"fused_pointwise_loss: losses of kind {kind} have no gradient for the target; detach() it first")
    if needs[2] and kind != "gaussian":
        raise RuntimeError(f"fused_pointwise_loss: losses of kind {kind} have no gradient for `third`; detach() it first")
    given = (g, input, target, weight, third)
    slopes: Any = pointwise.fused_pointwise_loss_grad(*given, kind, a, b, divisor) if needs[0] or needs[1] else None
    of_third = pointwise.fused_pointwise_loss_grad(*given, "variance", a, b, divisor) if needs[2] else None
    return slopes, -slopes if needs[1] else None, of_third


gradient(
    elementwise.binary_entropies,
    node="BinaryCrossEntropyBackward0",
    input=lambda g, input, target: elementwise.binary_entropies_grad(g, input, target),
    target=lambda g, input: g * ((-input).log1p() - input.log()),
)

gradient(
    elementwise.logit_entropies,
    node="BinaryCrossEntropyWithLogitsBackward0",
    input=lambda g, input, target, pos_weight: elementwise.logit_entropies_grad(g, input, target, pos_weight),
    target=lambda g, input, pos_weight: _slope_of_targets(input, pos_weight) * g,
    pos_weight=lambda g, input, target: g * target * -tf.logsigmoid(input),
)


def _slope_of_targets(input: Any, pos_weight: Any) -> Any:
    """What a target's share costs: log(1 - p) - pos_weight log(p) of p = sigmoid(input)."""
    return -input if pos_weight is None else tf.logsigmoid(-input) - pos_weight * tf.logsigmoid(input)
