"""Negative log-likelihood and the fused cross entropy for class-index targets, with their gradients.

Class dimension 1; targets equal to `ignore_index` count nothing. Reductions: "none", "mean", "sum".
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.blocks import row_blocks, row_sums, subtract_maximum
from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.ops.loss import classes as ops, elementwise
from tenfold.nn.ops.loss.pointwise import LEAST_VARIANCE

Array = np.ndarray[Any, Any]


class Targets:
    """Class indices flattened to (A, B), with the weight of each and zero where the target is ignored."""

    __slots__ = ("classes", "index", "kept", "weights")

    def __init__(
        self, target: Array, shape: tuple[int, ...], weight: Array | None, ignore_index: int, dtype: Any, name: str
    ) -> None:
        A, C = (shape[0], shape[1]) if len(shape) > 1 else (1, shape[0])
        flat = target.reshape(A, prod(shape[2:]))
        kept = self.kept = flat != ignore_index
        self.classes = np.where(kept, flat, 0)
        if self.classes.size and (self.classes.min() < 0 or self.classes.max() >= C):
            wrong = self.classes[(self.classes < 0) | (self.classes >= C)][0]
            raise IndexError(
                f"{name}: Target {wrong} is out of bounds: classes are 0 to {C - 1}, or ignore_index {ignore_index}."
            )
        self.weights = kept.astype(dtype)
        if weight is not None:
            self.weights *= weight.astype(dtype, copy=False)[self.classes] if C else 0
        self.index = (np.arange(A)[:, None], self.classes, np.arange(flat.shape[1]))  # into (A, C, B)


def _as_classes(x: Array) -> Array:
    """View (N, C, *S) as (N, C, L), and (C,) as (1, C, 1)."""
    return x.reshape(1, -1, 1) if x.ndim == 1 else x.reshape(*x.shape[:2], prod(x.shape[2:]))


def _reduce(losses: Array, total: Array, target: Array, reduction: str) -> Array:
    if reduction == "none":
        return losses.reshape(target.shape)
    summed = np.asarray(losses.sum(), losses.dtype)
    return summed if reduction == "sum" else np.asarray(summed / total, losses.dtype)


def _per_element(grad: Array, targets: Targets, total: Array, reduction: str) -> Array:
    """The gradient of each unweighted loss term's sum; (A, B)."""
    if reduction == "none":
        return grad.reshape(targets.weights.shape)
    share = grad if reduction == "sum" else grad / total
    return np.broadcast_to(np.asarray(share, targets.weights.dtype), targets.weights.shape)


@array_kernel()
def fused_nll_loss(input: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str) -> tuple[Array, Array]:
    """-weight[target] input[target], reduced; also the sum of the targets' weights (0-d)."""
    targets = Targets(target, input.shape, weight, ignore_index, input.dtype, "nll_loss")
    total = np.asarray(targets.weights.sum(), input.dtype)
    picked = _as_classes(input)[targets.index] if input.size else targets.weights
    losses = np.where(targets.kept, -picked * targets.weights, 0)
    return _reduce(losses, total, target, reduction), total


@array_kernel()
def fused_nll_loss_grad(
    grad: Array,
    input: Array,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
    total_weight: Array,
) -> Array:
    """The gradient of `fused_nll_loss` with respect to input."""
    targets = Targets(target, input.shape, weight, ignore_index, grad.dtype, "nll_loss")
    out = np.zeros(input.shape, grad.dtype)
    values = -_per_element(grad, targets, total_weight, reduction) * targets.weights
    if out.size:
        _as_classes(out)[targets.index] = np.where(targets.kept, values, 0)
    return out


# The common case, (N, C) and (N) with nothing special, in as few array operations as it takes: a batch of 8 costs 10 us.

PLAIN_SIZE = 1 << 16  # above this the blocks of the general form, which stay in the cache, are faster


def _is_plain(
    input: Array, target: Array, weight: Array | None, ignore_index: int, label_smoothing: float, reduction: str
) -> bool:
    # A negative ignore_index is no class, so that targets which all are classes hold none to ignore.
    return (
        weight is None
        and ignore_index < 0
        and not label_smoothing
        and reduction != "none"
        and input.ndim == 2
        and target.ndim == 1
        and 0 < input.size <= PLAIN_SIZE
        and target.dtype == np.int64
    )


def _all_classes(input: Array, target: Array) -> bool:
    """Whether every target is a class; as unsigned numbers the negative ones are too large."""
    return bool(np.maximum.reduce(target.view(np.uint64)) < input.shape[1])


def _plain_cross_entropy(input: Array, target: Array, reduction: str) -> tuple[Array, Array, Array, Array] | None:
    if not target.flags.c_contiguous or not _all_classes(input, target):
        return None
    N = len(target)
    top = np.maximum.reduce(input, 1, None, None, True)  # type: ignore[call-overload] # by position, which is faster
    shifted = np.subtract(input, top)
    picked = shifted[_rows(N), target]
    np.exp(shifted, out=shifted)
    sums = np.log(np.add.reduce(shifted, 1))
    total = np.add.reduce(sums - picked)
    if reduction == "mean":
        total = total / input.dtype.type(N)
    return np.asarray(total), np.asarray(N, input.dtype), top[:, 0], sums


def _plain_gradient(grad: Array, input: Array, target: Array, reduction: str, top: Array, log_sum: Array) -> Array:
    out = np.subtract(input, top[:, None])
    out -= log_sum[:, None]
    np.exp(out, out=out)
    out[_rows(len(target)), target] -= 1
    out *= grad / input.dtype.type(len(target)) if reduction == "mean" else grad
    return out


@lru_cache(maxsize=64)
def _rows(N: int) -> Array:
    return np.arange(N)


@array_kernel()
def fused_cross_entropy(
    input: Array, target: Array, weight: Array | None, ignore_index: int, label_smoothing: float, reduction: str
) -> tuple[Array, Array, Array, Array]:
    """The negative log-likelihood of softmax(input), each target mixed with the uniform distribution.

    Also returns, for the gradient, the sum of the targets' weights (0-d), and of the target's shape the largest logits and
    log(sum(exp(input - largest))).
    """
    if _is_plain(input, target, weight, ignore_index, label_smoothing, reduction):
        plain = _plain_cross_entropy(input, target, reduction)
        if plain is not None:
            return plain
    x = _as_classes(input)
    targets = Targets(target, input.shape, weight, ignore_index, input.dtype, "cross_entropy")
    top, sums = _log_sum_exp(x)  # (A, B)
    losses = sums - (x[targets.index] - top) if x.size else sums
    losses = losses * targets.weights
    if label_smoothing > 0:
        losses *= 1 - label_smoothing
        losses += _smoothed(x, top, sums, weight) * (label_smoothing / x.shape[1])
    losses = np.where(targets.kept, losses, 0)
    total = np.asarray(targets.weights.sum(), input.dtype)
    return _reduce(losses, total, target, reduction), total, top.reshape(target.shape), sums.reshape(target.shape)


def _log_sum_exp(x: Array) -> tuple[Array, Array]:
    """The largest over dimension 1 of (A, C, B), and log(sum(exp(x - largest)))."""
    largest, out = np.empty((2, x.shape[0], x.shape[2]), x.dtype)
    rows = x[:, :, 0] if x.shape[2] == 1 else x
    tops, results = (v[:, 0] if x.shape[2] == 1 else v for v in (largest, out))
    for part in row_blocks(len(rows), x[0:1].nbytes):
        scratch = np.empty(rows[part].shape, x.dtype)
        top = subtract_maximum(scratch, rows[part])
        np.exp(scratch, out=scratch)
        tops[part], results[part] = top[:, 0], np.log(row_sums(scratch))[:, 0]
    return largest, out


def _smoothed(x: Array, top: Array, sums: Array, weight: Array | None) -> Array:
    """The sum over classes of weight (top + sums - x); (A, B)."""
    factors = np.ones(x.shape[1], x.dtype) if weight is None else weight.astype(x.dtype, copy=False)
    return np.asarray(sums * factors.sum() - factors @ (x - top[:, None]))


@array_kernel()
def fused_cross_entropy_grad(
    grad: Array,
    input: Array,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    label_smoothing: float,
    reduction: str,
    total_weight: Array,
    top: Array,
    log_sum: Array,
) -> Array:
    """The gradient of `fused_cross_entropy` with respect to its input: softmax times the target's weight, less the target."""
    if _is_plain(input, target, weight, ignore_index, label_smoothing, reduction) and _all_classes(input, target):
        return _plain_gradient(grad, input, target, reduction, top, log_sum)
    targets = Targets(target, input.shape, weight, ignore_index, grad.dtype, "cross_entropy")
    x = _as_classes(input)
    out = np.empty(x.shape, x.dtype)
    if not out.size:
        return out.reshape(input.shape)
    share = _per_element(grad, targets, total_weight, reduction)
    share = np.where(targets.kept, share, 0)
    hard = share * targets.weights * (1 - label_smoothing)
    soft = share * (label_smoothing / x.shape[1])
    factors = np.ones(x.shape[1], x.dtype) if weight is None else weight.astype(x.dtype, copy=False)
    _scaled_softmax(x, top.reshape(hard.shape), log_sum.reshape(hard.shape), hard + soft * factors.sum(), out)
    if label_smoothing > 0:
        out -= soft[:, None] * factors[:, None]
    out[targets.index] -= hard
    return out.reshape(input.shape)


def _scaled_softmax(x: Array, top: Array, sums: Array, scale: Array, out: Array) -> None:
    """Write exp(x - top - sums) * scale over (A, C, B) to `out`; rows of no weight stay zero even when they hold NaN."""
    for part in row_blocks(len(x), x[0:1].nbytes):
        block = out[part]
        np.subtract(x[part], top[part, None], out=block)
        block -= sums[part, None]
        np.exp(block, out=block)
        block *= scale[part, None]


@kernel(elementwise.binary_entropies, device="cpu")
@array_kernel()
def binary_entropies(input: Array, target: Array) -> Array:
    """-(target log(input) + (1 - target) log(1 - input)), logarithms cut at -100."""
    if input.dtype != target.dtype or input.dtype.kind != "f":
        return NotImplemented
    losses = np.maximum(np.log1p(-input), -100)
    losses = losses * (target - 1)
    losses -= target * np.maximum(np.log(input), -100)
    return np.asarray(losses)


@kernel(elementwise.binary_entropies_grad, device="cpu")
@array_kernel()
def binary_entropies_grad(grad: Array, input: Array, target: Array) -> Array:
    """(input - target) / (input (1 - input)) of `grad`."""
    if not grad.dtype == input.dtype == target.dtype or input.dtype.kind != "f":
        return NotImplemented
    slopes = (1 - input) * input
    slopes = np.maximum(slopes, LEAST_VARIANCE)
    return np.asarray(grad * (input - target) / slopes, input.dtype)


@kernel(elementwise.logit_entropies, device="cpu")
@array_kernel()
def logit_entropies(input: Array, target: Array, pos_weight: Array | None) -> Array:
    """(1 - target) input + (1 + (pos_weight - 1) target) log(1 + exp(-input))."""
    if input.dtype.kind != "f" or any(x is not None and x.dtype != input.dtype for x in (target, pos_weight)):
        return NotImplemented
    losses = np.log1p(np.exp(-np.abs(input)))
    losses -= np.minimum(input, 0)
    if pos_weight is not None:
        losses = losses * ((pos_weight - 1) * target + 1)
    return np.asarray(losses + (1 - target) * input)


for _function in (fused_nll_loss, fused_nll_loss_grad, fused_cross_entropy, fused_cross_entropy_grad):
    kernel(getattr(ops, _function.__name__), device="cpu")(_function)
