"""Connectionist temporal classification.

A path is a target's labels with a blank around each. alpha[t, s] is the log of the probability of all alignments of the first
t + 1 steps that end on the path's place s, beta[t, s] that of all alignments of step t and those behind it that begin there.
"""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import has_kernel
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
    if has_kernel("fused_ctc", log_probs) and log_probs.dtype in (tf.float32, tf.float64):
        ends = [tf.tensor(n, dtype=tf.int64, device=log_probs.device) for n in (inputs, lengths)]
        losses, _ = fused_ctc(log_probs, _padded(targets, lengths, N).to(log_probs.device), *ends, blank, zero_infinity)
    else:
        losses, _ = _forward(log_probs, _label_rows(targets, lengths, N), inputs, lengths, blank)
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
    if not T * N * C:
        raise RuntimeError(f"ctc_loss: log_probs tensor must not be empty, got shape {[T, N, C]}")
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


def _padded(targets: Tensor, lengths: list[int], N: int) -> Tensor:
    """Each sample's labels as a row of one tensor, behind which zeros may lie."""
    if targets.dim() == 2:
        return targets.to(tf.int64)
    longest = max(lengths, default=0)
    rows = [row + [0] * (longest - len(row)) for row in _label_rows(targets, lengths, N)]
    return tf.tensor(rows, dtype=tf.int64).reshape(N, longest)


def _paths(labels: list[list[int]], width: int, blank: int, device: Any) -> tuple[Tensor, Tensor]:
    """The paths, and from which places of them the one two places before may be left out between: another label's; (N, width)."""
    paths = [[blank] * width for _ in labels]
    skips = [[False] * width for _ in labels]
    for path, skip, row in zip(paths, skips, labels, strict=True):
        path[1 : 2 * len(row) : 2] = row
        for i in range(3, 2 * len(row), 2):
            skip[i] = path[i] != path[i - 2]
    return tf.tensor(paths, dtype=tf.int64, device=device).view(-1, width), tf.tensor(skips, device=device).view(-1, width)


def _forward(
    log_probs: Tensor, labels: list[list[int]], inputs: list[int], lengths: list[int], blank: int
) -> tuple[Tensor, list[Tensor]]:
    """(N,) losses, and of every step that some sample has alpha, (N, width), of all samples at once."""
    T, N, C = log_probs.shape
    wrong = [label for row in labels for label in row if not 0 <= label < C]
    if wrong:
        raise RuntimeError(
            f"ctc_loss: Expected labels of targets to be from 0 to {C - 1}, the classes of log_probs, but got {wrong[0]}"
        )
    width = 2 * max(lengths, default=0) + 1
    device, never = log_probs.device, float("-inf")
    paths, may_skip = _paths(labels, width, blank, device)
    scores = log_probs.gather(2, paths.unsqueeze(0).expand(T, N, width))
    start = tf.arange(width, device=device) < 2
    alphas = [tf.where(start, scores[0], never)] if T else []
    border = tf.full((N, 2), never, dtype=log_probs.dtype, device=device)
    for t in range(1, max(inputs, default=0)):
        shifted = tf.cat([border, alphas[-1]], 1)
        two = tf.where(may_skip, shifted[:, :width], never)
        alphas.append(_log_sum(alphas[-1], shifted[:, 1 : width + 1], two) + scores[t])
    losses = [_ending(alphas, n, inputs[n], lengths[n], log_probs) for n in range(N)]
    return tf.stack(losses) if losses else log_probs.new_zeros((0,)), alphas


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


@composite("loss", accepts={"log_probs": "floating"}, method=None)
def fused_ctc(
    log_probs: Tensor, labels: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int, zero_infinity: bool
) -> tuple[Tensor, Tensor]:
    """`ctc_loss` of arguments that are known to fit, each sample's by itself; and, for the gradient, all alpha.

    Shape: (T, N, C), labels (N, S), lengths (N) -> (N), (N, T, 2S + 1). alpha is -inf beyond a sample's steps and its path's end.

    >>> import tenfold
    >>> x, one = tenfold.log_softmax(tenfold.zeros(2, 1, 2), 2), tenfold.tensor([1])
    >>> tenfold.op.fused_ctc(x, tenfold.tensor([[1]]), one + 1, one, 0, False)[0]
    tensor([0.2877])
    """
    T, N, _ = log_probs.shape
    inputs, lengths, labelled = _on_the_host(labels, input_lengths, target_lengths)
    losses, alphas = _forward(log_probs, labelled, inputs, lengths, blank)
    width, device, never = 2 * labels.shape[1] + 1, log_probs.device, float("-inf")
    longest = 2 * max(lengths, default=0) + 1
    steps, ends = input_lengths.to(device).unsqueeze(1), 2 * target_lengths.to(device).unsqueeze(1)
    inside = tf.arange(longest, device=device) <= ends
    rows = [tf.where(inside & (steps > t), alpha, never) for t, alpha in enumerate(alphas)]
    rows += [tf.full((N, longest), never, dtype=log_probs.dtype, device=device)] * (T - len(rows))
    beyond = tf.full((N, T, width - longest), never, dtype=log_probs.dtype, device=device)
    whole = tf.cat([tf.stack(rows, 1), beyond], 2) if T else log_probs.new_zeros((N, 0, width))
    if zero_infinity:
        losses = tf.where(losses == float("inf"), tf.zeros_like(losses), losses)
    return losses, whole


@fused_ctc.rule
def _(log_probs, labels, input_lengths, target_lengths, blank, zero_infinity):  # type: ignore[no-untyped-def]
    T, N, _ = log_probs.shape
    return Meta((N,), log_probs.dtype), Meta((N, T, 2 * labels.shape[1] + 1), log_probs.dtype)


def _on_the_host(labels: Tensor, inputs: Tensor, lengths: Tensor) -> tuple[list[int], list[int], list[list[int]]]:
    sizes = lengths.tolist()
    return inputs.tolist(), sizes, [row[:n] for row, n in zip(labels.tolist(), sizes, strict=True)]


@composite("loss", method=None)
def fused_ctc_grad(
    grad: Tensor,
    log_probs: Tensor,
    labels: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    losses: Tensor,
    alphas: Tensor,
    blank: int,
    zero_infinity: bool,
) -> Tensor:
    """The gradient of `fused_ctc` for the logits of a log-softmax: grad (exp(log_probs) - the posterior of each class).

    NaN for a sample that cannot be aligned, with `zero_infinity` 0. Shape: grad (N) -> (T, N, C). The body computes alpha again.
    Source: Graves et al., "Connectionist Temporal Classification", 2006, equation 16.

    >>> import tenfold
    >>> x, one, labels = tenfold.log_softmax(tenfold.zeros(2, 1, 2), 2), tenfold.tensor([1]), tenfold.tensor([[1]])
    >>> loss, alphas = tenfold.op.fused_ctc(x, labels, one + 1, one, 0, False)
    >>> tenfold.op.fused_ctc_grad(loss * 0 + 1, x, labels, one + 1, one, loss, alphas, 0, False)
    tensor([[[ 0.1667, -0.1667]],
    <BLANKLINE>
            [[ 0.1667, -0.1667]]])
    """
    T, N, C = log_probs.shape
    inputs, lengths, rows = _on_the_host(labels, input_lengths, target_lengths)
    totals, alpha = _forward(log_probs, rows, inputs, lengths, blank)
    width, device, never = 2 * max(lengths, default=0) + 1, log_probs.device, float("-inf")
    paths, may_skip = _paths(rows, width, blank, device)
    place, steps = tf.arange(width, device=device), input_lengths.to(device).unsqueeze(1)
    end = 2 * target_lengths.to(device).unsqueeze(1)
    ending = (place == end) | (place == end - 1)
    border = tf.full((N, 2), never, dtype=log_probs.dtype, device=device)
    may_skip = tf.cat([may_skip[:, 2:], tf.zeros((N, 2), dtype=tf.bool, device=device)], 1)[:, :width]
    beta, found = tf.full((N, width), never, dtype=log_probs.dtype, device=device), []
    for t in reversed(range(max(inputs, default=0))):
        scores = log_probs[t].gather(1, paths)
        shifted = tf.cat([beta, border], 1)
        two = tf.where(may_skip, shifted[:, 2:], never)
        on = _log_sum(beta, shifted[:, 1 : width + 1], two) + scores
        beta = tf.where(steps - 1 == t, tf.where(ending, scores, never), tf.where(steps > t, on, never))
        meets = (alpha[t] != never) & (beta != never)
        gap = tf.where(meets, alpha[t], 0.0) + tf.where(meets, beta, 0.0) - tf.where(meets, scores, 0.0)
        posterior = tf.where(meets, gap + totals.unsqueeze(1), never).exp()
        slopes = log_probs[t].exp().scatter_add(1, paths, -posterior)
        none = 0.0 if zero_infinity else float("nan")
        slopes = tf.where((totals == float("inf")).unsqueeze(1), none, slopes)
        slopes = tf.where(tf.isnan(totals).unsqueeze(1), float("nan"), slopes)
        found.append(tf.where(steps > t, slopes * grad.unsqueeze(1), 0.0))
    slopes_by_step = found[::-1] + [tf.full((N, C), 0.0, dtype=log_probs.dtype, device=device)] * (T - len(found))
    return tf.stack(slopes_by_step) if T else log_probs.clone()


@fused_ctc_grad.rule
def _(  # type: ignore[no-untyped-def]
    grad, log_probs, labels, input_lengths, target_lengths, losses, alphas, blank, zero_infinity
):
    return Meta(log_probs.shape, log_probs.dtype)
