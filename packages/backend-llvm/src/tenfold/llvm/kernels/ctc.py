"""Connectionist temporal classification, a sample at a time: the operators of tenfold-nn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.llvm.ctc import BORDER, backwards, forwards
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled
from tenfold.llvm.storage import BY_DTYPE, Stored

Array = np.ndarray[Any, Any]

FORWARDS = Compiled("connectionist temporal classification", forwards, vectors=True)
BACKWARDS = Compiled("the gradient of connectionist temporal classification", backwards, vectors=True)
NEVER = -np.inf
COST = 16  # of a place of the path, in elements of simple loops


class _Call:
    """A call's arrays as the loops read them; `fine` where all sizes belong together."""

    def __init__(self, log_probs: Array, labels: Array, inputs: Array, lengths: Array, blank: int) -> None:
        self.stored: Stored = BY_DTYPE[log_probs.dtype]
        if log_probs.strides[2] != log_probs.itemsize or any(step % log_probs.itemsize for step in log_probs.strides):
            log_probs = np.ascontiguousarray(log_probs)
        self.log_probs = log_probs
        self.T, self.N, self.C = log_probs.shape
        self.inputs, self.lengths = (np.ascontiguousarray(a, np.int64) for a in (inputs, lengths))
        self.fine = (
            self.N > 0
            and self.C > 0
            and labels.shape[:1] == self.inputs.shape == self.lengths.shape == (self.N,)
            and 0 <= self.inputs.min() <= self.inputs.max() <= self.T
            and 0 <= self.lengths.min() <= self.lengths.max() <= labels.shape[1]
        )
        if not self.fine:
            return
        S = labels.shape[1]
        self.width = 2 * S + 1
        self.path = np.full((self.N, self.width), blank, np.int64)
        own = np.where(np.arange(S) < self.lengths[:, None], labels, blank)
        self.path[:, 1::2] = own
        self.fine = bool(0 <= self.path.min() <= self.path.max() < self.C)
        # 0 where the place two before may be left out between, for its label is another.
        self.skip = np.full((self.N, self.width + BORDER), NEVER, log_probs.dtype)
        self.skip[:, 3 : self.width : 2][own[:, 1:] != own[:, :-1]] = 0.0

    def run(self, kernel: Compiled, *arrays: Array) -> bool:
        """Run over the samples."""
        scratch = np.full((self.N, 4 * self.width + 2 * BORDER), NEVER, self.log_probs.dtype)
        grain = max(1, GRAIN_ELEMENTS // (COST * self.T * self.width + 1))
        t, n, _ = (step // self.log_probs.itemsize for step in self.log_probs.strides)
        sizes = (self.T,) if kernel is FORWARDS else (self.T, self.N, self.C)
        given = self.log_probs, self.path, self.skip, self.inputs, self.lengths, *arrays, scratch, self.width, t, n, *sizes
        return kernel.run((self.stored,), self.N, grain, *given)


@quiet
def fused_ctc(
    log_probs: Array, labels: Array, input_lengths: Array, target_lengths: Array, blank: int, zero_infinity: bool
) -> Any:
    call = _Call(log_probs, labels, input_lengths, target_lengths, blank)
    if not call.fine:
        return NotImplemented
    alphas = np.full((call.N, call.T, call.width), NEVER, log_probs.dtype)
    ends = np.empty((call.N, 2), log_probs.dtype)
    if not call.run(FORWARDS, alphas, ends):
        return NotImplemented
    losses = 0.0 - np.logaddexp(ends[:, 0], ends[:, 1])
    if zero_infinity:
        losses[losses == np.inf] = 0.0
    return losses, alphas


@quiet
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
    call = _Call(log_probs, labels, input_lengths, target_lengths, blank)
    if not call.fine or not grad.shape == losses.shape == (call.N,) or alphas.shape != (call.N, call.T, call.width):
        return NotImplemented
    if not grad.dtype == losses.dtype == alphas.dtype == log_probs.dtype:
        return NotImplemented
    out = np.zeros(log_probs.shape, log_probs.dtype)
    if not call.T:
        return out
    samples, steps = np.arange(call.N), call.inputs
    last = alphas[samples, np.maximum(steps - 1, 0)]
    end = 2 * call.lengths
    never = (last[samples, end] == NEVER) & ((end == 0) | (last[samples, end - 1] == NEVER))
    hopeless = (never & (not zero_infinity)) | np.isnan(losses)
    call.inputs = np.where(never | hopeless, 0, steps)
    given = (np.ascontiguousarray(a) for a in (alphas, losses, grad))
    if not call.run(BACKWARDS, *given, out):
        return NotImplemented
    for n in np.flatnonzero(hopeless):
        out[: steps[n], n] = np.nan
    return out


NOTE = "float32 and float64"
chosen("fused_ctc", fused_ctc, 6, NOTE)
chosen("fused_ctc_grad", fused_ctc_grad, 9, NOTE)
