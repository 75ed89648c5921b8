"""Cross entropy with probabilities, one kernel, and its gradient, another: the operators of tenfold-nn.

Classes are the only dimension or the second; of more than two they are brought to the end, in a copy unless they lie there.
"""

from __future__ import annotations

from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.counters import counters
from tenfold.cuda.kernels.handwritten import F64, FLOATS, UNBOUNDED, Handwritten, contiguous, rows_of, start, statistics_dtype
from tenfold.cuda.kernels.nll import REDUCTIONS
from tenfold.cuda.kernels.planes import power
from tenfold.dispatch.operators import op

BLOCK = 2048


def classes_last(x: Any) -> Any:
    """The array with the classes, the second of more than two dimensions, as the last one."""
    return x if x.ndim < 3 else x.transpose(0, *range(2, x.ndim), 1)


def _sizes(input: Any, target: Any, weight: Any) -> tuple[int, int] | None:
    """(rows, classes); None for what the kernels do not serve."""
    moved = classes_last(input)
    sizes = rows_of(moved, 1, UNBOUNDED)
    if sizes is None or target.shape != input.shape or target.dtype not in FLOATS:
        return None
    return sizes if weight is None or (weight.dtype in FLOATS and weight.shape == (sizes[1],)) else None


def program(name: str, rows: int, width: int, double: bool, weight: bool, smooth: bool, reduction: str) -> tuple[Any, int, int]:
    """(the kernel, its rows, its columns)."""
    columns = power(width, 1, BLOCK // 2 if double else BLOCK)
    each = max(1, min(BLOCK // columns, power(rows, 1, BLOCK)))
    fixed = {
        "REDUCTION": REDUCTIONS[reduction], "WEIGHT": int(weight), "SMOOTH": int(smooth), "DOUBLE": int(double), "ROWS": each,
        "BLOCK": columns,
    }  # fmt: skip
    return Handwritten(name, tuple(fixed.items())), each, columns


@kernel(op.fused_soft_cross_entropy, device="cuda", plays=True, recycles=True)
def fused_soft_cross_entropy(input: Any, target: Any, weight: Any, label_smoothing: float, reduction: str) -> Any:
    sizes = _sizes(input, target, weight)
    if sizes is None:
        return NotImplemented
    (rows, width), now, kind = sizes, runtime.current(), statistics_dtype(input.dtype)
    index, smooth = now.index_of(input), label_smoothing > 0
    found, each, _ = program("soft_cross_entropy", rows, width, kind == F64, weight is not None, smooth, reduction)
    x = contiguous(classes_last(input))
    lead = x.shape[:-1]
    loss = now.empty(lead if reduction == "none" else (), input.dtype, index)
    grid = -(-rows // each)
    total, saved, partial = (now.empty(shape, kind, index) for shape in ((), (3, *lead), (grid, 2)))
    given = x, contiguous(classes_last(target)), x if weight is None else contiguous(weight)
    start(found, (grid,), (loss, total, saved, partial, counters(index), *given, rows, width, float(label_smoothing)), index)
    return loss, saved


@kernel(op.fused_soft_cross_entropy_grad, device="cuda", plays=True)
def fused_soft_cross_entropy_grad(
    grad: Any, input: Any, target: Any, weight: Any, label_smoothing: float, reduction: str, saved: Any
) -> Any:
    sizes = _sizes(input, target, weight)
    if sizes is None or grad.dtype not in FLOATS or grad.size not in (1, sizes[0]):
        return NotImplemented
    (rows, width), now, double = sizes, runtime.current(), input.dtype == F64
    index, smooth = now.index_of(input), label_smoothing > 0
    name = "soft_cross_entropy_gradient"
    found, each, columns = program(name, rows, width, double, weight is not None, smooth, reduction)
    x, g = contiguous(classes_last(input)), contiguous(grad)
    out = now.empty(x.shape, x.dtype, index)
    given = g, x, contiguous(classes_last(target)), x if weight is None else contiguous(weight), contiguous(saved)
    grid = -(-rows // each) * -(-width // columns)
    start(found, (grid,), (out, *given, rows, width, int(g.size > 1), float(label_smoothing)), index)
    return out if input.ndim < 3 else out.transpose(0, input.ndim - 1, *range(1, input.ndim - 1))
