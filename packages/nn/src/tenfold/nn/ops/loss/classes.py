"""Classification losses on class indices or probabilities: negative log-likelihood, cross entropy."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import refuse_gradients, widened
from tenfold.nn.ops.loss.reduction import reduced, reduction_of
from tenfold.nn.ops.loss.soft_targets import fused_soft_cross_entropy, in_one_pass
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import int64, type_name, uint8


def _class_dim(x: Tensor) -> int:
    return 0 if x.dim() == 1 else 1


def _check_classes(name: str, input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    shape, wanted = input._array.shape, target._array.shape
    if not shape:
        raise ValueError(f"{name}: Expected an input of at least one dimension (C) or (N, C, *), got a 0-d tensor")
    if len(shape) > 1 and wanted[:1] != shape[:1]:
        raise ValueError(
            f"{name}: Expected input batch_size ({shape[0]}) to match target batch_size ({wanted[0] if wanted else 'none'})."
        )
    expected = (*shape[:1], *shape[2:]) if len(shape) > 1 else ()
    if len(shape) < 3 and len(wanted) > 1:
        raise RuntimeError(f"{name}: 0D or 1D target tensor expected, multi-target not supported, got {list(wanted)}")
    if wanted != expected:
        raise RuntimeError(f"{name}: Expected target size {list(expected)} for input {list(shape)}, got {list(wanted)}")
    if weight is not None and weight._array.shape != (shape[_class_dim(input)],):
        raise RuntimeError(
            f"{name}: weight tensor should be defined either for all {shape[_class_dim(input)]} classes or no classes but "
            f"got weight tensor of shape: {list(weight.shape)}"
        )
    if weight is not None and weight.dtype is not input.dtype:
        raise RuntimeError(f"{name}: expected scalar type {type_name(input.dtype)} but found {type_name(weight.dtype)}")


def _check_index(name: str, target: Tensor) -> None:
    if target._array.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: expected scalar type Long for the target's class indices but found {target.dtype.name}")
    if target.dtype not in (int64, uint8):
        raise RuntimeError(f"{name}: expected target dtype to be Long or Byte, but got {type_name(target.dtype)}")


def _of_one_sample(name: str, input: Tensor, target: Tensor) -> Tensor:
    """The target; of classes (C) alone without the dimension that it may have."""
    if not len(input._array.shape) == len(target._array.shape) == 1:
        return target
    _check_index(name, target)
    if target._array.shape[0] != 1:
        raise ValueError(f"{name}: For 1D input, 1D target must have size 1, but got target size: {target._array.shape[0]}")
    return target.view(())


@composite("loss", method=None)
def fused_nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str
) -> tuple[Tensor, Tensor]:
    """-weight[target] input[target], reduced, and the sum of the targets' weights.

    >>> import tenfold
    >>> tenfold.op.fused_nll_loss(tenfold.tensor([[-1.0, -2.0]]), tenfold.tensor([1]), None, -100, "sum")
    (tensor(2.), tensor(1.))
    """
    losses, weights = _picked_losses(widened(input), target, weight, ignore_index)
    return _weighted(losses, weights.sum(), reduction).to(input.dtype), weights.sum()


def _picked_losses(log_probs: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int) -> tuple[Tensor, Tensor]:
    dim = _class_dim(log_probs)
    kept = tf.ne(target, ignore_index)
    classes = tf.where(kept, target, 0).to(tf.int64)
    weights = kept.to(log_probs.dtype)
    if weight is not None:
        weights = weights * _looked_up(weight, classes).to(log_probs.dtype)
    picked = log_probs.gather(dim, classes.unsqueeze(dim)).squeeze(dim)
    return tf.where(kept, -picked * weights, 0.0), weights


def _looked_up(weight: Tensor, classes: Tensor) -> Tensor:
    return tf.index_select(weight, 0, classes.reshape(-1)).view(classes.shape)


def _weighted(losses: Tensor, total: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return losses
    return losses.sum() / total if reduction == "mean" else losses.sum()


@composite("loss", method=None)
def fused_nll_loss_grad(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    total_weight: Tensor,
) -> Tensor:
    """The gradient of `fused_nll_loss` for its input; linear in `grad`.

    >>> import tenfold
    >>> x, one = tenfold.tensor([[-1.0, -2.0]]), tenfold.tensor(1.0)
    >>> tenfold.op.fused_nll_loss_grad(one, x, tenfold.tensor([1]), None, -100, "sum", one)
    tensor([[ 0., -1.]])
    """
    dim = _class_dim(input)
    kept = tf.ne(target, ignore_index)
    weights = kept.to(grad.dtype)
    classes = tf.where(kept, target, 0).to(tf.int64)
    if weight is not None:
        weights = weights * _looked_up(weight, classes).to(grad.dtype)
    share = grad / total_weight if reduction == "mean" else grad
    values = tf.where(kept, -share * weights, 0.0)
    return tf.zeros_like(input).scatter(dim, classes.unsqueeze(dim), values.unsqueeze(dim).to(input.dtype))


@composite("loss", accepts={"input": "floating"}, method=None)
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log-likelihood: -weight[target] input[target]; the mean is weighted.

    Shape: (C), () or (1) or (N, C, *S), (N, *S) -> () or, reduction "none", (N, *S). Dtype: floating, integer targets.
    Raises: ValueError, RuntimeError for sizes that do not fit, IndexError for a class that does not exist.
    Differs from PyTorch: the loss of (C), (1) has a gradient, which PyTorch refuses.

    >>> import tenfold
    >>> tenfold.nll_loss(tenfold.tensor([[-1.0, -2.0]]), tenfold.tensor([1]))
    tensor(2.)
    """
    reduction = reduction_of("nll_loss", size_average, reduce, reduction)
    target = _of_one_sample("nll_loss", input, target)
    _check_classes("nll_loss", input, target, weight)
    _check_index("nll_loss", target)
    if weight is not None:
        refuse_gradients("nll_loss", weight=weight)
    return fused_nll_loss(input, target, weight, ignore_index, reduction)[0]


@composite("loss", accepts={"input": "floating"}, method=None)
def fused_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, label_smoothing: float, reduction: str
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Cross entropy with class indices; also the sum of the targets' weights, the largest logit and log(sum(exp(input - it))).

    >>> import tenfold
    >>> tenfold.op.fused_cross_entropy(tenfold.zeros(1, 2), tenfold.tensor([1]), None, -100, 0.0, "sum")[0]
    tensor(0.6931)
    """
    dim, x = _class_dim(input), widened(input)
    log_probs = tf.log_softmax(x, dim)
    losses, weights = _picked_losses(log_probs, target, weight, ignore_index)
    if label_smoothing > 0:
        factors = 1 if weight is None else weight.view(-1, *[1] * (input.dim() - dim - 1))
        smooth = -(log_probs * factors).sum(dim) * (label_smoothing / input.shape[dim])
        losses = losses * (1 - label_smoothing) + tf.where(tf.ne(target, ignore_index), smooth, 0.0)
    return _weighted(losses, weights.sum(), reduction).to(input.dtype), weights.sum(), *_shifted_log_sum(x, dim)


def _shifted_log_sum(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The largest and log(sum(exp(x - largest))): their sum would lose the digits of the second beside a large first."""
    if not x.shape[dim]:
        return tf.logsumexp(x, dim), tf.logsumexp(x, dim)
    top = x.amax(dim, True)
    return top.squeeze(dim), (x - top).exp().sum(dim).log()


@composite("loss", method=None)
def fused_cross_entropy_grad(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    label_smoothing: float,
    reduction: str,
    total_weight: Tensor,
    top: Tensor,
    log_sum: Tensor,
) -> Tensor:
    """The gradient of `fused_cross_entropy` for its input; the body computes the softmax again.

    It is softmax(input) sum(q) - q, where q is each target's weighted distribution times its share of `grad`.

    >>> import tenfold
    >>> x, target = tenfold.zeros(1, 2), tenfold.tensor([1])
    >>> loss, *saved = tenfold.op.fused_cross_entropy(x, target, None, -100, 0.0, "sum")
    >>> tenfold.op.fused_cross_entropy_grad(tenfold.tensor(1.0), x, target, None, -100, 0.0, "sum", *saved)
    tensor([[ 0.5000, -0.5000]])
    """
    dim = _class_dim(input)
    kept = tf.ne(target, ignore_index)
    classes = tf.where(kept, target, 0).to(tf.int64).unsqueeze(dim)
    share = tf.where(kept, grad / total_weight if reduction == "mean" else grad, 0.0).unsqueeze(dim)
    hot = tf.zeros_like(input).scatter(dim, classes, 1.0)
    q = hot * (1 - label_smoothing) + label_smoothing / input.shape[dim] if label_smoothing else hot
    if weight is not None:
        q = q * weight.to(input.dtype).view(-1, *[1] * (input.dim() - dim - 1))
    q = q * share
    probabilities = tf.where(share == 0, tf.zeros_like(input), tf.softmax(input, dim))
    return (probabilities * q.sum(dim, True) - q).to(input.dtype)


@composite("loss", accepts={"input": "floating"}, method=None)
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of softmax(input) with class indices, or with probabilities when the target is floating.

    Formula: -sum over c of weight[c] q[c] log softmax(input)[c]; q is the target's distribution, mixed with the uniform
    one by `label_smoothing`. Shape: (C), () or (N, C, *S), (N, *S), or a target of the input's shape -> () or (N, *S); without
    smoothing also (C), (1) -> (). Raises: ValueError, RuntimeError for sizes that do not fit, IndexError for a class that does
    not exist. Differs from PyTorch: the loss of (C), (1) has a gradient, which PyTorch refuses.

    >>> import tenfold
    >>> tenfold.cross_entropy(tenfold.tensor([[0.0, 0.0]]), tenfold.tensor([1]))
    tensor(0.6931)
    """
    reduction = reduction_of("cross_entropy", size_average, reduce, reduction)
    if label_smoothing > 1.0:
        raise RuntimeError(f"cross_entropy: label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    label_smoothing = label_smoothing if label_smoothing > 0 else 0.0
    if target._array.dtype.kind in "iu":
        _check_index("cross_entropy", target)
        sole = _of_one_sample("cross_entropy", input, target)
        target = target if label_smoothing else sole
        _check_classes("cross_entropy", input, target, weight)
        if weight is not None:
            refuse_gradients("cross_entropy", weight=weight)
        return fused_cross_entropy(input, target, weight, ignore_index, label_smoothing, reduction)[0]
    return _with_probabilities(input, target, weight, ignore_index, reduction, label_smoothing)


def _with_probabilities(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str, label_smoothing: float
) -> Tensor:
    if target.shape != input.shape:
        _check_index("cross_entropy", target)
    if not target.is_floating_point():
        raise RuntimeError(
            f"cross_entropy: Expected floating point type for target with class probabilities, got {target.dtype.name}"
        )
    if ignore_index >= 0:
        raise RuntimeError(f"cross_entropy: ignore_index is not supported for floating point target, got {ignore_index}")
    if in_one_pass(input, target, weight):
        return fused_soft_cross_entropy(input, target, weight, float(label_smoothing), reduction)[0]
    dim = _class_dim(input)
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / input.shape[dim]
    terms = tf.log_softmax(input, dim) * target
    if weight is not None:
        terms = terms * weight.view(-1, *[1] * (input.dim() - dim - 1))
    losses = -terms.sum(dim)
    return reduced(losses, reduction)
