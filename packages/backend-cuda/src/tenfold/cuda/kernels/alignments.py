"""Connectionist temporal classification, one launch, and its gradient, two: operators of tenfold-nn."""

from __future__ import annotations

from typing import Any

from tenfold.cuda import reports, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.handwritten import F32, F64, Handwritten, contiguous, start
from tenfold.dispatch.operators import op

CODE = reports.WORDS.index("ctc_loss")
MOST = 2**31 - 2**16
LONGEST = 1 << 13  # places of a path that a program holds
BLOCK = 1024  # classes of a program at a time


def _served(log_probs: Any, labels: Any, inputs: Any, lengths: Any) -> bool:
    T, N, C = log_probs.shape
    S = labels.shape[-1]
    if log_probs.dtype not in (F32, F64) or labels.ndim != 2 or not T or not N or not C or 2 * S + 1 > LONGEST:
        return False
    whole = all(x.dtype.kind == "i" and x.shape == (N,) for x in (inputs, lengths)) and labels.dtype.kind == "i"
    return whole and len(labels) == N and N * C * T < MOST and N < 2**16


def program(name: str, places: int, double: bool, **fixed: int) -> Handwritten:
    """The kernel for paths of so many places."""
    block = 1 << max(places - 1, 0).bit_length()
    warps = min(max(block // 128, 1), 16)
    return Handwritten(name, (*fixed.items(), ("DOUBLE", int(double)), ("BLOCK", block)), warps, by_address=True)


def _steps(x: Any) -> tuple[int, ...]:
    return tuple(s // x.dtype.itemsize for s in x.strides)


@kernel(op.fused_ctc, device="cuda")
def fused_ctc(log_probs: Any, labels: Any, input_lengths: Any, target_lengths: Any, blank: int, zero_infinity: bool) -> Any:
    if not _served(log_probs, labels, input_lengths, target_lengths):
        return NotImplemented
    (T, N, C), S, now = log_probs.shape, labels.shape[1], runtime.current()
    index, dtype = now.index_of(log_probs), log_probs.dtype
    losses, alphas = now.empty((N,), dtype, index), now.empty((N, T, 2 * S + 1), dtype, index)
    found = program("ctc_alpha", 2 * S + 1, dtype == F64, ZERO_INFINITY=int(zero_infinity))
    given = (log_probs, *map(contiguous, (labels, input_lengths, target_lengths)))
    numbers = (CODE, T, S, C, int(blank), *_steps(log_probs))
    start(found, (N,), (losses, alphas, reports.words(now), *given, *numbers), index)
    if runtime.is_replaced():
        reports.check()
    return losses, alphas


@kernel(op.fused_ctc_grad, device="cuda")
def fused_ctc_grad(
    grad: Any,
    log_probs: Any,
    labels: Any,
    input_lengths: Any,
    target_lengths: Any,
    losses: Any,
    alphas: Any,
    blank: int,
    zero_infinity: bool,
) -> Any:
    if not _served(log_probs, labels, input_lengths, target_lengths) or not grad.dtype == log_probs.dtype == alphas.dtype:
        return NotImplemented
    (T, N, C), S, now = log_probs.shape, labels.shape[1], runtime.current()
    index, dtype, width = now.index_of(log_probs), log_probs.dtype, 2 * S + 1
    shares, beta = now.empty((N, T, width), dtype, index), now.empty((N, 2, width), dtype, index)
    kept = (contiguous(alphas), contiguous(losses), log_probs, *map(contiguous, (labels, input_lengths, target_lengths)))
    numbers = (T, S, C, int(blank), *_steps(log_probs))
    found = program("ctc_posterior", width, dtype == F64)
    start(found, (N,), (shares, beta, reports.words(now), *kept, CODE, *numbers), index)
    out = now.empty((T, N, C), dtype, index)
    places = 1 << max(S - 1, 0).bit_length()
    flags = {"ZERO_INFINITY": int(zero_infinity), "LABELS": places}
    found = program("ctc_gradient", min(C, BLOCK), dtype == F64, **flags)
    start(found, (T, N), (out, contiguous(grad), shares, *kept, N, *numbers), index)
    return out
