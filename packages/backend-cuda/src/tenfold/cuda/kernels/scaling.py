"""Rows scaled by what their norms say, one launch, and the gradient, another; so local response norm: operators of tenfold-nn.

Rows may lie along any dimension: what is made of them lies in memory as they do.
"""

from __future__ import annotations

from math import inf, prod
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.elementwise import allocate
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, contiguous, start, statistics_dtype
from tenfold.cuda.kernels.planes import power
from tenfold.dispatch.operators import op

BLOCK = 1024
STRIDED = 64  # rows of a program whose elements lie side by side with those of other rows
MOST = 2**31 - 2**16
NORMS = {1.0: 1, 2.0: 2, inf: 3}


def program(name: str, kind: str, p: float, rows: int, width: int, strided: bool, double: bool) -> tuple[Handwritten, int]:
    """(the kernel, its programs)."""
    if strided:
        each = power(rows, 1, STRIDED)
        columns = power(width, 1, BLOCK // STRIDED)
    else:
        columns = power(width, 1, BLOCK)
        each = max(1, min(BLOCK // columns, power(rows, 1, BLOCK)))
    fixed = ("NORM", NORMS.get(p, 0)), ("LIMIT", int(kind == "limit")), ("DOUBLE", int(double))
    return Handwritten(name, (*fixed, ("ROWS", each), ("BLOCK", columns))), -(-rows // each)


def _served(x: Any, p: float) -> bool:
    return x.dtype in FLOATS and x.ndim > 0 and x.size > 0 and p > 0 and max(x.size // x.shape[-1], x.shape[-1]) <= MOST


def _inner(x: Any) -> int:
    """How many leading indices go on evenly, from the last one forward."""
    count, lead = 1, list(zip(x.shape[:-1], x.strides[:-1]))
    step: int | None = None
    for n, s in reversed(lead):
        if n == 1:
            continue
        if step is not None and s != step:
            break
        count, step = count * n, s * n
    return count


def _steps(x: Any, inner: int) -> tuple[int, int, int] | None:
    """(from one `inner` rows to the next, from row to row, from element to element); None for rows that do not lie so."""
    steps, sizes, size = [0, 0], [prod(x.shape[:-1]) // inner, inner], x.dtype.itemsize
    part, done = 1, 1
    expected: int | None = None
    for n, s in reversed(list(zip(x.shape[:-1], x.strides[:-1]))):
        if n == 1:
            continue
        if done == sizes[part] and part:
            part, done, expected = 0, 1, None
        if done * n > sizes[part] or (expected is not None and s != expected):
            return None
        if expected is None:
            steps[part] = s // size
        done, expected = done * n, s * n
    return steps[0], steps[1], x.strides[-1] // size


def _arranged(index: int, *arrays: Any) -> tuple[Any, tuple[Any, ...], int, list[Any]]:
    """(an array for the result, those given, rows of the inner level, steps of each): copies, unless all lie evenly alike."""
    out, inner = allocate(arrays[0].shape, arrays[0].dtype, arrays[0]), _inner(arrays[0])
    steps = [_steps(x, inner) for x in (out, *arrays)]
    if None not in steps:
        return out, arrays, inner, steps
    shape = arrays[0].shape
    out = runtime.current().empty(shape, arrays[0].dtype, index)
    return out, tuple(contiguous(x) for x in arrays), max(prod(shape[:-1]), 1), [(0, shape[-1], 1)] * (1 + len(arrays))


@kernel(op.fused_scaled_rows, device="cuda", plays=True, recycles=True)
def fused_scaled_rows(input: Any, p: float, kind: str, bound: float) -> Any:
    if not _served(input, p):
        return NotImplemented
    now = runtime.current()
    index = now.index_of(input)
    out, (x,), inner, (to, of) = _arranged(index, input)
    rows, width = x.size // x.shape[-1], x.shape[-1]
    norms = now.empty(x.shape[:-1], statistics_dtype(x.dtype), index)
    found, count = program("scaled_rows", kind, p, rows, width, of[2] != 1, x.dtype == F64)
    start(found, (count,), (out, norms, x, rows, width, inner, *to, *of, float(bound), float(p)), index)
    return out, norms


@kernel(op.fused_scaled_rows_grad, device="cuda", plays=True)
def fused_scaled_rows_grad(grad: Any, input: Any, norms: Any, p: float, kind: str, bound: float) -> Any:
    if not _served(input, p) or grad.dtype not in FLOATS or grad.shape != input.shape:
        return NotImplemented
    index = runtime.current().index_of(input)
    to, (x, g), inner, (a, b, c) = _arranged(index, input, grad)
    rows, width = x.size // x.shape[-1], x.shape[-1]
    found, count = program("scaled_rows_gradient", kind, p, rows, width, b[2] != 1, x.dtype == F64)
    numbers = (rows, width, inner, *a, *c, *b, float(bound), float(p))
    start(found, (count,), (to, g, x, contiguous(norms), *numbers), index)
    return to


def _planes(x: Any) -> tuple[int, int, int] | None:
    """(elements, elements of a channel, channels); None for what the kernels do not serve."""
    return (x.size, prod(x.shape[2:]), x.shape[1]) if x.dtype in FLOATS and x.ndim > 2 and x.size else None


def _response(name: str, x: Any, arrays: tuple[Any, ...], *numbers: Any) -> None:
    found = Handwritten(name, (("DOUBLE", int(x.dtype == F64)), ("BLOCK", BLOCK)))
    start(found, (-(-x.size // BLOCK),), (*arrays, *numbers), runtime.current().index_of(x))


@kernel(op.fused_response_norm, device="cuda", plays=True, recycles=True)
def fused_response_norm(input: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    sizes = _planes(input)
    if sizes is None:
        return NotImplemented
    now, x = runtime.current(), contiguous(input)
    out, scales = (now.empty(x.shape, d, now.index_of(x)) for d in (x.dtype, statistics_dtype(x.dtype)))
    _response("response_norm", x, (out, scales, x), *sizes, int(size), alpha / size, float(beta), float(k))
    return out, scales


@kernel(op.fused_response_norm_grad, device="cuda", plays=True)
def fused_response_norm_grad(grad: Any, input: Any, scales: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    sizes = _planes(input)
    if sizes is None or grad.dtype not in FLOATS or grad.shape != input.shape:
        return NotImplemented
    now, x = runtime.current(), contiguous(input)
    to = now.empty(x.shape, x.dtype, now.index_of(x))
    arrays = (to, contiguous(grad), x, contiguous(scales))
    _response("response_norm_gradient", x, arrays, *sizes, int(size), alpha / size, float(beta))
    return to
