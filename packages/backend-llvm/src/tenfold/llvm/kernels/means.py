"""Average pooling, adaptive means and their gradients: the operators of tenfold-nn.

Means of windows that overlap far are sums along one dimension after the other; `kernels/resize.py` is beneath for rows that are
too long for the stack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.expressions import load
from tenfold.llvm.formats import channels_first, channels_last, in_one_piece, order_of, ordered
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.kernels.reduction import LONG, PROGRAM as REDUCTIONS
from tenfold.llvm.programs import Compiled, Program, empty
from tenfold.llvm.rows import Array as Argument, Rows, length
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64, Stored
from tenfold.llvm.window_axes import WIDEST, Axis, even, sliding, tables
from tenfold.llvm.windows import ROW, Across, means, means_last

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]

MEANS = Compiled("means of windows", means, vectors=True)
MEANS_LAST = Compiled("means of windows, channels last", means_last, vectors=True)
WORK = 1 << 14
SLACK = 16  # of a row and of a table: a vector's numbers
NOTE = "float32 and float64 in one piece or channels last"


def _filling(stored: Stored) -> Rows:
    """A number of each row over the row's length, in all of the row."""
    value = load(0, stored.computed) / length(stored.computed)
    return Rows(((value, Argument(stored, "row")),), (Argument(stored, "scalar"),))


FILLED = Program("the gradient of a mean", _filling)


@dataclass(frozen=True, eq=False)
class Plan:
    """What a call needs besides its arrays, and the arrays of tables whose addresses are in `numbers`."""

    outputs: Sizes
    across: Across
    counts: tuple[Array, ...]
    row: Sizes
    tables: tuple[Any, ...]
    work: int
    run: Callable[..., bool]  # over planes that lie row by row


def _plan(axes: list[Axis], dtype: Any, back: bool) -> Plan | None:
    """None where the stack does not hold a row."""
    last = axes[-1]
    wide = max((last.outputs + SLACK) * last.across.step + last.across.taps, last.pad + last.size) + SLACK * WIDEST
    if wide > ROW or last.pad < 0 or min(axis.outputs for axis in axes) < 1 or min(axis.size for axis in axes) < 1:
        return None
    counts = [np.concatenate([axis.counts, np.ones(SLACK)]).astype(dtype) for axis in axes]
    ones = [np.ones(1 + SLACK, dtype)] * (3 - len(axes))
    outputs = tuple(axis.outputs for axis in axes)
    work = prod(axis.size for axis in axes) + prod(outputs)
    run = MEANS.bound(BY_DTYPE.get(dtype), last.across, back)
    return Plan(outputs, last.across, (*ones, *counts), (last.pad, wide), tables(axes), work, run)


@lru_cache(maxsize=256)
def _pooling(
    sizes: Sizes,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_pad: bool,
    divisor: Any,
    back: bool,
    dtype: Any,
) -> Plan | None:
    axes = [sliding(*axis, 1, ceil_mode, count_pad) for axis in zip(sizes, kernel, stride, padding, strict=True)]
    if divisor is not None:
        for i, axis in enumerate(axes):
            counts = np.full(axis.outputs, divisor if i == 0 else 1)
            axes[i] = Axis(axis.size, axis.starts, axis.ends, counts, axis.across, axis.pad)
    return _plan([axis.back() if back else axis for axis in axes], dtype, back)


@lru_cache(maxsize=256)
def _even(sizes: Sizes, output_size: Sizes, back: bool, dtype: Any) -> Plan | None:
    if min(output_size) < 1 or min(sizes) < 1:
        return None
    axes = [even(*axis) for axis in zip(sizes, output_size, strict=True)]
    return _plan([axis.back() if back else axis for axis in axes], dtype, back)


def _run(x: Array, n: int, plan: Plan | None, back: bool) -> Any:
    stored = BY_DTYPE.get(x.dtype)
    if plan is None or stored not in (FLOAT32, FLOAT64) or not x.size:
        return NotImplemented
    lead = x.shape[: x.ndim - n]
    if not x.flags.c_contiguous or x.ndim > 3:
        moved = channels_last(x)
        if moved is not None and len(lead) == 2:
            made = empty((lead[0], *plan.outputs, lead[1]), stored)
            rows = lead[0] * (plan.outputs[0] if n == 3 else 1) * (plan.outputs[-2] if n > 1 else 1)
            grain = max(1, WORK * rows // (plan.work * prod(lead)))
            arguments = (moved, made, *plan.counts, lead[1], *plan.tables)
            return channels_first(made) if MEANS_LAST.run((stored, back), rows, grain, *arguments) else NotImplemented
    order = None
    if not x.flags.carray:
        order = order_of(x)
        x = in_one_piece(x)
    out = empty((*lead, *plan.outputs), stored)
    grain = max(1, WORK // plan.work)
    done = plan.run(prod(lead), grain, x, out, *plan.counts, *plan.row, *plan.tables)
    return ordered(out, order) if done else NotImplemented


def _whole(x: Array, n: int, sizes: Sizes) -> Any:
    """The means of whole planes, or, of `sizes`, their gradient: a number in each element. NotImplemented: by windows."""
    stored, back = BY_DTYPE.get(x.dtype), len(sizes) > 0
    if stored not in (FLOAT32, FLOAT64) or not x.size or not x.flags.carray:
        return NotImplemented
    if x.ndim > 3 and x.strides[1] <= x.strides[-1] and not (back and x.strides[-1] == x.itemsize):  # perhaps channels last
        return NotImplemented
    lead = x.shape[: x.ndim - n]
    out = empty((*lead, *(sizes or (1,) * n)), stored)
    if back:
        return out if FILLED.rows((stored,), x.size, prod(sizes), out, x) else NotImplemented
    count = x.size // out.size
    done = count < LONG and REDUCTIONS.rows(("mean", stored, stored, "rows"), out.size, count, out, x)
    return out if done else NotImplemented


def _covers(sizes: Sizes, kernel: Sizes, padding: Sizes, divisor: int | None) -> bool:
    """Whether there is one window, of the whole plane."""
    return sizes == kernel and divisor is None and not any(padding) and min(sizes) > 0


def avg_pool(
    input: Array, kernel: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, count_pad: bool, divisor: int | None
) -> Any:
    n = len(kernel)
    sizes = input.shape[input.ndim - n :]
    made = _whole(input, n, ()) if _covers(sizes, kernel, padding, divisor) else NotImplemented
    if made is not NotImplemented:
        return made
    plan = _pooling(sizes, kernel, stride, padding, ceil_mode, count_pad, divisor, False, input.dtype)
    return _run(input, n, plan, False)


def _avg_pool_grad(
    grad: Array, shape: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, count_pad: bool, divisor: int | None
) -> Any:
    n = len(kernel)
    sizes = tuple(shape[len(shape) - n :])
    made = _whole(grad, n, sizes) if _covers(sizes, kernel, padding, divisor) else NotImplemented
    if made is not NotImplemented:
        return made
    return _run(grad, n, _pooling(sizes, kernel, stride, padding, ceil_mode, count_pad, divisor, True, grad.dtype), True)


def adaptive_avg_pool(input: Array, output_size: Sizes) -> Any:
    n = len(output_size)
    made = _whole(input, n, ()) if prod(output_size) == 1 else NotImplemented
    if made is not NotImplemented:
        return made
    return _run(input, n, _even(input.shape[input.ndim - n :], tuple(output_size), False, input.dtype), False)


def _adaptive_avg_pool_grad(grad: Array, input_shape: Sizes, ndim: int) -> Any:
    sizes = tuple(input_shape[len(input_shape) - ndim :])
    made = _whole(grad, ndim, sizes) if prod(grad.shape[grad.ndim - ndim :]) == 1 else NotImplemented
    if made is not NotImplemented:
        return made
    return _run(grad, ndim, _even(sizes, grad.shape[grad.ndim - ndim :], True, grad.dtype), True)


chosen("avg_pool", avg_pool, 7, NOTE, halves=1)
chosen("avg_pool_grad", _avg_pool_grad, 8, NOTE, halves=1)
chosen("adaptive_avg_pool", adaptive_avg_pool, 2, NOTE, halves=1)
chosen("adaptive_avg_pool_grad", _adaptive_avg_pool_grad, 3, NOTE, halves=1)
