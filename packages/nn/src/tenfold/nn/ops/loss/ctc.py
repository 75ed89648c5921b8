"""Connectionist temporal classification."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.ops.loss.reduction import reduction_of
from tenfold.tensor.tensor import Tensor


@composite("loss", method=None, mixed=True)  # labels and lengths are read on the host
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability of all alignments of the target with the input, blanks and repeats allowed.

    The mean divides each loss by its target's length first. Shape: log_probs (T, N, C) or (T, C), targets (N, S) or one
    after the other (sum of lengths), lengths (N) -> () or (N). As in PyTorch the gradient is the one for the logits of
    a log-softmax. Raises: RuntimeError for lengths that do not fit.
    Source: Graves et al., "Connectionist Temporal Classification", 2006, equations 6 to 8.

    >>> import tenfold
    >>> x = tenfold.log_softmax(tenfold.zeros(2, 1, 2), 2)
    >>> tenfold.op.ctc_loss(x, tenfold.tensor([[1]]), tenfold.tensor([2]), tenfold.tensor([1]))
    tensor(0.2877)
    """
    reduction = reduction_of("ctc_loss", None, None, reduction)
    single = log_probs.dim() == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
    inputs, lengths = _lengths("input_lengths", input_lengths), _lengths("target_lengths", target_lengths)
    T, N, C = log_probs.shape
    _check(T, N, C, inputs, lengths, blank)
    _check_targets(targets, lengths, N, C)
    labels = _label_rows(targets, lengths, N)
    losses = _forward(log_probs, labels, inputs, lengths, blank)
    losses = _as_of_logits(losses, log_probs, inputs, zero_infinity)
    if zero_infinity:
        losses = tf.where(losses == float("inf"), tf.zeros_like(losses), losses)
    if reduction == "mean":
        sizes = tf.tensor([max(1, n) for n in lengths], dtype=losses.dtype, device=losses.device)
        return (losses / sizes).mean()
    if reduction == "sum":
        return losses.sum()
    return losses.squeeze(0) if single else losses


def _lengths(what: str, lengths: Any) -> list[int]:
    if hasattr(lengths, "_array"):
        if lengths._array.dtype.kind not in "iu":
            raise RuntimeError(f"ctc_loss: {what} must be integral, got {lengths.dtype.name}")
        lengths = lengths.tolist()
    return [lengths] if isinstance(lengths, int) else [int(n) for n in lengths]


def _check(T: int, N: int, C: int, inputs: list[int], lengths: list[int], blank: int) -> None:
    if not 0 <= blank < C:
        raise RuntimeError(f"ctc_loss: blank must be in label range, got {blank} for {C} classes")
    if len(inputs) != N or len(lengths) != N:
        raise RuntimeError(
            f"ctc_loss: input_lengths and target_lengths must be of size {N}, got {len(inputs)} and {len(lengths)}"
        )
    if any(not 0 <= n <= T for n in inputs):
        raise RuntimeError(f"ctc_loss: Expected input_lengths to have values between 0 and {T}, but got {inputs}")
    if any(n < 0 for n in lengths):
        raise RuntimeError(f"ctc_loss: Expected target_lengths to be non-negative, but got {lengths}")


def _check_targets(targets: Tensor, lengths: list[int], N: int, C: int) -> None:
    """Refuse targets that hold fewer labels than their lengths say, or labels that are no classes."""
    if targets._array.dtype.kind not in "iu":
        raise RuntimeError(f"ctc_loss: targets must be integral, got {targets.dtype.name}")
    if targets.dim() == 2 and (targets.shape[0] != N or targets.shape[1] < max(lengths, default=0)):
        raise RuntimeError(
            f"ctc_loss: Expected tensor to have size at least {max(lengths, default=0)} at dimension 1, but got size "
            f"{targets.shape[1]} for targets {list(targets.shape)} of {N} samples"
        )
    if targets.dim() < 2 and targets.numel() != sum(lengths):
        raise RuntimeError(
            f"ctc_loss: Expected tensor to have size {sum(lengths)} at dimension 0, but got size {targets.numel()}: "
            f"concatenated targets are as long as their lengths together"
        )


def _label_rows(targets: Tensor, lengths: list[int], N: int) -> list[list[int]]:
    """Each sample's labels."""
    if targets.dim() == 2:
        return [row[:n] for row, n in zip(targets.tolist(), lengths, strict=True)]
    flat, at, rows = targets.tolist(), 0, []
    for n in lengths:
        rows.append(flat[at : at + n])
        at += n
    return rows


def _forward(log_probs: Tensor, labels: list[list[int]], inputs: list[int], lengths: list[int], blank: int) -> Tensor:
    """The forward variables over the labels with a blank around each, all samples at once; (N,) losses."""
    T, N, _ = log_probs.shape
    width = 2 * max(lengths, default=0) + 1
    paths = [[blank] * width for _ in range(N)]
    skips = [[False] * width for _ in range(N)]
    for path, skip, row in zip(paths, skips, labels, strict=True):
        path[1 : 2 * len(row) : 2] = row
        for i in range(3, 2 * len(row), 2):
            skip[i] = path[i] != path[i - 2]
    device, never = log_probs.device, float("-inf")
    index = tf.tensor(paths, dtype=tf.int64, device=device).view(1, N, width).expand(T, N, width)
    may_skip = tf.tensor(skips, device=device)
    scores = log_probs.gather(2, index)
    start = tf.arange(width, device=device) < 2
    alphas = [tf.where(start, scores[0], never)] if T else []
    border = tf.full((N, 2), never, dtype=log_probs.dtype, device=device)
    for t in range(1, max(inputs, default=0)):
        shifted = tf.cat([border, alphas[-1]], 1)
        two = tf.where(may_skip, shifted[:, :width], never)
        alphas.append(_log_sum(alphas[-1], shifted[:, 1 : width + 1], two) + scores[t])
    return tf.stack([_ending(alphas, n, inputs[n], lengths[n], log_probs) for n in range(N)])


def _log_sum(*terms: Tensor) -> Tensor:
    """log(sum(exp(terms))), whose gradient is 0 where all are -inf."""
    stacked = tf.stack(terms)
    top = stacked.amax(0).detach()
    top = tf.where(top == float("-inf"), tf.zeros_like(top), top)
    total = (stacked - top).exp().sum(0)
    none = total == 0
    return tf.where(none, float("-inf"), tf.where(none, 1.0, total).log() + top)


def _ending(alphas: list[Tensor], n: int, steps: int, size: int, like: Tensor) -> Tensor:
    """One sample's loss: it ends on the last label or on the blank after it."""
    if steps == 0:
        return tf.full((), 0.0 if size == 0 else float("inf"), dtype=like.dtype, device=like.device)
    last = alphas[steps - 1][n]
    return -(_log_sum(last[2 * size], last[2 * size - 1]) if size else last[0])


def _as_of_logits(losses: Tensor, log_probs: Tensor, inputs: list[int], zero_infinity: bool) -> Tensor:
    """Add a term of value 0 whose gradient is softmax's: PyTorch's gradient is the one for the logits."""
    T = log_probs.shape[0]
    steps = tf.arange(T, device=log_probs.device).unsqueeze(1)
    within = steps < tf.tensor(inputs, dtype=tf.int64, device=log_probs.device)
    mass = tf.where(within.unsqueeze(2), log_probs, float("-inf")).exp().sum([0, 2])
    change = mass - mass.detach()
    if zero_infinity:
        return losses + change
    # A sample that cannot be aligned has no gradient: inf times the derivative of a square at 0 is nan.
    return tf.where(losses == float("inf"), losses * (1 + change * change), losses + change)
