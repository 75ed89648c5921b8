"""Cross entropy of scores that a linear map makes, whole or in chunks of the batch so that they never lie in memory together."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import tenfold as tf
from tenfold import Tensor
from tenfold.nn.ops.linear import linear
from tenfold.nn.ops.loss.classes import cross_entropy
from tenfold.utils.checkpoint import checkpoint

NAME = "linear_cross_entropy"
POLICIES = ("accurate", "balanced", "compact", "auto")
SMALLEST_CHUNK = 16  # samples: fewer make products that are all overhead


class LinearCrossEntropyOptions(NamedTuple):
    """How `linear_cross_entropy` goes through the batch in chunks.

    `batch_chunk_size` is the number of samples in a chunk; by default a chunk's scores are about as large as the input, and
    `chunking_method="aspect_ratio:R"` makes them R times as large. `acc_dtype` is the type in which the chunks' losses are added,
    by default the input's. `allow_retain_graph` and `acc_policy` are there for PyTorch's sake.

    Differs from PyTorch: the chunks' scores are computed again in the backward pass, so that any number of backward passes and
    higher derivatives are possible, whatever `allow_retain_graph` says.

    >>> LinearCrossEntropyOptions(batch_chunk_size=64).batch_chunk_size
    64
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def chunk(self, samples: int, features: int, classes: int) -> int:
        """The number of samples that a chunk has."""
        if self.acc_policy not in POLICIES:
            raise ValueError(f"{NAME}: got acc_policy {self.acc_policy!r}, accepted are {', '.join(POLICIES)}")
        if self.batch_chunk_size is not None:
            if self.batch_chunk_size < 1:
                raise ValueError(f"{NAME}: got batch_chunk_size {self.batch_chunk_size}, a chunk has at least one sample")
            return self.batch_chunk_size
        return max(SMALLEST_CHUNK, int(samples * features * self._ratio() / max(1, classes)))

    def _ratio(self) -> float:
        method = self.chunking_method or "auto"
        if method == "auto":
            return 1.0
        name, _, ratio = method.partition(":")
        if name != "aspect_ratio" or not ratio.replace(".", "", 1).isdigit():
            raise ValueError(f"{NAME}: got chunking_method {method!r}, accepted are 'auto' and 'aspect_ratio:R' with a number R")
        return float(ratio)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """`cross_entropy(linear(input, linear_weight, linear_bias), target)`; with `options` in chunks of the batch.

    Shape: input (E) or (N, E), linear_weight (C, *S, E), linear_bias (C, *S), weight (C); target (), (N), (N, *S) of classes, or
    probabilities (C), (N, C, *S) -> () or (N, *S). Dtype: floating; classes are int64 or uint8.
    Raises: RuntimeError for sizes that do not fit and an `ignore_index` with probabilities.

    >>> import tenfold
    >>> x, w = tenfold.zeros(3, 4), tenfold.ones(2, 4)
    >>> linear_cross_entropy(x, w, tenfold.tensor([0, 1, 1]))
    tensor(0.6931)
    """
    _check(input, linear_weight, linear_bias)
    if ignore_index is not None and target.is_floating_point():
        raise RuntimeError(f"{NAME}: ignore_index cannot be specified when target contains probabilities")
    rest = (weight, -100 if ignore_index is None else ignore_index, label_smoothing)
    if options is None or input.dim() == 1 or linear_weight.dim() > 2 or target.shape[:1] != input.shape[:1]:
        return _whole(input, linear_weight, linear_bias, target, reduction, *rest)
    size = options.chunk(len(input), *linear_weight.shape[::-1])
    if size >= len(input):
        return _whole(input, linear_weight, linear_bias, target, reduction, *rest)
    return _in_chunks(input, linear_weight, linear_bias, target, reduction, rest, size, options.acc_dtype)


def _check(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if input.dim() not in (1, 2):
        raise RuntimeError(f"{NAME}: expected input with dimensionality 1 or 2, got {input.dim()}")
    if weight.dim() < 2:
        raise RuntimeError(f"{NAME}: expected linear_weight with dimensionality at least 2, got {weight.dim()}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            f"{NAME}: expected equal input and linear_weight last dimensions (in_features), got {input.shape[-1]} and "
            f"{weight.shape[-1]}, respectively"
        )
    if weight.dim() > 2 and input.dim() == 1:
        raise RuntimeError(
            f"{NAME}: K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched input, "
            f"(N, {input.shape[0]}), got unbatched input with shape {tuple(input.shape)}"
        )
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(f"{NAME}: expected linear_bias shape {tuple(weight.shape[:-1])}, got {tuple(bias.shape)}")


def _whole(
    input: Tensor, linear_weight: Tensor, bias: Tensor | None, target: Tensor, reduction: str, weight: Tensor | None,
    ignore_index: int, label_smoothing: float,
) -> Tensor:  # fmt: skip
    sizes = linear_weight.shape[:-1]
    flat_bias = None if bias is None else bias.reshape(prod(sizes))
    scores = linear(input, linear_weight.reshape(prod(sizes), linear_weight.shape[-1]), flat_bias)
    if len(sizes) > 1:
        scores = scores.reshape(len(input), *sizes)
    return cross_entropy(scores, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)


def _in_chunks(
    input: Tensor, linear_weight: Tensor, bias: Tensor | None, target: Tensor, reduction: str, rest: Any, size: int, dtype: Any
) -> Tensor:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{NAME}: {reduction} is not a valid value for reduction")

    def losses(x: Tensor, y: Tensor) -> Tensor:
        return _whole(x, linear_weight, bias, y, "none" if reduction == "none" else "sum", *rest)

    parts = []
    for x, y in zip(input.split(size), target.split(size), strict=True):
        parts.append(checkpoint(losses, x, y, use_reentrant=False) if tf.is_grad_enabled() else losses(x, y))
    if reduction == "none":
        return tf.cat(parts)
    total = tf.stack(parts).sum(dtype=dtype)
    if reduction == "mean":
        total = total / _count(target, *rest[:2])
    return total.to(input.dtype)


def _count(target: Tensor, weight: Tensor | None, ignore_index: int) -> Any:
    """What a mean divides by: the samples, or the weights of their classes."""
    if target.is_floating_point():
        return len(target)
    counted = target != ignore_index
    return counted.sum() if weight is None else weight[target.long()[counted]].sum()
