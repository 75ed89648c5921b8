"""The rectifier in one pass, and softmax, whose rows or columns a program holds; what that does not serve by the array module."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import cast, wide
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.handwritten import F64, FLOATS, TILE, UNBOUNDED, Handwritten, contiguous, dealt, start
from tenfold.cuda.kernels.planes import power
from tenfold.cuda.kernels.pointwise import refuses
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op

PROGRAMS = 264  # two for each multiprocessor of a large GPU
FEWEST = 8  # columns of a program, that lie in one sector of memory
MOST = 2**30


@kernel(op.relu, device="cuda", plays=True, recycles=True, into=True)
def relu(input: Any, out: Any = None) -> Any:
    result = run("relu", input, out=out)
    return refuses("relu")(input) if result is NotImplemented else result


@kernel(op.threshold_backward, device="cuda", plays=True)
def threshold_backward(grad_output: Any, input: Any, threshold: float) -> Any:
    result = run("threshold_backward", grad_output, input, threshold)
    return xp.where(input <= threshold, xp.zeros((), grad_output.dtype), grad_output) if result is NotImplemented else result


def _by_rows(name: str, arrays: tuple[Any, ...], dim: int, log: bool) -> Any:
    """A kernel that has whole rows along a dimension, or columns along another than the last; None for what it does not serve."""
    first = arrays[0]
    if not first.ndim or not -first.ndim <= dim < first.ndim or not first.size or first.dtype not in FLOATS:
        return None
    if any(a.shape != first.shape or a.dtype != first.dtype for a in arrays):
        return None
    dim %= first.ndim
    now, (outer, width, inner) = runtime.current(), (prod(first.shape[:dim]), first.shape[dim], prod(first.shape[dim + 1 :]))
    if inner == 1:
        sizes: tuple[int, ...] = (outer, width)
        if width > UNBOUNDED or outer >= 2**31 - TILE:
            return None
        chosen, grid = dealt(name, *sizes, first.dtype == F64, LOG=int(log))
    else:
        chosen, grid, blocks = _columns(name, outer, width, inner, first.dtype == F64, log)
        sizes = width, inner, blocks
        if grid[0] >= 2**31 or max(width, inner) > MOST:
            return None
    index = now.index_of(first)
    out = now.empty(first.shape, first.dtype, index)
    start(chosen, grid, (out, *map(contiguous, arrays), *sizes), index)
    return out


@lru_cache(maxsize=4096)
def _columns(name: str, outer: int, width: int, inner: int, double: bool, log: bool) -> tuple[Handwritten, tuple[int], int]:
    """(the kernel of columns, its grid, programs side by side): narrower ones where else few programs would run."""
    columns = power(inner, 1, 64)
    while columns > FEWEST and outer * -(-inner // columns) < PROGRAMS:
        columns //= 2
    blocks = -(-inner // columns)
    rows = power(width, 1, (1024 if double else 2048) // columns)
    fixed = ("LOG", int(log)), ("DOUBLE", int(double)), ("ROWS", rows), ("COLUMNS", columns)
    return Handwritten(f"{name}_columns", fixed), (outer * blocks,), blocks


@kernel(op.softmax_backward, device="cuda", plays=True)
def softmax_backward(grad_output: Any, output: Any, dim: int) -> Any:
    found = _by_rows("softmax_gradient", (grad_output, output), dim, False)
    return NotImplemented if found is None else found


@kernel(op.log_softmax_backward, device="cuda", plays=True)
def log_softmax_backward(grad_output: Any, output: Any, dim: int) -> Any:
    found = _by_rows("softmax_gradient", (grad_output, output), dim, True)
    return NotImplemented if found is None else found


@kernel(op.softmax, device="cuda", plays=True, recycles=True)
def softmax(input: Any, dim: int) -> Any:
    found = _by_rows("softmax", (input,), dim, False)
    if found is not None:
        return found
    with np.errstate(all="ignore"):
        powers = xp.exp(_shifted(input, dim))
        return cast(powers / powers.sum(axis=_axis(input, dim), keepdims=True), input.dtype)


@kernel(op.log_softmax, device="cuda", plays=True, recycles=True)
def log_softmax(input: Any, dim: int) -> Any:
    found = _by_rows("softmax", (input,), dim, True)
    if found is not None:
        return found
    with np.errstate(all="ignore"):
        shifted = _shifted(input, dim)
        return cast(shifted - xp.log(xp.exp(shifted).sum(axis=_axis(input, dim), keepdims=True)), input.dtype)


def _axis(input: Any, dim: int) -> int | None:
    if not -max(input.ndim, 1) <= dim < max(input.ndim, 1):
        raise IndexError(dim)
    return dim if input.ndim else None


def _shifted(input: Any, dim: int) -> Any:
    """The input less its maximum along a dimension, so that no power overflows."""
    if input.dtype.kind not in "fV":
        raise TypeError(f"softmax of {input.dtype}")
    x = wide(input)
    return x - x.max(axis=_axis(input, dim), keepdims=True) if x.size else x
