"""Group norm, two launches, and its gradient, three: the operators of tenfold-nn. Planes are row-major, else copied."""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, contiguous, start, statistics_dtype
from tenfold.cuda.kernels.planes import power
from tenfold.dispatch.operators import op

PROGRAMS = 1024  # that a pass is shared out to
MOST_SHARES = 64
BLOCK = 1024
MOST = 2**30  # elements of a sample, and planes


def _served(x: Any, *vectors: Any) -> bool:
    if x.dtype not in FLOATS or x.ndim < 2 or not x.size or x.size // x.shape[0] > MOST or prod(x.shape[:2]) > MOST:
        return False
    return all(v is None or (v.dtype in FLOATS and v.size) for v in vectors)


def _parts(rows: int, size: int) -> tuple[int, int]:
    """(elements of a row that a program has, how many such parts a row has)."""
    parts = max(1, min(MOST_SHARES, PROGRAMS // rows, size // (2 * BLOCK)))
    block = min(-(-size // (parts * BLOCK)) * BLOCK, size)  # a program goes over it in tiles, which may be small
    return block, -(-size // block)


@kernel(op.fused_group_norm, device="cuda", plays=True, recycles=True)
def fused_group_norm(input: Any, num_groups: int, weight: Any, bias: Any, eps: float) -> Any:
    if not _served(input, weight, bias):
        return NotImplemented
    now = runtime.current()
    index, x, kind = now.index_of(input), contiguous(input), statistics_dtype(input.dtype)
    (N, C), length, double = x.shape[:2], prod(x.shape[2:]), ("DOUBLE", int(x.dtype == F64))
    rows, size = N * num_groups, x.size // (N * num_groups)
    block, shares = _parts(rows, size)
    means, squares = (now.empty((shares, rows), kind, index) for _ in range(2))
    tile = (double, ("ROWS", power(size, 1, BLOCK)), ("COLUMNS", 1))
    moments = Handwritten("channel_moments", (("UNIT", 0 if size % 16 else 2), *tile), 4, by_address=True)
    start(moments, (rows, shares), (means, squares, x, size, block, rows, size, 0, size, 1), index)
    out = now.empty(x.shape, x.dtype, index)
    mean, rstd = (now.empty((N, num_groups), kind, index) for _ in range(2))
    flags = (
        ("WEIGHT", int(weight is not None)),
        ("BIAS", int(bias is not None)),
        double,
        ("SHARES", power(shares, 1, MOST_SHARES)),
    )
    vectors = (x if v is None else contiguous(v) for v in (weight, bias))
    numbers = (size, block, shares, block, rows, num_groups, C // num_groups, length, float(eps))
    program = Handwritten("group_norm", (*flags, ("BLOCK", BLOCK)))
    start(program, (rows, shares), (out, mean, rstd, x, *vectors, means, squares, *numbers), index)
    return out, mean, rstd


@kernel(op.fused_group_norm_grad, device="cuda", plays=True)
def fused_group_norm_grad(grad: Any, input: Any, mean: Any, rstd: Any, num_groups: int, weight: Any, eps: float) -> Any:
    if not _served(input, weight, mean, rstd) or grad.dtype != input.dtype:
        return NotImplemented
    now = runtime.current()
    index, x, g, kind = now.index_of(input), contiguous(input), contiguous(grad), statistics_dtype(input.dtype)
    (N, C), length, double = x.shape[:2], prod(x.shape[2:]), ("DOUBLE", int(x.dtype == F64))
    each, mean, rstd = C // num_groups, contiguous(mean), contiguous(rstd)
    sums, dots = (now.empty((N, C), kind, index) for _ in range(2))
    width = power(length, 1, BLOCK)
    tile = (double, ("ROWS", max(1, BLOCK // width)), ("BLOCK", width))
    grid = (-(-N * C // max(1, BLOCK // width)),)
    start(Handwritten("plane_slopes", tile), grid, (sums, dots, g, x, mean, rstd, N * C, C, num_groups, each, length), index)
    out = now.empty(x.shape, x.dtype, index)
    rows, size = N * num_groups, x.size // (N * num_groups)
    block, parts = _parts(rows, size)
    flags = ("WEIGHT", int(weight is not None)), double, ("CHANNELS", power(each, 1, 256)), ("BLOCK", BLOCK)
    w = x if weight is None else contiguous(weight)
    arrays = (out, g, x, mean, rstd, w, sums, dots)
    start(Handwritten("group_norm_gradient", flags), (rows, parts), (*arrays, size, block, num_groups, each, length), index)
    g_weight, g_bias = (now.empty((C,), kind, index) for _ in range(2))
    program = Handwritten("plane_parameters", (double, ("ROWS", 32), ("COLUMNS", 32)))
    start(program, (-(-C // 32),), (g_weight, g_bias, sums, dots, N, C), index)
    return out, g_weight, g_bias
