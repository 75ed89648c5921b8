"""Negative log-likelihood of class indices, one launch, and its gradient, another: the operators of tenfold-nn."""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold.cuda import reports, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.batch_norm import arranged
from tenfold.cuda.kernels.counters import counters
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, contiguous, start, statistics_dtype
from tenfold.dispatch.operators import op

REDUCTIONS = {"none": 0, "sum": 1, "mean": 2}
CODE = reports.WORDS.index("nll_loss")
BLOCK = 256  # positions of a program at a time
PROGRAMS = 1056
MOST = 2**31 - 2**22  # positions, of which the last program's end behind the others


def _served(input: Any, target: Any, weight: Any) -> bool:
    if input.dtype not in FLOATS or not input.size or input.ndim < 1 or target.dtype.kind not in "iu":
        return False
    if target.shape != (*input.shape[:1], *input.shape[2:])[: max(input.ndim - 1, 0)] or target.size > MOST:
        return False
    return weight is None or (weight.dtype in FLOATS and weight.shape == (input.shape[min(input.ndim - 1, 1)],))


@kernel(op.fused_nll_loss, device="cuda", plays=True, recycles=True)
def fused_nll_loss(input: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    if not _served(input, target, weight):
        return NotImplemented
    now = runtime.current()
    index, kind = now.index_of(input), statistics_dtype(input.dtype)
    x, steps = arranged(input if input.ndim > 1 else input[None])
    length, count = prod(x.shape[2:]), target.size
    loss = now.empty(target.shape if reduction == "none" else (), input.dtype, index)
    total = now.empty((), kind, index)
    share = -(-count // (min(PROGRAMS, -(-count // BLOCK)) * BLOCK)) * BLOCK
    programs = -(-count // share)
    partial = now.empty((programs, 2), kind, index)
    fixed = {"REDUCTION": REDUCTIONS[reduction], "WEIGHT": int(weight is not None), "DOUBLE": int(kind == F64), "BLOCK": BLOCK}
    given = (x, contiguous(target), x if weight is None else contiguous(weight))
    numbers = (CODE, count, share, length, x.shape[1], int(ignore_index), *steps)
    arrays = (loss, total, partial, counters(index), reports.words(now), *given)
    start(Handwritten("pick_losses", tuple(fixed.items())), (programs,), (*arrays, *numbers), index)
    if runtime.is_replaced():
        reports.check()
    return loss, total


@kernel(op.fused_nll_loss_grad, device="cuda", plays=True)
def fused_nll_loss_grad(
    grad: Any, input: Any, target: Any, weight: Any, ignore_index: int, reduction: str, total_weight: Any
) -> Any:
    if not _served(input, target, weight) or grad.dtype not in FLOATS:
        return NotImplemented
    now = runtime.current()
    index = now.index_of(input)
    out = now.empty(input.shape, input.dtype, index)
    g, double, big = contiguous(grad), input.dtype == F64, input.size > MOST
    fixed = {
        "REDUCTION": REDUCTIONS[reduction], "WEIGHT": int(weight is not None), "DOUBLE": int(double), "BIG": int(big),
        "BLOCK": 4 * BLOCK,
    }  # fmt: skip
    given = (g, contiguous(target), g if weight is None else contiguous(weight), total_weight)
    numbers = (
        input.size,
        prod(input.shape[2:]),
        input.shape[min(input.ndim - 1, 1)],
        int(ignore_index),
        int(reduction == "none"),
    )
    kernel = Handwritten("pick_gradient", tuple(fixed.items()), 8)
    start(kernel, (-(-input.size // (4 * BLOCK)),), (out, *given, *numbers), index)
    return out
