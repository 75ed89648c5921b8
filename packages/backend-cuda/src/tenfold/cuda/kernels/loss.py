"""Cross entropy with class indices, one kernel, and its gradient, another: the operators of tenfold-nn.

Classes are the only dimension or the second; of more than two they are brought to the end, in a copy unless they lie there.
"""

from __future__ import annotations

from typing import Any

from tenfold.cuda import reports, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import alignments, margins, nll, pointwise_loss, soft_targets  # noqa: F401 - they attach kernels too
from tenfold.cuda.kernels.counters import counters
from tenfold.cuda.kernels.handwritten import (
    F64,
    FLOATS,
    UNBOUNDED,
    contiguous,
    dealt,
    rows_of,
    shared_out,
    start,
    statistics_dtype,
)
from tenfold.cuda.kernels.soft_targets import classes_last
from tenfold.dispatch.operators import op

REDUCTIONS = {"none": 0, "sum": 1, "mean": 2}
CODE = reports.WORDS.index("cross_entropy")


def _served(input: Any, target: Any, weight: Any) -> bool:
    if target.shape != (*input.shape[:1], *input.shape[2:])[: max(input.ndim - 1, 0)] or target.dtype.kind not in "iu":
        return False
    return weight is None or (weight.dtype in FLOATS and weight.shape == (input.shape[_class_dim(input)],))


def _class_dim(input: Any) -> int:
    return min(input.ndim - 1, 1)


@kernel(op.fused_cross_entropy, device="cuda", plays=True, recycles=True)
def fused_cross_entropy(input: Any, target: Any, weight: Any, ignore_index: int, label_smoothing: float, reduction: str) -> Any:
    moved = classes_last(input)
    sizes = rows_of(moved, 1, UNBOUNDED)
    if sizes is None or not _served(input, target, weight):
        return NotImplemented
    now = runtime.current()
    (rows, width), index = sizes, now.index_of(input)
    kind = statistics_dtype(input.dtype)
    flags = {"WEIGHT": int(weight is not None), "SMOOTH": int(label_smoothing > 0)}
    found, grid = dealt("cross_entropy", rows, width, input.dtype == F64, REDUCTION=REDUCTIONS[reduction], **flags)
    loss = now.empty(target.shape if reduction == "none" else (), input.dtype, index)
    total, partial = now.empty((), kind, index), now.empty((grid[0], 2), kind, index)
    top, log_sum = now.empty(target.shape, kind, index), now.empty(target.shape, kind, index)
    x = contiguous(moved)
    given = (x, contiguous(target), x if weight is None else contiguous(weight))
    numbers = (CODE, rows, width, int(ignore_index), float(label_smoothing))
    start(found, grid, (loss, total, top, log_sum, partial, counters(index), reports.words(now), *given, *numbers), index)
    if runtime.is_replaced():
        reports.check()
    return loss, total, top, log_sum


@kernel(op.fused_cross_entropy_grad, device="cuda", plays=True)
def fused_cross_entropy_grad(
    grad: Any,
    input: Any,
    target: Any,
    weight: Any,
    ignore_index: int,
    label_smoothing: float,
    reduction: str,
    total_weight: Any,
    top: Any,
    log_sum: Any,
) -> Any:
    moved = classes_last(input)
    sizes = rows_of(moved, 1, UNBOUNDED)
    if sizes is None or not _served(input, target, weight) or grad.dtype not in FLOATS:
        return NotImplemented
    now = runtime.current()
    (rows, width), index = sizes, now.index_of(input)
    fixed = {"REDUCTION": REDUCTIONS[reduction], "WEIGHT": int(weight is not None), "SMOOTH": int(label_smoothing > 0)}
    found, grid = shared_out("cross_entropy_gradient", rows, width, input.dtype == F64, **fixed)
    x = contiguous(moved)
    out = now.empty(x.shape, x.dtype, index)
    g = contiguous(grad)
    given = (
        g,
        x,
        contiguous(target),
        x if weight is None else contiguous(weight),
        total_weight,
        contiguous(top),
        contiguous(log_sum),
    )
    start(found, grid, (out, *given, rows, width, int(ignore_index), int(g.size > 1), float(label_smoothing)), index)
    return out if input.ndim < 3 else out.transpose(0, input.ndim - 1, *range(1, input.ndim - 1))
