"""Losses of pairs of elements as one operator: where a device has a kernel for it, the loss and its reduction are one pass.

Everywhere else each loss is its own body (elementwise.py, margin.py), which this one's results agree with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import has_kernel, widened
from tenfold.tensor.tensor import Tensor

Formula = Callable[[Any, Any, Any, float, float], Any]
LEAST_VARIANCE = 1e-12  # what the binary cross entropy's gradient divides by at 0 and 1, where a sigmoid saturates


def _bent(d: Any, large: Any, bend: float, slope: float) -> Any:
    return tf.where(large, slope * (d.abs() - 0.5 * bend), 0.5 * slope / bend * d * d)


def _bent_slope(d: Any, bend: float, slope: float) -> Any:
    """NaN where d is, as a constant: there the slope of the slope is 0, times NaN of a gradient NaN."""
    small = d.abs() < bend
    constant = tf.where(d.isnan(), d.detach(), slope * d.sign())
    return tf.where(small, 0.0, constant) + slope / bend * (d.nan_to_num() * small)


def _hinged(x: Any, t: Any, p: Any, a: float, b: float) -> Any:
    rest = (a - x).clamp_min(0)
    return tf.where(t == 1, x, tf.where(t == -1, rest, x + rest))


def _entropy_of_logits(x: Any, t: Any, p: Any, a: float, b: float) -> Any:
    softplus = -tf.logsigmoid(x)
    return (1 - t) * x + (softplus if p is None else softplus * ((p - 1) * t + 1))


def _slope_of_logits(x: Any, t: Any, p: Any, a: float, b: float) -> Any:
    return tf.sigmoid(x) - t if p is None else (p * t + 1 - t) * tf.sigmoid(x) - p * t


def _soft_margin_slope(x: Any, t: Any, p: Any, a: float, b: float) -> Any:
    power = (-t * x).exp()
    return -t * power / (1 + power)


def stirling(t: Any) -> Any:
    """About log(t!), by Stirling's formula, of what is above 1; else 0."""
    return tf.where(t > 1, t * t.log() - t + 0.5 * (2 * math.pi * t).log(), tf.zeros_like(t))


def _ranked(x: Any, t: Any, p: Any, a: float, b: float) -> Any:
    return a - (x - t) * (1 if p is None else p)


def _variance(p: Any, a: float) -> Any:
    """At least a; its gradient passes as if nothing were cut."""
    with tf.no_grad():
        excess = p.clamp_min(a) - p
    return p + excess


def _slope_of_variance(x: Any, t: Any, p: Any, a: float, b: float) -> Any:
    v, d = _variance(widened(p), a), x - t
    return 0.5 * (1 - d * d / v) / v


# Of each kind the loss of an element and its slope; `t` is the target, `p` the third operand, `a` and `b` numbers.
LOSSES: dict[str, Formula] = {
    "square": lambda x, t, p, a, b: (x - t) * (x - t),
    "absolute": lambda x, t, p, a, b: (x - t).abs(),
    "bent": lambda x, t, p, a, b: _bent(x - t, (x - t).abs() >= a, a, b),
    "binary": lambda x, t, p, a, b: (t - 1) * (-x).log1p().clamp_min(-100) - t * x.log().clamp_min(-100),
    "logits": _entropy_of_logits,
    "labels": lambda x, t, p, a, b: -(t * tf.logsigmoid(x) + (1 - t) * tf.logsigmoid(-x)),
    "divergence": lambda x, t, p, a, b: tf.xlogy(t, t) - t * x,
    "log_divergence": lambda x, t, p, a, b: t.exp() * (t - x),
    "soft_margin": lambda x, t, p, a, b: (-t * x).exp().log1p(),
    "log_poisson": lambda x, t, p, a, b: x.exp() - t * x,
    "poisson": lambda x, t, p, a, b: x - t * (x + a).log(),
    "full_log_poisson": lambda x, t, p, a, b: x.exp() - t * x + stirling(t),
    "full_poisson": lambda x, t, p, a, b: x - t * (x + a).log() + stirling(t),
    "hinge": _hinged,
    "ranking": lambda x, t, p, a, b: _ranked(x, t, p, a, b).clamp_min(0),
    "gaussian": lambda x, t, p, a, b: 0.5 * (_variance(widened(p), a).log() + (x - t) ** 2 / _variance(widened(p), a)) + b,
    "alike": lambda x, t, p, a, b: tf.where(t == 1, 1 - x, tf.where(t == -1, (x - a).clamp_min(0), 0.0)),
}
SLOPES: dict[str, Formula] = {
    "square": lambda x, t, p, a, b: 2 * (x - t),
    "absolute": lambda x, t, p, a, b: (x - t).sign(),
    "bent": lambda x, t, p, a, b: _bent_slope(x - t, a, b),
    "binary": lambda x, t, p, a, b: (x - t) / ((1 - x) * x).clamp_min(LEAST_VARIANCE),
    "logits": _slope_of_logits,
    "labels": _slope_of_logits,
    "divergence": lambda x, t, p, a, b: -t,
    "log_divergence": lambda x, t, p, a, b: -t.exp(),
    "soft_margin": _soft_margin_slope,
    "log_poisson": lambda x, t, p, a, b: x.exp() - t,
    "poisson": lambda x, t, p, a, b: 1 - t / (x + a),
    "full_log_poisson": lambda x, t, p, a, b: x.exp() - t,
    "full_poisson": lambda x, t, p, a, b: 1 - t / (x + a),
    "hinge": lambda x, t, p, a, b: tf.where(t == -1, 0.0, 1.0) - tf.where((t != 1) & (a - x >= 0), 1.0, 0.0),
    "ranking": lambda x, t, p, a, b: tf.where(_ranked(x, t, p, a, b) >= 0, -1.0 if p is None else -p, 0.0),
    "gaussian": lambda x, t, p, a, b: (x - t) / _variance(widened(p), a),
    "alike": lambda x, t, p, a, b: tf.where(t == 1, -1.0, 0.0) + tf.where((t == -1) & (x >= a), 1.0, 0.0),
    "variance": _slope_of_variance,  # of "gaussian", for the third operand
}
OF_DIFFERENCES = ("square", "absolute", "bent", "ranking", "gaussian")  # whose slopes for input and target differ in sign alone
LEAST_ON_CPU = {"bent": 0, "square": 1 << 16}  # elements from which a kind's own operators take longer there


def in_one_pass(kind: str, input: Tensor, target: Tensor, *others: Tensor | None) -> bool:
    """Whether the device has a kernel for these losses: of plain tensors of one shape, which want no gradient that it lacks."""
    if not has_kernel("fused_pointwise_loss", input, target, *others):
        return False
    dtype = input.dtype
    if input._array.__class__ is np.ndarray and (
        input.numel() < LEAST_ON_CPU.get(kind, math.inf) or any(other is not None for other in others)
    ):
        return False
    if not dtype.is_floating_point or not input.numel() or (target.dtype is not dtype and kind in OF_DIFFERENCES):
        return False
    if target.shape != input.shape or target.dtype.is_complex:
        return False
    if tf.is_grad_enabled() and kind not in OF_DIFFERENCES and target.requires_grad:
        return False
    for other in others:
        if other is None:
            continue
        if other.dtype.is_complex or (other.requires_grad and tf.is_grad_enabled()):
            return False
    return True


def divisor(input: Tensor, reduction: str) -> int:
    """What the sum of all losses is divided by; 0 where they are not summed."""
    return input.numel() if reduction == "mean" else int(reduction == "sum")


@composite("loss", accepts={"input": "floating"}, method=None)
def fused_pointwise_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, third: Tensor | None, kind: str, a: float, b: float, divisor: int
) -> Tensor:
    """The losses of one kind (`LOSSES`) times their weights: their sum over `divisor`, or each by itself where that is 0.

    `third` is what a kind has besides input and target: the weights of positive targets, or which input ranks higher.

    >>> import tenfold
    >>> tenfold.op.fused_pointwise_loss(tenfold.ones(2), tenfold.zeros(2), None, None, "square", 0.0, 0.0, 1)
    tensor(2.)
    """
    losses = LOSSES[kind](widened(input), widened(target), third, a, b)
    losses = losses if weight is None else losses * weight
    return (losses.sum() / divisor if divisor else losses).to(input.dtype)


@composite("loss", method=None)
def fused_pointwise_loss_grad(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    third: Tensor | None,
    kind: str,
    a: float,
    b: float,
    divisor: int,
) -> Tensor:
    """The gradient of `fused_pointwise_loss` for its input.

    >>> import tenfold
    >>> one, x, zero = tenfold.tensor(1.0), tenfold.ones(1), tenfold.zeros(1)
    >>> tenfold.op.fused_pointwise_loss_grad(one, x, zero, None, None, "square", 0.0, 0.0, 1)
    tensor([2.])
    """
    x = widened(input)
    slopes = SLOPES[kind](x, widened(target), third, a, b).to(x.dtype)  # a choice of numbers is of the default dtype
    slopes = slopes if weight is None else slopes * weight
    share = grad / divisor if divisor else grad
    return (slopes * share).to(input.dtype)
