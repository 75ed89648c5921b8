"""Losses that ask for margins between the scores of a row, one launch, and their gradients, another: operators of tenfold-nn."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tenfold.cuda import reports, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.counters import counters
from tenfold.cuda.kernels.handwritten import F64, FLOATS, LONG, Handwritten, contiguous, rows_of, start, statistics_dtype
from tenfold.cuda.kernels.nll import MOST, REDUCTIONS
from tenfold.cuda.kernels.planes import power
from tenfold.dispatch.operators import op

BLOCK = 1024  # elements of a program at a time, where its rows are not held whole
WORD = {name: reports.WORDS.index(name) for name in ("multi_margin_loss", "multilabel_margin_loss")}


@lru_cache(maxsize=4096)
def program(name: str, rows: int, width: int, longest: int, **fixed: int) -> tuple[Handwritten, int]:
    """(the kernel, its programs) for blocks of rows that are held up to a width."""
    columns = power(width, 1, longest)
    each = max(1, min(BLOCK // columns, power(rows, 1, BLOCK)))
    return Handwritten(name, (*fixed.items(), ("ROWS", each), ("BLOCK", columns)), 8 if columns > BLOCK else 4), -(-rows // each)


def _sizes(input: Any, target: Any, weight: Any, longest: int) -> tuple[int, int] | None:
    """(rows, classes); None for what the kernels do not serve."""
    sizes = rows_of(input, 1, longest)
    if sizes is None or target.dtype.kind not in "iu" or input.size > MOST:
        return None
    return sizes if weight is None or (weight.dtype in FLOATS and weight.shape == (sizes[1],)) else None


def _losses(shape: Any, input: Any, found: Any, count: int, code: int, given: Any, reduction: str, numbers: Any) -> Any:
    now = runtime.current()
    index, kind = now.index_of(input), statistics_dtype(input.dtype)
    loss = now.empty(shape if reduction == "none" else (), input.dtype, index)
    total, partial = now.empty((), kind, index), now.empty((count, 2), kind, index)
    start(found, (count,), (loss, total, partial, counters(index), reports.words(now), *given, code, *numbers), index)
    if runtime.is_replaced():
        reports.check()
    return loss


@kernel(op.fused_class_margins, device="cuda", plays=True, recycles=True)
def fused_class_margins(input: Any, target: Any, weight: Any, p: int, margin: float, reduction: str) -> Any:
    sizes = _sizes(input, target, weight, MOST)
    if sizes is None or target.size != sizes[0]:
        return NotImplemented
    fixed = _fixed(input, weight, p, reduction)
    found, count = program("class_margins", *sizes, BLOCK, **fixed)
    given = (contiguous(input), contiguous(target), input if weight is None else contiguous(weight))
    code = WORD["multi_margin_loss"]
    return _losses(target.shape, input, found, count, code, given, reduction, (*sizes, float(margin)))


def _fixed(input: Any, weight: Any, p: int, reduction: str) -> dict[str, int]:
    double = int(input.dtype == F64)
    return {"REDUCTION": REDUCTIONS[reduction], "SQUARE": int(p == 2), "WEIGHT": int(weight is not None), "DOUBLE": double}


@kernel(op.fused_class_margins_grad, device="cuda", plays=True)
def fused_class_margins_grad(grad: Any, input: Any, target: Any, weight: Any, p: int, margin: float, reduction: str) -> Any:
    sizes = _sizes(input, target, weight, MOST)
    if sizes is None or target.size != sizes[0] or grad.dtype not in FLOATS:
        return NotImplemented
    now = runtime.current()
    index = now.index_of(input)
    out = now.empty(input.shape, input.dtype, index)
    found, count = program("class_margins_gradient", *sizes, BLOCK, **_fixed(input, weight, p, reduction))
    given = (contiguous(grad), contiguous(input), contiguous(target), input if weight is None else contiguous(weight))
    start(found, (count,), (out, *given, *sizes, int(reduction == "none"), float(margin)), index)
    return out


@kernel(op.fused_label_margins, device="cuda", plays=True, recycles=True)
def fused_label_margins(input: Any, target: Any, reduction: str) -> Any:
    sizes = _sizes(input, target, None, LONG)
    if sizes is None or target.shape != input.shape:
        return NotImplemented
    fixed = {"REDUCTION": REDUCTIONS[reduction], "DOUBLE": int(input.dtype == F64)}
    found, count = program("label_margins", *sizes, LONG, **fixed)
    given = (contiguous(input), contiguous(target))
    return _losses(input.shape[:-1], input, found, count, WORD["multilabel_margin_loss"], given, reduction, sizes)


@kernel(op.fused_label_margins_grad, device="cuda", plays=True)
def fused_label_margins_grad(grad: Any, input: Any, target: Any, reduction: str) -> Any:
    sizes = _sizes(input, target, None, LONG)
    if sizes is None or target.shape != input.shape or grad.dtype not in FLOATS:
        return NotImplemented
    now = runtime.current()
    index = now.index_of(input)
    out = now.empty(input.shape, input.dtype, index)
    fixed = {"REDUCTION": REDUCTIONS[reduction], "DOUBLE": int(input.dtype == F64)}
    found, count = program("label_margins_gradient", *sizes, LONG, **fixed)
    given = (contiguous(grad), contiguous(input), contiguous(target))
    start(found, (count,), (out, *given, *sizes, int(reduction == "none")), index)
    return out
