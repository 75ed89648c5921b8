"""Losses that compare an input with a target element by element."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import tenfold as tf
from tenfold.dispatch.accepted import Only
from tenfold.dispatch.operators import composite
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.nn.arguments import widened
from tenfold.nn.ops.loss.pointwise import LEAST_VARIANCE, divisor, fused_pointwise_loss, in_one_pass
from tenfold.nn.ops.loss.reduction import reduced, reduction_of
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import type_name
from tenfold.types.numbers import finfo
from tenfold.types.promotion import of_values


def _together(name: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in their common shape, with PyTorch's warning when the sizes differ."""
    if input._array.shape == target._array.shape:
        return input, target
    warnings.warn(
        f"{name}: Using a target size ({list(target.shape)}) that is different to the input size ({list(input.shape)}). "
        f"This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        stacklevel=4,
    )
    shape = broadcast_shapes(name, [input.shape, target.shape])
    return input.expand(shape), target.expand(shape)


def _check_weight(name: str, losses: Tensor, weight: Tensor | None) -> None:
    if weight is not None and weight.shape != losses.shape:
        raise ValueError(f"{name}: Inputs and weight must have the same size; got {list(losses.shape)} and {list(weight.shape)}")


def _weighted(name: str, losses: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    """Reduce losses with a weight for each element; the mean is the weighted one."""
    if weight is None:
        return reduced(losses, reduction)
    _check_weight(name, losses, weight)
    losses = losses * weight
    return losses.sum() / weight.sum() if reduction == "mean" else reduced(losses, reduction)


def _fused(
    name: str, kind: str, input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, a: float = 0.0, b: float = 0.0
) -> Tensor:
    """A loss in one pass (pointwise.py); a mean with weights is the weighted one, so its sum is divided by theirs."""
    if weight is None:
        return fused_pointwise_loss(input, target, None, None, kind, float(a), float(b), divisor(input, reduction))
    _check_weight(name, input, weight)
    losses = fused_pointwise_loss(input, target, weight, None, kind, float(a), float(b), int(reduction != "none"))
    return losses / weight.sum() if reduction == "mean" else losses


def _passes(kind: str, input: Tensor, target: Tensor, weight: Tensor | None, reduction: str) -> bool:
    """Whether `_fused` serves: unreduced losses of mixed layouts lie as those of operators do, which it does not know."""
    mixed = reduction == "none" and input._array.strides != target._array.strides
    return in_one_pass(kind, input, target, weight) and not (mixed and input._array.__class__ is np.ndarray)


def _differences(name: str, input: Tensor, target: Tensor) -> Tensor:
    """input - target in their common dtype, which has to be a floating one; truth values are 0 and 1."""
    if input.dtype is not target.dtype or not input.dtype.is_floating_point:
        dtype = of_values((input, target))
        if not dtype.is_floating_point:
            raise NotImplementedError(
                f"\"{name}\" not implemented for '{type_name(dtype)}': got an input of {input.dtype.name} and a target of "
                f"{target.dtype.name}; one of them has to be floating point, none complex"
            )
        input, target = input.to(dtype), target.to(dtype)
    return input - target


@composite("loss", method=None)
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Squared error: (input - target)^2.

    Shape: (*), (*) -> (), or (*) with reduction "none". Raises: ValueError for an unknown reduction.

    >>> import tenfold
    >>> tenfold.op.mse_loss(tenfold.tensor([1.0, 2.0]), tenfold.tensor([1.0, 4.0]))
    tensor(2.)
    """
    reduction = reduction_of("mse_loss", size_average, reduce, reduction)
    input, target = _together("mse_loss", input, target)
    if _passes("square", input, target, weight, reduction):
        return _fused("mse_loss", "square", input, target, weight, reduction)
    difference = input - target if weight is not None else _differences("mse_loss", input, target)
    # In half precision 2 d may be infinite, which PyTorch's gradient of a sum has as well, and that of a mean has not.
    squares = difference * difference if reduction == "mean" else difference.square()
    return _weighted("mse_loss", squares, weight, reduction)


@composite("loss", method=None)
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Absolute error: |input - target|.

    >>> import tenfold
    >>> tenfold.op.l1_loss(tenfold.tensor([1.0, 2.0]), tenfold.tensor([1.0, 4.0]))
    tensor(1.)
    """
    reduction = reduction_of("l1_loss", size_average, reduce, reduction)
    input, target = _together("l1_loss", input, target)
    if _passes("absolute", input, target, weight, reduction):
        return _fused("l1_loss", "absolute", input, target, weight, reduction)
    return _weighted("l1_loss", (input - target).abs(), weight, reduction)


@composite("loss", method=None)
def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """0.5 d^2 / beta where d = |input - target| < beta, else d - 0.5 beta. Source: Girshick, "Fast R-CNN", 2015.

    >>> import tenfold
    >>> tenfold.op.smooth_l1_loss(tenfold.tensor([0.5, 3.0]), tenfold.zeros(2), reduction="none")
    tensor([0.1250, 2.5000])
    """
    reduction = reduction_of("smooth_l1_loss", size_average, reduce, reduction)
    input, target = _together("smooth_l1_loss", input, target)
    if not beta >= 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta, got {beta}")
    if _passes("bent", input, target, None, reduction):
        return _fused("smooth_l1_loss", "bent" if beta else "absolute", input, target, None, reduction, beta, 1.0)
    if beta == 0.0:
        return reduced((input - target).abs(), reduction)
    d = _differences("smooth_l1_loss", widened(input), widened(target))
    losses = _square_then_straight(d, d.abs() < beta, beta, 1.0)
    return reduced(losses.to(tf.promote_types(input.dtype, target.dtype)), reduction)


def _square_then_straight(d: Tensor, small: Tensor, bend: float, slope: float) -> Tensor:
    """slope (|d| - bend / 2) for large differences, infinite ones and NaN, slope d^2 / (2 bend) for the others."""
    inner = d.nan_to_num() * small  # whose square has a finite slope everywhere, which lets NaN of a gradient through
    slopes = tf.where(d.isnan(), d.detach(), slope)  # |NaN|'s slope would be 0
    return tf.where(small, 0.5 * slope / bend * inner * inner, (d.abs() - 0.5 * bend) * slopes)


@composite("loss", accepts={"input": "floating"}, method=None)
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """0.5 d^2 where d = |input - target| < delta, else delta (d - 0.5 delta). Source: Huber, 1964.

    With a `weight` for each element the mean is that of the weighted losses: their number divides, not the weights' sum.

    >>> import tenfold
    >>> tenfold.op.huber_loss(tenfold.tensor([0.5, 3.0]), tenfold.zeros(2), reduction="none")
    tensor([0.1250, 2.5000])
    """
    reduction = reduction_of("huber_loss", None, None, reduction)
    if not delta > 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta, got {delta}")
    input, target = _together("huber_loss", input, target)
    bends = delta <= finfo(widened(input).dtype).max  # a limit that the dtype does not hold is none
    if bends and _passes("bent", input, target, weight, reduction):
        _check_weight("huber_loss", input, weight)
        return fused_pointwise_loss(input, target, weight, None, "bent", float(delta), float(delta), divisor(input, reduction))
    d = _differences("huber_loss", widened(input), widened(target))
    losses = _square_then_straight(d, d.abs() < delta, delta, delta) if bends else 0.5 * d * d
    _check_weight("huber_loss", losses, weight)
    losses = losses.to(input.dtype)
    return reduced(losses if weight is None else losses * weight, reduction)


def _check_fits(name: str, input: Tensor, weight: Tensor | None) -> None:
    """RuntimeError for weights that would give losses of another shape than the input's."""
    if weight is not None:
        shape = broadcast_shapes(name, [input.shape, weight.shape])
        if tuple(shape) != tuple(input.shape):
            raise RuntimeError(f"{name}: output with shape {list(input.shape)} doesn't match the broadcast shape {list(shape)}")


def _check_same_size(name: str, input: Tensor, target: Tensor) -> None:
    if target._array.shape != input._array.shape:
        raise ValueError(
            f"{name}: Using a target size ({list(target.shape)}) that is different to the input size ({list(input.shape)}) "
            f"is deprecated. Please ensure they have the same size."
        )


@composite("loss", accepts={"input": "floating"}, method=None)
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """-(target log(input) + (1 - target) log(1 - input)) * weight, logarithms cut at -100.

    Raises: ValueError for different sizes, RuntimeError for inputs outside [0, 1].

    >>> import tenfold
    >>> tenfold.op.binary_cross_entropy(tenfold.tensor([0.5]), tenfold.tensor([1.0]))
    tensor(0.6931)
    """
    reduction = reduction_of("binary_cross_entropy", size_average, reduce, reduction)
    _check_same_size("binary_cross_entropy", input, target)
    if target.dtype is not input.dtype:
        raise RuntimeError(
            f"binary_cross_entropy: Found dtype {type_name(target.dtype)} but expected {type_name(input.dtype)}, that of the "
            f"input; convert the target with .to(input.dtype)"
        )
    for name, x in (("input", input), ("target", target)):
        if x._key.device.type == "cpu" and x._key.level is None and x.numel():
            known = x.detach()
            if not (known.min() >= 0 and known.max() <= 1):
                raise RuntimeError(f"binary_cross_entropy: all elements of {name} should be between 0 and 1")
    _check_fits("binary_cross_entropy", input, weight)
    if in_one_pass("binary", input, target, weight):
        return fused_pointwise_loss(input, target, weight, None, "binary", 0.0, 0.0, divisor(input, reduction))
    losses = binary_entropies(input, target)
    return reduced(losses if weight is None else (losses * weight).to(input.dtype), reduction)


@composite("loss", method=None)
def binary_entropies(input: Tensor, target: Tensor) -> Tensor:
    """-(target log(input) + (1 - target) log(1 - input)), logarithms cut at -100.

    >>> import tenfold
    >>> tenfold.op.binary_entropies(tenfold.tensor([0.5]), tenfold.tensor([1.0]))
    tensor([0.6931])
    """
    x = widened(input)
    losses = (target - 1) * (-x).log1p().clamp_min(-100) - target * x.log().clamp_min(-100)
    return losses.to(tf.promote_types(input.dtype, target.dtype))


@composite("loss", method=None)
def binary_entropies_grad(grad: Tensor, input: Tensor, target: Tensor) -> Tensor:
    """The gradient of `binary_entropies` for its input: (input - target) / (input (1 - input)), finite at 0 and 1 too.

    >>> import tenfold
    >>> tenfold.op.binary_entropies_grad(tenfold.ones(1), tenfold.ones(1), tenfold.ones(1))
    tensor([0.])
    """
    x = widened(input)
    return (grad * (x - target) / ((1 - x) * x).clamp_min(LEAST_VARIANCE)).to(input.dtype)


@composite("loss", method=None)
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Binary cross entropy of sigmoid(input), stable for large inputs; `pos_weight` multiplies the positive term.

    Formula: (1 - t) x + (1 + (pos_weight - 1) t) log(1 + exp(-x)). Raises: ValueError for different sizes.

    >>> import tenfold
    >>> tenfold.op.binary_cross_entropy_with_logits(tenfold.tensor([0.0]), tenfold.tensor([1.0]))
    tensor(0.6931)
    """
    reduction = reduction_of("binary_cross_entropy_with_logits", size_average, reduce, reduction)
    if target._array.shape != input._array.shape:
        raise ValueError(
            f"binary_cross_entropy_with_logits: Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    if target.dtype.category < 2:
        raise RuntimeError(
            f"binary_cross_entropy_with_logits: result type {type_name(input.dtype)} can't be cast to the desired output type "
            f"{type_name(target.dtype)}, that of the target; convert it with .to(input.dtype)"
        )
    _check_fits("binary_cross_entropy_with_logits", input, weight)
    _check_fits("binary_cross_entropy_with_logits", input, pos_weight)
    if target.dtype is input.dtype and in_one_pass("logits", input, target, weight, pos_weight):
        return fused_pointwise_loss(input, target, weight, pos_weight, "logits", 0.0, 0.0, divisor(input, reduction))
    losses = logit_entropies(input, target, pos_weight).to(target.dtype)
    return reduced(losses if weight is None else (losses * weight).to(target.dtype), reduction)


@composite("loss", method=None)
def logit_entropies(input: Tensor, target: Tensor, pos_weight: Tensor | None = None) -> Tensor:
    """(1 - target) input + (1 + (pos_weight - 1) target) log(1 + exp(-input)).

    >>> import tenfold
    >>> tenfold.op.logit_entropies(tenfold.tensor([0.0]), tenfold.tensor([1.0]))
    tensor([0.6931])
    """
    softplus = -tf.logsigmoid(input)
    if pos_weight is not None:
        softplus = softplus * ((pos_weight - 1) * target + 1)
    return (1 - target) * input + softplus


@composite("loss", method=None)
def logit_entropies_grad(grad: Tensor, input: Tensor, target: Tensor, pos_weight: Tensor | None = None) -> Tensor:
    """The gradient of `logit_entropies` for its input as one factor: sigmoid(input) - target, of a `pos_weight` its sum of two.

    >>> import tenfold
    >>> tenfold.op.logit_entropies_grad(tenfold.ones(1), tenfold.zeros(1), tenfold.ones(1))
    tensor([-0.5000])
    """
    if pos_weight is None:
        slope = tf.sigmoid(input) - target
    else:
        positive = pos_weight * target
        slope = (positive + 1 - target) * tf.sigmoid(input) - positive
    return (slope * grad).to(input.dtype)


_FLOATING = Only("floating", RuntimeError, "{name}: expected a floating point input, but got {dtype}")


@composite("loss", accepts={"input": _FLOATING}, method=None)
def kl_div(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """Kullback-Leibler divergence: target (log(target) - input), the input being log-probabilities.

    Reduction "batchmean" divides the sum by the first size, which is the mathematical definition.

    >>> import tenfold
    >>> tenfold.op.kl_div(tenfold.zeros(1), tenfold.ones(1), reduction="batchmean")
    tensor(0.)
    """
    if size_average is not None or reduce is not None or reduction != "batchmean":
        reduction = reduction_of("kl_div", size_average, reduce, reduction)
    if target.dtype.category < 2:
        raise RuntimeError(
            f"kl_div: Integral inputs not supported, but the target is {target.dtype.name}; convert it with .float()"
        )
    if reduction == "mean":
        warnings.warn(
            "kl_div: reduction: 'mean' divides the total loss by both the batch size and the support size. "
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition.",
            stacklevel=3,
        )
    kind = "log_divergence" if log_target else "divergence"
    if target.dtype is input.dtype and in_one_pass(kind, input, target):
        parts = input.shape[0] if reduction == "batchmean" else divisor(input, reduction)
        return fused_pointwise_loss(input, target, None, None, kind, 0.0, 0.0, parts)
    losses = target.exp() * (target - input) if log_target else tf.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return losses.sum() / input.shape[0] if input.dim() else losses.sum()
    return reduced(losses, reduction)
