"""Average pooling, adaptive means and their gradients: the operators of tenfold-nn.

Means of windows that overlap far are sums along one dimension after the other; `kernels/resize.py` is beneath for rows that are
too long for the stack.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.formats import channels_first, channels_last, in_one_piece, order_of, ordered
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64
from tenfold.llvm.window_axes import WIDEST, Axis, even, sliding, tables
from tenfold.llvm.windows import ROW, Across, means, means_last

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]

MEANS = Compiled("means of windows", means, vectors=True)
MEANS_LAST = Compiled("means of windows, channels last", means_last, vectors=True)
WORK = 1 << 14
SLACK = 16  # of a row and of a table: a vector's numbers
NOTE = "float32 and float64 in one piece or channels last"


@dataclass(frozen=True, eq=False)
class Plan:
    """What a call needs besides its arrays, and the arrays of tables whose addresses are in `numbers`."""

    outputs: Sizes
    across: Across
    counts: tuple[Array, ...]
    row: Sizes
    tables: tuple[Any, ...]
    work: int


def _plan(axes: list[Axis], dtype: Any) -> Plan | None:
    """None where the stack does not hold a row."""
    last = axes[-1]
    wide = max((last.outputs + SLACK) * last.across.step + last.across.taps, last.pad + last.size) + SLACK * WIDEST
    if wide > ROW or last.pad < 0 or min(axis.outputs for axis in axes) < 1 or min(axis.size for axis in axes) < 1:
        return None
    counts = [np.concatenate([axis.counts, np.ones(SLACK)]).astype(dtype) for axis in axes]
    ones = [np.ones(1 + SLACK, dtype)] * (3 - len(axes))
    outputs = tuple(axis.outputs for axis in axes)
    work = prod(axis.size for axis in axes) + prod(outputs)
    return Plan(outputs, last.across, (*ones, *counts), (last.pad, wide), tables(axes), work)


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
    return _plan([axis.back() if back else axis for axis in axes], dtype)


@lru_cache(maxsize=256)
def _even(sizes: Sizes, output_size: Sizes, back: bool, dtype: Any) -> Plan | None:
    if min(output_size) < 1 or min(sizes) < 1:
        return None
    axes = [even(*axis) for axis in zip(sizes, output_size, strict=True)]
    return _plan([axis.back() if back else axis for axis in axes], dtype)


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
    done = MEANS.run((stored, plan.across, back), prod(lead), grain, x, out, *plan.counts, *plan.row, *plan.tables)
    return ordered(out, order) if done else NotImplemented


def _avg_pool(
    input: Array, kernel: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, count_pad: bool, divisor: int | None
) -> Any:
    n = len(kernel)
    sizes = input.shape[input.ndim - n :]
    plan = _pooling(sizes, kernel, stride, padding, ceil_mode, count_pad, divisor, False, input.dtype)
    return _run(input, n, plan, False)


def _avg_pool_grad(
    grad: Array, shape: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, count_pad: bool, divisor: int | None
) -> Any:
    n = len(kernel)
    sizes = tuple(shape[len(shape) - n :])
    return _run(grad, n, _pooling(sizes, kernel, stride, padding, ceil_mode, count_pad, divisor, True, grad.dtype), True)


def _adaptive_avg_pool(input: Array, output_size: Sizes) -> Any:
    n = len(output_size)
    return _run(input, n, _even(input.shape[input.ndim - n :], tuple(output_size), False, input.dtype), False)


def _adaptive_avg_pool_grad(grad: Array, input_shape: Sizes, ndim: int) -> Any:
    sizes = tuple(input_shape[len(input_shape) - ndim :])
    return _run(grad, ndim, _even(sizes, grad.shape[grad.ndim - ndim :], True, grad.dtype), True)


chosen("avg_pool", _avg_pool, 7, NOTE, halves=1)
chosen("avg_pool_grad", _avg_pool_grad, 8, NOTE, halves=1)
chosen("adaptive_avg_pool", _adaptive_avg_pool, 2, NOTE, halves=1)
chosen("adaptive_avg_pool_grad", _adaptive_avg_pool_grad, 3, NOTE, halves=1)
