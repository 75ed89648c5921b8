"""Layer norm and root-mean-square norm, one kernel each, and their gradients: the operators of tenfold-nn."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import batch_norm, group_norm, scaling  # noqa: F401 - these attach kernels of this family too
from tenfold.cuda.kernels.handwritten import (
    F64,
    FLOATS,
    LONG,
    LONGEST,
    TILE,
    UNBOUNDED,
    Handwritten,
    contiguous,
    rows_of,
    start,
    statistics_dtype,
    tiled,
)
from tenfold.cuda.kernels.planes import power
from tenfold.cuda.kernels.together import dtype_or, register
from tenfold.dispatch.operators import op

PROGRAMS, LEAST = 132 * 32, 16  # warps that an H100 holds of gradients with their parameters'; rows of a program, at least
SPLITS = 128  # groups of rows whose parameters' gradients are summed apart, so that all of a GPU takes part
ROWS, COLUMNS = 32, 32
TOTALLED = 8  # columns of a program that puts those sums together


def _sizes(input: Any, dims: int) -> tuple[int, int] | None:
    return rows_of(input, dims, UNBOUNDED)


def _dealt(name: str, rows: int, width: int, double: bool, **fixed: int) -> tuple[Handwritten, tuple[int, ...]]:
    """(a kernel that holds whole rows, or for longer ones that which goes over one row in blocks; its grid)."""
    if width <= LONGEST:
        return tiled(name, rows, width, double, **fixed)
    constants = (*fixed.items(), ("DOUBLE", int(double)), ("BLOCK", TILE // 2 if double else TILE))
    return Handwritten(f"{name.removesuffix('_rows')}_long", constants, 16), (rows,)


def _served(input: Any, dims: int, *parameters: Any) -> bool:
    return _sizes(input, dims) is not None and all(p is None or (p.dtype in FLOATS and p.size) for p in parameters)


def _forward(input: Any, dims: int, weight: Any, bias: Any, eps: float, centered: bool) -> Any:
    if not _served(input, dims, weight, bias):
        return NotImplemented
    now = runtime.current()
    index = now.index_of(input)
    rows, width = _sizes(input, dims)  # type: ignore[misc]
    x = contiguous(input)
    out = now.empty(x.shape, x.dtype, index)
    lead = (*x.shape[: x.ndim - dims], *(1,) * dims)
    mean, rstd = (now.empty(lead, statistics_dtype(x.dtype), index) for _ in range(2))
    found, grid = _dealt(
        "norm_rows",
        rows,
        width,
        x.dtype == F64,
        CENTERED=int(centered),
        WEIGHT=int(weight is not None),
        BIAS=int(bias is not None),
    )
    w, b = (x if p is None else contiguous(p) for p in (weight, bias))
    start(found, grid, (out, mean, rstd, x, w, b, rows, width, float(eps)), index)
    return (out, mean, rstd) if centered else (out, rstd)


def _backward(grad: Any, input: Any, mean: Any, rstd: Any, dims: int, weight: Any, *dtypes: Any) -> Any:
    """The gradients of the input and of the parameters, these in the given dtypes; None: that of the statistics."""
    centered = mean is not None
    if not _served(input, dims, weight) or grad.dtype != input.dtype or grad.shape != input.shape:
        return NotImplemented
    now = runtime.current()
    index = now.index_of(input)
    rows, width = _sizes(input, dims)  # type: ignore[misc]
    g, x, rstd = contiguous(grad), contiguous(input), contiguous(rstd)
    mean = contiguous(mean) if centered else rstd
    double = x.dtype == F64
    out = now.empty(x.shape, x.dtype, index)
    w = x if weight is None else contiguous(weight)
    kind = statistics_dtype(x.dtype)
    shape = x.shape[x.ndim - dims :]
    results = [now.empty(shape, dtype_or(dtype, kind), index) for dtype in (dtypes or (None,) * (1 + centered))]
    flags = {"CENTERED": int(centered), "WEIGHT": int(weight is not None)}
    in_one = width <= min(LONG, LONGEST)
    if in_one:
        found, splits, share = with_parameters(rows, width, double, **flags)
    else:
        splits = max(1, min(SPLITS, rows // ROWS))
    sums = results if splits == 1 else [now.empty((splits, width), kind, index) for _ in results]
    if in_one:
        start(found, (splits,), (out, sums[0], sums[-1], g, x, mean, rstd, w, rows, width, share), index)
    else:
        block = TILE // 2 if double else TILE
        constants: tuple[tuple[str, int], ...] = (*flags.items(), ("DOUBLE", int(double)), ("BLOCK", block))
        start(Handwritten("norm_gradient_long", constants, 16), (rows,), (out, g, x, mean, rstd, w, rows, width), index)
        constants = (("CENTERED", int(centered)), ("DOUBLE", int(double)), ("ROWS", ROWS), ("COLUMNS", COLUMNS))
        numbers = (rows, width, -(-rows // splits))
        grid = (-(-width // COLUMNS), splits)
        start(Handwritten("norm_parameters", constants), grid, (sums[0], sums[-1], g, x, mean, rstd, *numbers), index)
    if splits > 1:
        constants = (("CENTERED", int(centered)), ("DOUBLE", int(double)), ("ROWS", power(splits, 1, 128)), ("COLUMNS", TOTALLED))
        arrays = (results[0], results[-1], sums[0], sums[-1])
        start(Handwritten("norm_totals", constants), (-(-width // TOTALLED),), (*arrays, splits, width), index)
    return (out, *results)


@lru_cache(maxsize=4096)
def with_parameters(rows: int, width: int, double: bool, **fixed: int) -> tuple[Handwritten, int, int]:
    """(the kernel of the gradients of rows and of what these leave of the parameters', its programs, rows of each)."""
    block = 1 << max(width - 1, 0).bit_length()
    each = max(1, min(TILE // 4 // block, 1 << max(rows - 1, 0).bit_length()))
    warps = max(4, min(16, each * block // 256))
    splits = max(1, min(PROGRAMS // warps, rows // LEAST))
    share = -(-rows // splits)
    share = -(-share // each) * each
    constants = (*fixed.items(), ("DOUBLE", int(double)), ("ROWS", each), ("BLOCK", block))
    return Handwritten("norm_gradients", constants, warps), -(-rows // share), share


@kernel(op.fused_layer_norm, device="cuda", plays=True, recycles=True)
def fused_layer_norm(input: Any, normalized_ndim: int, weight: Any, bias: Any, eps: float) -> Any:
    return _forward(input, normalized_ndim, weight, bias, eps, True)


@kernel(op.fused_layer_norm_grad, device="cuda", plays=True)
def fused_layer_norm_grad(grad: Any, input: Any, mean: Any, rstd: Any, normalized_ndim: int, weight: Any, eps: float) -> Any:
    return _backward(grad, input, mean, rstd, normalized_ndim, weight)


@kernel(op.fused_rms_norm, device="cuda", plays=True, recycles=True)
def fused_rms_norm(input: Any, normalized_ndim: int, weight: Any, eps: float) -> Any:
    return _forward(input, normalized_ndim, weight, None, eps, False)


@kernel(op.fused_rms_norm_grad, device="cuda", plays=True)
def fused_rms_norm_grad(grad: Any, input: Any, rstd: Any, normalized_ndim: int, weight: Any, eps: float) -> Any:
    return _backward(grad, input, None, rstd, normalized_ndim, weight)


def _rms_gradients(grad: Any, input: Any, rstd: Any, dims: int, weight: Any, of_weight: Any) -> Any:
    return _backward(grad, input, None, rstd, dims, weight, of_weight)


register("fused_layer_norm", _backward)
register("fused_rms_norm", _rms_gradients)
