"""Borders of a constant, and of a plane's own values: one launch each."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.handwritten import FLOATS, Handwritten, start
from tenfold.cuda.kernels.planes import allocated, planes
from tenfold.cuda.kernels.pool import as_five
from tenfold.cuda.kernels.resize import BLOCK, COPIES, OF_BYTES, Table, identity, kind_of, of_each, small, three, transposed
from tenfold.dispatch.operators import op
from tenfold.types.memory_format import suggested_format

borders: Any = import_module("tenfold.nn.ops.padding")  # tenfold-nn is there where somebody asks for its operators' kernels


@kernel(op.constant_pad, device="cuda", plays=True)
def constant_pad(input: Any, pad: Any, value: Any) -> Any:
    n, channels_last = max(1, len(pad) // 2), bool(suggested_format(input).order)
    if channels_last and n != input.ndim - 2:
        return _of_channels_last(input, pad, value)
    widths = [(pad[2 * i], pad[2 * i + 1]) for i in reversed(range(len(pad) // 2))] or [(0, 0)]
    if input.ndim < n or n > 3 or input.dtype.itemsize not in OF_BYTES or not input.size:
        return NotImplemented
    lead = input.shape[: input.ndim - n]
    sizes = [size + before + after for size, (before, after) in zip(input.shape[len(lead) :], widths)]
    if min(sizes) < 1 or max(input.size, prod(lead) * prod(sizes)) >= 2**31:
        return NotImplemented
    bits = OF_BYTES[input.dtype.itemsize]
    x = as_five(input, n).view(bits)
    index = runtime.current().index_of(x)
    out = allocated((*x.shape[:2], *sizes), x, index, channels_last)
    border = int(np.full((), value, input.dtype).view(bits))
    before = three([width for width, _ in widths], 0)
    numbers = (out.size, out.shape[1], *planes(x).sizes[2:], *planes(out).sizes[2:], *planes(x).strides, *before, border)
    program = Handwritten("with_border", (("LAST", int(channels_last)), ("BLOCK", BLOCK)), 4, by_address=True)
    start(program, (-(-out.size // BLOCK),), (out, x, *numbers), index)
    return out.view(input.dtype).reshape(*lead, *sizes)


def _of_channels_last(input: Any, pad: Any, value: Any) -> Any:
    """Borders of fewer dimensions than the planes', or of the channels too: the planes' get a width of 0, or channels are one."""
    n = len(pad) // 2
    if n < input.ndim - 2:
        return constant_pad(input, (*pad, *(0,) * (2 * (input.ndim - 2 - n))), value)
    if n != input.ndim - 1:
        return NotImplemented
    rows, *planes = [tuple(pad[2 * i : 2 * i + 2]) for i in reversed(range(n))]
    widths = [width for pair in (rows, *reversed(planes)) for width in pair]
    found = constant_pad(input.transpose(0, *range(2, input.ndim), 1), tuple(widths), value)
    return found if found is NotImplemented else found.transpose(0, input.ndim - 1, *range(1, input.ndim - 1))


@lru_cache(maxsize=256)
def _of_border(n: int, before: int, after: int, mode: str) -> Table:
    return np.asarray(borders.border_index(n, before, after, mode), np.int64)[None], None, 0


def _widths(shape: Any, widths: Any) -> list[tuple[int, int, int]]:
    """(size, before, after) of each padded dimension, in their order."""
    n = len(widths) // 2
    return [(shape[len(shape) - n + d], *borders.pair_of(widths, n - 1 - d)) for d in range(n)]


@kernel(op.border_pad, device="cuda", plays=True)
def border_pad(input: Any, widths: Any, mode: str) -> Any:
    sizes = _widths(input.shape, widths)
    outputs = [sum(s) for s in sizes]
    lead = input.shape[: input.ndim - len(sizes)]
    if input.dtype.itemsize not in OF_BYTES or len(sizes) > 3 or not small(input.size, prod(lead) * prod(outputs)):
        return NotImplemented
    found = [_of_border(*s, mode) if any(s[1:]) else identity(s[0]) for s in sizes]
    return of_each(input, found, ("border", tuple(sizes), mode), COPIES)


@kernel(op.border_pad_grad, device="cuda", plays=True)
def border_pad_grad(grad: Any, input_shape: Any, widths: Any, mode: str) -> Any:
    sizes = _widths(input_shape, widths)
    if grad.dtype not in FLOATS or len(sizes) > 3 or not small(grad.size, prod(input_shape)):
        return NotImplemented
    found = [transposed(s[0], _of_border, *s, mode) if any(s[1:]) else identity(s[0]) for s in sizes]
    return of_each(grad, found, ("border_grad", tuple(sizes), mode), kind_of(grad.dtype))
