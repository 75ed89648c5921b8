"""Connectionist temporal classification: all samples at once, step by step, forwards for alpha and back for beta."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.ops.loss import ctc as ops

Array = np.ndarray[Any, Any]
NEVER = -np.inf


def paths(labels: Array, lengths: Array, blank: int) -> tuple[Array, Array]:
    """The labels with a blank around each, and where the place two before may come: another label's; (N, 2S + 1)."""
    N, S = labels.shape
    path = np.full((N, 2 * S + 1), blank, np.int64)
    path[:, 1::2] = np.where(np.arange(S) < lengths[:, None], labels, blank)
    skip = np.zeros(path.shape, np.bool_)
    if S:
        skip[:, 3::2] = path[:, 3::2] != path[:, 1:-2:2]
    return path, skip


def fits(log_probs: Array, labels: Array, inputs: Array, lengths: Array) -> bool:
    """Whether all sizes belong together; else the body says what is wrong."""
    T, N, C = log_probs.shape
    if not C or labels.shape[:1] != (N,) or inputs.shape != (N,) or lengths.shape != (N,):
        return False
    return N == 0 or bool(inputs.min() >= 0 and inputs.max() <= T and lengths.min() >= 0 and lengths.max() <= labels.shape[1])


def _log_sum(*terms: Array) -> Array:
    top = np.maximum.reduce(terms)
    top = np.where(top == NEVER, top.dtype.type(0), top)
    total: Array = np.log(sum(np.exp(term - top) for term in terms)) + top
    return total


@kernel(ops.fused_ctc, device="cpu")
@array_kernel(rounded=2)
def fused_ctc(
    log_probs: Array, labels: Array, input_lengths: Array, target_lengths: Array, blank: int, zero_infinity: bool
) -> Any:
    if not fits(log_probs, labels, input_lengths, target_lengths):
        return NotImplemented
    path, skip = paths(labels, target_lengths, blank)
    T, N, C = log_probs.shape
    if N and not 0 <= path.min() <= path.max() < C:
        return NotImplemented
    width, samples, end = path.shape[1], np.arange(N), 2 * target_lengths
    alphas = np.full((N, T, width), NEVER, log_probs.dtype)
    inside = np.arange(width) <= end[:, None]
    bordered = np.full((N, width + 2), NEVER, log_probs.dtype)
    never = log_probs.dtype.type(NEVER)
    for t in range(int(input_lengths.max(initial=0))):
        scores = np.take_along_axis(log_probs[t], path, 1)
        if t == 0:
            alpha = np.full_like(scores, NEVER)
            alpha[:, :2] = scores[:, :2]
        else:
            alpha = _log_sum(bordered[:, 2:], bordered[:, 1:-1], np.where(skip, bordered[:, :-2], never)) + scores
        bordered[:, 2:] = alpha
        alphas[:, t] = np.where(inside & (input_lengths[:, None] > t), alpha, NEVER)
    steps = np.maximum(input_lengths - 1, 0)
    last = alphas[samples, steps] if T else np.full((N, width), NEVER, log_probs.dtype)
    losses = -_log_sum(last[samples, end], np.where(end > 0, last[samples, end - 1], NEVER).astype(log_probs.dtype))
    losses[(input_lengths == 0) & (end == 0)] = 0.0
    if zero_infinity:
        losses[losses == np.inf] = 0.0
    return losses, alphas


@kernel(ops.fused_ctc_grad, device="cpu")
@array_kernel()
def fused_ctc_grad(
    grad: Array,
    log_probs: Array,
    labels: Array,
    input_lengths: Array,
    target_lengths: Array,
    losses: Array,
    alphas: Array,
    blank: int,
    zero_infinity: bool,
) -> Any:
    if not fits(log_probs, labels, input_lengths, target_lengths) or grad.shape != losses.shape:
        return NotImplemented
    path, skip = paths(labels, target_lengths, blank)
    T, N, C = log_probs.shape
    width = path.shape[1]
    if alphas.shape != (N, T, width) or (N and not 0 <= path.min() <= path.max() < C):
        return NotImplemented
    skip = np.concatenate([skip[:, 2:], np.zeros((N, 2), np.bool_)], 1)[:, :width]
    end, places = 2 * target_lengths[:, None], (np.arange(N)[:, None] * C + path).reshape(-1)
    ending = (np.arange(width) == end) | (np.arange(width) == end - 1)
    none = hopeless(losses, alphas, input_lengths, target_lengths)
    out, bordered = np.zeros_like(log_probs), np.full((N, width + 2), NEVER, log_probs.dtype)
    never = log_probs.dtype.type(NEVER)
    for t in reversed(range(int(input_lengths.max(initial=0)))):
        scores = np.take_along_axis(log_probs[t], path, 1)
        on = _log_sum(bordered[:, :-2], bordered[:, 1:-1], np.where(skip, bordered[:, 2:], never)) + scores
        left = input_lengths[:, None] - t
        beta = np.where(left == 1, np.where(ending, scores, NEVER), np.where(left > 1, on, NEVER))
        bordered[:, :-2] = beta
        meets = (alphas[:, t] != NEVER) & (beta != NEVER)
        posterior = np.where(meets, np.exp(alphas[:, t] + beta - scores + losses[:, None]), 0.0)
        shares = np.bincount(places, posterior.reshape(-1), N * C).reshape(N, C)
        slopes = (np.exp(log_probs[t]) - shares).astype(log_probs.dtype)
        slopes[none] = 0.0 if zero_infinity else np.nan
        slopes[np.isnan(losses)] = np.nan
        out[t] = np.where(left > 0, slopes * grad[:, None], 0.0)
    return out


def hopeless(losses: Array, alphas: Array, inputs: Array, lengths: Array) -> Array:
    """Which samples cannot be aligned, whatever their losses were replaced by."""
    if not alphas.shape[1]:
        none: Array = np.zeros(losses.shape, np.bool_)
        return none
    samples, end = np.arange(len(losses)), 2 * lengths
    last = alphas[samples, np.maximum(inputs - 1, 0)]
    ends: Array = (last[samples, end] == NEVER) & ((end == 0) | (last[samples, end - 1] == NEVER))
    return ends
