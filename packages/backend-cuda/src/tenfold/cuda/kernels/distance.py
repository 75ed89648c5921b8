"""Cosines and distances of pairs of rows, one launch, and their gradients, another: operators of tenfold-nn."""

from __future__ import annotations

from math import inf
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import all_pairs  # noqa: F401 - it attaches kernels of this family too
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, contiguous, start, statistics_dtype
from tenfold.cuda.kernels.planes import power
from tenfold.cuda.kernels.scaling import NORMS
from tenfold.dispatch.operators import op

BLOCK = 1024
MOST = 2**30
KINDS = {"distance": 0, "cosine": 1, "smooth": 2}


def _served(a: Any, b: Any) -> bool:
    """Rows of one number go through the body: their length is its magnitude, whose square may overflow."""
    if a.dtype not in FLOATS or a.dtype != b.dtype or a.shape != b.shape or not a.ndim or not a.size:
        return False
    return 1 < a.shape[-1] <= MOST and a.size // a.shape[-1] <= MOST


def _program(name: str, kind: str, p: float, dtype: Any, width: int, rows: int) -> tuple[Handwritten, int, int]:
    """(the kernel, its rows, its columns)."""
    columns = power(width, 1, BLOCK)
    each = max(1, min(BLOCK // columns, power(rows, 1, BLOCK)))
    norm = NORMS.get(p, 0) if kind == "distance" else 2
    fixed = ("COSINE", KINDS[kind]), ("NORM", norm), ("DOUBLE", int(dtype == F64)), ("ROWS", each), ("BLOCK", columns)
    return Handwritten(name, fixed), each, columns


@kernel(op.fused_row_pairs, device="cuda", plays=True, recycles=True)
def fused_row_pairs(x1: Any, x2: Any, kind: str, eps: float, p: float) -> Any:
    if not _served(x1, x2) or not p > 0:
        return NotImplemented
    now, width = runtime.current(), x1.shape[-1]
    index, rows = now.index_of(x1), x1.size // width
    out = now.empty(x1.shape[:-1], x1.dtype, index)
    lengths = now.empty((1 + (kind != "distance" or p == inf), *x1.shape[:-1]), statistics_dtype(x1.dtype), index)
    program, each, _ = _program("row_pairs", kind, p, x1.dtype, width, rows)
    start(program, (-(-rows // each),), (out, lengths, contiguous(x1), contiguous(x2), rows, width, float(eps), float(p)), index)
    return out, lengths


@kernel(op.fused_row_pairs_grad, device="cuda", plays=True)
def fused_row_pairs_grad(grad: Any, x1: Any, x2: Any, result: Any, lengths: Any, kind: str, eps: float, p: float) -> Any:
    if not _served(x1, x2) or not p > 0 or grad.dtype not in FLOATS or x1.shape[-1] > 65535 * BLOCK:
        return NotImplemented
    now, width = runtime.current(), x1.shape[-1]
    index, rows = now.index_of(x1), x1.size // width
    to_a, to_b = (now.empty(x1.shape, x1.dtype, index) for _ in range(2))
    # The lengths of smooth cosines are never too short, so that theirs is the gradient of other cosines.
    kind = "cosine" if kind == "smooth" else kind
    program, each, columns = _program("row_pairs_gradient", kind, p, x1.dtype, width, rows)
    given = (contiguous(x) for x in (grad, x1, x2, result, lengths))
    start(program, (-(-rows // each), -(-width // columns)), (to_a, to_b, *given, rows, width, float(eps), float(p)), index)
    return to_a, to_b
