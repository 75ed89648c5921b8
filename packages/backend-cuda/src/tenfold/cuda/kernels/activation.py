"""The rectifier in one pass, softmax by the array module."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import cast, wide
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.handwritten import F64, UNBOUNDED, contiguous, dealt, rows_of, start
from tenfold.cuda.kernels.pointwise import refuses
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op


@kernel(op.relu, device="cuda", into=True)
def relu(input: Any, out: Any = None) -> Any:
    result = run("relu", input, out=out)
    return refuses("relu")(input) if result is NotImplemented else result


@kernel(op.threshold_backward, device="cuda")
def threshold_backward(grad_output: Any, input: Any, threshold: float) -> Any:
    result = run("threshold_backward", grad_output, input, threshold)
    return xp.where(input <= threshold, xp.zeros((), grad_output.dtype), grad_output) if result is NotImplemented else result


def _by_rows(name: str, arrays: tuple[Any, ...], dim: int, log: bool) -> Any:
    """A row kernel along the last dimension; None for what it does not serve."""
    first = arrays[0]
    found = rows_of(first, 1, UNBOUNDED) if first.ndim and dim in (-1, first.ndim - 1) else None
    if found is None or any(a.shape != first.shape or a.dtype != first.dtype for a in arrays):
        return None
    now = runtime.current()
    index = now.index_of(first)
    out = now.empty(first.shape, first.dtype, index)
    chosen, grid = dealt(name, *found, first.dtype == F64, LOG=int(log))
    start(chosen, grid, (out, *map(contiguous, arrays), *found), index)
    return out


@kernel(op.softmax_backward, device="cuda")
def softmax_backward(grad_output: Any, output: Any, dim: int) -> Any:
    found = _by_rows("softmax_gradient", (grad_output, output), dim, False)
    return NotImplemented if found is None else found


@kernel(op.log_softmax_backward, device="cuda")
def log_softmax_backward(grad_output: Any, output: Any, dim: int) -> Any:
    found = _by_rows("softmax_gradient", (grad_output, output), dim, True)
    return NotImplemented if found is None else found


@kernel(op.softmax, device="cuda")
def softmax(input: Any, dim: int) -> Any:
    found = _by_rows("softmax", (input,), dim, False)
    if found is not None:
        return found
    with np.errstate(all="ignore"):
        powers = xp.exp(_shifted(input, dim))
        return cast(powers / powers.sum(axis=_axis(input, dim), keepdims=True), input.dtype)


@kernel(op.log_softmax, device="cuda")
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
