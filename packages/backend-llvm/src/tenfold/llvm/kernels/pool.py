"""Maximum pooling, over windows of one size and adaptive ones, and its gradient: the operators of tenfold-nn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.formats import channels_first, channels_last, in_one_piece, order_of, ordered
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.pooling import MaxPool, max_pool, max_pool_grad
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64, INT64, Stored
from tenfold.llvm.window_axes import Axis, even, sliding, tables
from tenfold.llvm.windows import maxima, maxima_last_grad

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]

MAX_POOL = Compiled("maximum pooling", max_pool)
MAX_POOL_GRAD = Compiled("the gradient of maximum pooling", max_pool_grad)
MAXIMA = Compiled("maxima of windows by tables", maxima)
MAXIMA_GRAD = Compiled("the gradient of maximum pooling, channels last", maxima_last_grad)
MOST_TAPS = 49  # windows whose code knows their steps: more is not worth it
WORK = 1 << 14
MOST = 1 << 31  # elements of a plane, in which 32 bits say how far a tap lies behind its window's first


def _two(sizes: Sizes, missing: int) -> tuple[int, int]:
    """Sizes of one or two dimensions as those of two."""
    return (missing, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])


@dataclass(frozen=True, eq=False)
class Plan:
    """What a call needs besides its arrays."""

    outputs: Sizes
    key: MaxPool | None  # of windows in planes, whose code knows their steps
    numbers: Sizes
    gaps: Sizes
    tables: tuple[Any, ...]
    work: int


@lru_cache(maxsize=256)
def _sliding(
    stored: Stored, sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> Plan | None:
    """None where a dimension has no window. Tables are for windows that hold an element; dilated ones may straddle a plane."""
    axes = [sliding(*axis, ceil_mode) for axis in zip(sizes, kernel, stride, padding, dilation, strict=True)]
    plan = _tabled(axes, dilation, prod(kernel))
    if plan is None or len(sizes) > 2 or prod(kernel) > MOST_TAPS:
        return plan
    (H, W), (high, wide) = _two(sizes, 1), _two(plan.outputs, 1)
    (_, taps), (_, step), (top, left), (_, gap) = (
        _two(given, missing) for given, missing in ((kernel, 1), (stride, 1), (padding, 0), (dilation, 1))
    )
    begin = min(wide, -(-left // step))
    end = max(begin, min(wide, (W - 1 - (taps - 1) * gap + left) // step + 1))
    pool = MaxPool(stored, _two(kernel, 1), _two(stride, 1), _two(dilation, 1))
    return replace(plan, key=pool, numbers=(H, W, high, wide, top, left, begin, end))


@lru_cache(maxsize=256)
def _even(stored: Stored, sizes: Sizes, output_size: Sizes) -> Plan | None:
    if min(output_size) < 1 or min(sizes) < 1:
        return None
    kernel = tuple(size // out for size, out in zip(sizes, output_size, strict=True))
    if (
        len(sizes) < 3
        and prod(kernel) <= MOST_TAPS
        and all(k * o == s for k, o, s in zip(kernel, output_size, sizes, strict=True))
    ):
        n = len(sizes)
        return _sliding(stored, sizes, kernel, kernel, (0,) * n, (1,) * n, False)
    axes = [even(*axis) for axis in zip(sizes, output_size, strict=True)]
    return _tabled(axes, (1,) * len(sizes), -(-prod(sizes) // prod(output_size)))


def _tabled(axes: list[Axis], gaps: Sizes, taps: int) -> Plan | None:
    outputs = tuple(axis.outputs for axis in axes)
    if min(outputs) < 1 or prod(axis.size for axis in axes) >= MOST:
        return None
    work = prod(outputs) // (outputs[-2] if len(axes) > 1 else 1) // (outputs[-3] if len(axes) > 2 else 1) * taps
    words = () if any((axis.starts >= axis.ends).any() for axis in axes) else tables(axes)
    return Plan(outputs, None, (), (1,) * (3 - len(axes)) + tuple(gaps), words, max(1, work))


def _run(x: Array, stored: Stored, plan: Plan) -> Any:
    """Values and indices, laid out as the input is."""
    n = len(plan.outputs)
    lead = x.shape[: x.ndim - n]
    last = channels_last(x) if len(lead) == 2 and plan.tables else None
    if plan.key is None and not plan.tables:
        return NotImplemented
    order = None
    if last is None and not x.flags.carray:
        order = order_of(x)
        x = in_one_piece(x)
    shape = (lead[0], *plan.outputs, lead[1]) if last is not None else (*lead, *plan.outputs)
    values, indices = empty(shape, stored), empty(shape, INT64)
    if last is None and plan.key is not None:
        grain = max(1, WORK // (prod(plan.outputs) * prod(plan.key.kernel)))
        done = MAX_POOL.run((plan.key,), prod(lead), grain, x, values, indices, *plan.numbers)
    else:
        channels, planes = (lead[1], lead[0]) if last is not None else (1, prod(lead))
        rows = planes * prod(plan.outputs[:-1])
        given = (x if last is None else last, values, indices, channels, *plan.gaps, *plan.tables)
        done = MAXIMA.run((stored, last is not None), rows, max(1, WORK // (plan.work * channels)), *given)
    if not done:
        return NotImplemented
    if last is not None:
        return channels_first(values), channels_first(indices)
    return ordered(values, order), ordered(indices, order)


def _stored(input: Array) -> Stored | None:
    stored = BY_DTYPE.get(input.dtype)
    return stored if stored in (FLOAT32, FLOAT64) and input.size else None


def _max_pool(input: Array, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool) -> Any:
    stored, n = _stored(input), len(kernel_size)
    if stored is None:
        return NotImplemented
    plan = _sliding(stored, input.shape[input.ndim - n :], kernel_size, stride, padding, dilation, ceil_mode)
    return NotImplemented if plan is None else _run(input, stored, plan)


def _max_pool2d(
    input: Array, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, return_indices: bool
) -> Any:
    """Where neither indices nor a gradient is wanted, and numbers say what is; all else is the body's business."""
    stored = _stored(input)
    if stored is None or return_indices or input.ndim != 4 or type(ceil_mode) is not bool:
        return NotImplemented
    if not (type(kernel_size) is type(padding) is type(dilation) is int) or (type(stride) is not int and stride is not None):
        return NotImplemented
    step = kernel_size if stride is None else stride
    if kernel_size < 1 or step < 1 or dilation < 1 or not 0 <= padding <= kernel_size // 2:
        return NotImplemented
    pairs = ((n, n) for n in (kernel_size, step, padding, dilation))
    plan = _sliding(stored, input.shape[2:], *pairs, ceil_mode)
    found = NotImplemented if plan is None else _run(input, stored, plan)
    return found if found is NotImplemented else found[0]


def adaptive_max_pool(input: Array, output_size: Sizes) -> Any:
    stored, n = _stored(input), len(output_size)
    if stored is None:
        return NotImplemented
    plan = _even(stored, input.shape[input.ndim - n :], tuple(output_size))
    return NotImplemented if plan is None else _run(input, stored, plan)


def _max_pool_grad(grad: Array, indices: Array, input_shape: Sizes, ndim: int) -> Any:
    stored = _stored(grad)
    if stored is None or indices.dtype != np.int64 or indices.shape != grad.shape:
        return NotImplemented
    lead = len(input_shape) - ndim
    size, count = prod(input_shape[lead:]), prod(grad.shape[lead:])
    if lead == 2:
        given, places = channels_last(grad), channels_last(indices)
        if given is not None and places is not None:
            made = empty((input_shape[0], *input_shape[lead:], input_shape[1]), stored)
            grain = max(1, WORK // ((size + count) * input_shape[1]))
            done = MAXIMA_GRAD.run((stored,), input_shape[0], grain, given, places, made, size, count, input_shape[1])
            return channels_first(made) if done else NotImplemented
    order = order_of(grad)
    grad, indices = in_one_piece(grad), in_one_piece(indices)
    out = empty(tuple(input_shape), stored)
    done = MAX_POOL_GRAD.run((stored,), prod(input_shape[:lead]), max(1, WORK // (size + count)), grad, indices, out, size, count)
    return ordered(out, order) if done else NotImplemented


NOTE = "float32 and float64"
chosen("max_pool", _max_pool, 6, NOTE, halves=1)
chosen("max_pool2d", _max_pool2d, 7, NOTE, halves=1)
chosen("adaptive_max_pool", adaptive_max_pool, 2, NOTE, halves=1)
chosen("max_pool_grad", _max_pool_grad, 4, NOTE, halves=1)
