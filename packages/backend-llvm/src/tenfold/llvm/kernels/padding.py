"""Borders around planes, and their gradients: the operators of tenfold-nn. Constants other than 0 are beneath.

`pad` itself looks at a dozen things before it comes to one of these. Of sizes and widths that it took before, it need not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import pairwise
from math import copysign, prod
from typing import Any, NamedTuple

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.runtime import STATE
from tenfold.llvm import session as sessions
from tenfold.llvm.borders import KINDS, borders, borders_grad
from tenfold.llvm.formats import Order, channels_first, channels_last, in_one_piece, order_of, ordered
from tenfold.llvm.kernels.attaching import chosen, quickly
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64, Stored
from tenfold.tensor.tensor import wrap

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]

padding: Any = import_module("tenfold.nn.ops.padding")  # tenfold-nn is there where somebody asks for its operators' kernels
BORDERS = Compiled("borders around planes", borders)
BORDERS_GRAD = Compiled("the gradient of borders around planes", borders_grad, vectors=True)
WORK = 1 << 14


@dataclass(frozen=True, eq=False)
class Plan:
    """Tables along three dimensions, and the words that both directions share."""

    outputs: Sizes
    inputs: Sizes
    tables: tuple[Array, ...]
    lists: tuple[Array, ...]
    words: Sizes


class _Call(NamedTuple):
    """What a call with an array of these sizes and strides, which lies row by row, needs beside it."""

    shape: Sizes
    key: tuple[int]
    rows: int
    grain: int
    numbers: tuple[Any, ...]


_CALLS: dict[Any, _Call] = {}
MOST_CALLS = 1 << 8


def _axis(n: int, before: int, after: int, mode: str) -> Array:
    if mode == "zeros":
        places = np.arange(-before, n + after)
        return np.where((places >= 0) & (places < n), places, -1)
    return np.asarray(padding.border_index(n, before, after, mode), np.int64)


def _copied(table: Array) -> tuple[int, int, int]:
    """The longest part of a row that one copy fills: where it begins and ends, and its first column."""
    steps = np.flatnonzero((np.diff(table) != 1) | (table[:-1] < 0)) + 1
    bounds = [0, *steps.tolist(), len(table)]
    best = max(pairwise(bounds), key=lambda part: (part[1] - part[0]) * (table[part[0]] >= 0))
    return (*best, int(table[best[0]])) if table[best[0]] >= 0 else (0, 0, 0)


@lru_cache(maxsize=256)
def _plan(sizes: Sizes, widths: Sizes, mode: str) -> Plan | None:
    """For the last three dimensions; None where there is nothing to copy."""
    pairs = [padding.pair_of(widths, 2 - axis) if 2 - axis < len(widths) // 2 else (0, 0) for axis in range(3)]
    if min(sizes) < 1 or min(n + sum(pair) for n, pair in zip(sizes, pairs, strict=True)) < 1:
        return None
    tables = [_axis(n, pair[0], pair[1], mode).astype(np.int64) for n, pair in zip(sizes, pairs, strict=True)]
    lists: list[Array] = []
    for table, n in zip(tables[:2], sizes[:2], strict=True):
        order = np.argsort(table, kind="stable").astype(np.int64)
        lists += [np.searchsorted(table[order], np.arange(n + 1)).astype(np.int64), order]
    outputs = tuple(len(table) for table in tables)
    return Plan(outputs, sizes, tuple(tables), tuple(lists), (*sizes, *outputs, *_copied(tables[2])))


def _three(shape: Sizes) -> tuple[int, Sizes]:
    """A count of volumes and their three dimensions."""
    sizes = (1,) * (3 - len(shape)) + tuple(shape)
    return prod(sizes[:-3]), sizes[-3:]


def _lying(x: Array, n: int) -> tuple[Array, bool, Order | None]:
    """The array in one piece, whether its channels come last, and else the order of the dimensions that it had."""
    last = channels_last(x) if n <= x.ndim - 2 else None
    if last is not None:
        return last, True, None
    return (x, False, None) if x.flags.carray else (in_one_piece(x), False, order_of(x))


def _bordered(input: Array, widths: Sizes, mode: str) -> Any:
    n = len(widths) // 2
    if not 1 <= n <= 3 or len(widths) % 2 or n > input.ndim or type(input) is not np.ndarray or not input.size:
        return NotImplemented
    name = input.shape, input.strides, input.dtype, widths, mode
    call = _CALLS.get(name) if input.flags.carray else None
    if call is not None:
        out = _empty(call.shape, input.dtype)
        BORDERS.run(call.key, call.rows, call.grain, input, out, *call.numbers)
        return out
    lying, last, order = _lying(input, n)
    C = input.shape[1] if last else 1
    shape = lying.shape[:-1] if last else lying.shape
    count, sizes = _three(shape)
    plan = _plan(sizes, tuple(widths), mode)
    if plan is None:
        return NotImplemented
    if n < 3 and len(shape) > n:
        made_shape = (*shape[: len(shape) - n], *plan.outputs[3 - n :])
    else:
        made_shape = (*shape[: max(0, len(shape) - 3)], *plan.outputs[3 - min(3, len(shape)) :])
    out = _empty((*made_shape, C) if last else made_shape, input.dtype)
    wide = C * input.itemsize
    rows = count * plan.outputs[0] * plan.outputs[1]
    grain = max(1, WORK // (plan.outputs[2] * C))
    key, numbers = (wide if wide in KINDS else 0,), (*plan.tables, wide, *plan.words)
    if not BORDERS.run(key, rows, grain, lying, out, *numbers):
        return NotImplemented
    if lying is input:
        if len(_CALLS) >= MOST_CALLS:
            _CALLS.clear()
        _CALLS[name] = _Call(out.shape, key, rows, grain, numbers)
    return channels_first(out) if last else ordered(out, order)


def _empty(shape: Sizes, dtype: Any) -> Array:
    stored = BY_DTYPE.get(dtype)
    return np.empty(shape, dtype) if stored is None else empty(shape, stored)


def constant_pad(input: Array, pad: Sizes, value: Any) -> Any:
    """Borders of zeros; those of other numbers are beneath."""
    if value != 0 or type(value) not in (int, float) or copysign(1, value) < 0 or input.dtype.kind not in "fV":
        return NotImplemented
    return _bordered(input, tuple(pad), "zeros")


def border_pad(input: Array, widths: Sizes, mode: str) -> Any:
    """Borders of the input's own elements."""
    return _bordered(input, tuple(widths), mode)


def border_pad_grad(grad: Array, input_shape: Sizes, widths: Sizes, mode: str) -> Any:
    """The gradient of `border_pad`."""
    stored: Stored | None = BY_DTYPE.get(grad.dtype)
    n = len(widths) // 2
    if stored not in (FLOAT32, FLOAT64) or not 1 <= n <= 3 or not grad.size or grad.ndim != len(input_shape):
        return NotImplemented
    lying, last, order = _lying(grad, n)
    C = grad.shape[1] if last else 1
    shape = (input_shape[0], *input_shape[2:]) if last else tuple(input_shape)
    count, sizes = _three(shape)
    plan = _plan(sizes, tuple(widths), mode)
    if plan is None:
        return NotImplemented
    out = empty((*shape, C) if last else shape, stored)
    rows, grain = count * sizes[0] * sizes[1], max(1, WORK // (sizes[2] * C))
    given = (lying, out, *plan.lists, plan.tables[2], C, *plan.words)
    if not BORDERS_GRAD.run((stored,), rows, grain, *given):
        return NotImplemented
    return channels_first(out) if last else ordered(out, order)


chosen("constant_pad", constant_pad, 3, "zeros around floats in one piece or channels last")
chosen("border_pad", border_pad, 3, "floats in one piece or channels last")
chosen("border_pad_grad", border_pad_grad, 4, "float32 and float64 in one piece or channels last", halves=1)


_TAKEN: set[Any] = set()  # sizes, widths, modes and values that `pad` took
_INTS, _VALUES = {int}, (int, float, type(None))


def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """`pad` of tensors of the CPU: once in full, then without the questions that have the same answers."""
    return _padded(padding.pad, input, pad, mode, value)


def constant_pad_nd(input: Any, pad: Any, value: Any = 0) -> Any:
    """The same with a constant."""
    return NotImplemented if value is None else _padded(padding.constant_pad_nd, input, pad, "constant", value)


def _padded(function: Any, input: Any, pad: Any, mode: str, value: Any) -> Any:
    if getattr(input, "_key", None) is not CPU or type(mode) is not str or type(value) not in _VALUES:
        return NotImplemented
    if type(pad) not in (tuple, list):  # a generator, say, would be used up here
        return NotImplemented
    if type(value) is int and value.bit_length() > 63:  # which equals a float that may have been taken
        return NotImplemented
    x, widths = input._array, tuple(pad)
    if set(map(type, widths)) != _INTS or max(widths) < 1:
        return NotImplemented
    name = function, x.shape, x.dtype, widths, mode, value
    if name not in _TAKEN:
        given = (mode, value) if function is padding.pad else (value,)
        made = function.__wrapped__(input, pad, *given)
        if len(_TAKEN) >= MOST_CALLS:
            _TAKEN.clear()
        _TAKEN.add(name)
        return made
    constant = mode == "constant"
    if mode == "circular" and not x.flags.c_contiguous:
        input = input.contiguous()
        x = input._array
    if not value and (value is None or copysign(1, value) > 0) and (input._node is None or not STATE.grad_enabled):
        found = _bordered(x, widths, "zeros" if constant else mode)
        if found is not NotImplemented:
            return wrap(found, CPU)
    if constant:
        return padding.constant_pad(input, widths, 0 if value is None else float(value))
    return padding.border_pad(input, widths, mode)


def _lead() -> None:
    session = sessions.session()
    if session is not None and session.paths is not None:
        session.paths.lead_by(padding.pad, session.paths.viewer.quick(pad))


_lead()
quickly(constant_pad_nd)
