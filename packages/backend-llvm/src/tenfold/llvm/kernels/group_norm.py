"""Group normalization and its gradient: the operators of tenfold-nn, by the programs of batch normalization.

Statistics are those of rows (N groups, C / groups L); what is computed of them, of rows (N C, L), each with its own numbers.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.formats import in_one_piece, ordered
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.kernels.batch_norm import COMBINED, DOTS, MOMENTS, NORMALIZED, order_where_it_tells
from tenfold.llvm.programs import empty, suitable
from tenfold.llvm.storage import FLOAT32, FLOAT64, Stored

Array = np.ndarray[Any, Any]

LEAST = 8  # elements of a channel, below which rows cost more than what is in them
NOTE = f"float32 and float64 in one piece, channels last too, at least {LEAST} places in a channel"


class _Call:
    """The sizes of a call; `stored` is None where the kernel beneath has to serve."""

    def __init__(self, data: tuple[Array, ...], vectors: tuple[Array | None, ...], groups: int) -> None:
        x = data[0]
        self.stored: Stored | None = None
        if x.ndim < 3 or not x.size or groups < 1 or x.shape[1] % groups or any(a.shape != x.shape for a in data):
            return
        self.samples, self.channels, self.groups = x.shape[0], x.shape[1], groups
        self.places, self.members = prod(x.shape[2:]), x.shape[1] // groups
        self.count = self.members * self.places
        stored = suitable(*data)
        same = all(v is None or (v.dtype == x.dtype and v.shape == (self.channels,)) for v in vectors)
        if stored in (FLOAT32, FLOAT64) and same and self.places >= LEAST:
            self.stored = stored

    def each(self, numbers: Array) -> Array:
        """A number of each group, (N, groups), for each of its channels, (N, C)."""
        return numbers if self.members == 1 else np.repeat(numbers, self.members, 1)

    def rows(self, numbers: Array) -> Array:
        """Numbers (N, C), or (C), as the programs take them."""
        assert self.stored is not None
        numbers = numbers.astype(self.stored.dtype, copy=False)
        return np.concatenate((numbers,) * self.samples) if numbers.ndim == 1 else np.ascontiguousarray(numbers)


def fused_group_norm(input: Array, num_groups: int, weight: Array | None, bias: Array | None, eps: float) -> Any:
    order = order_where_it_tells(input)
    input = in_one_piece(input) if order else input
    call = _Call((input,), (weight, bias), num_groups)
    stored = call.stored
    if stored is None:
        return NotImplemented
    shape = call.samples, num_groups
    mean, squares = np.empty(shape), np.empty(shape)
    if not MOMENTS.rows((stored,), prod(shape), call.count, mean, squares, input):
        return NotImplemented
    rstd = 1 / np.sqrt(squares / call.count + eps)
    mean, rstd = mean.astype(stored.dtype, copy=False), rstd.astype(stored.dtype, copy=False)
    scale = call.each(rstd) if weight is None else call.each(rstd) * weight
    shift = np.zeros(call.channels, stored.dtype) if bias is None else bias
    out = empty(input.shape, stored)
    numbers = map(call.rows, (call.each(mean), scale, shift))
    done = NORMALIZED.rows((stored,), call.samples * call.channels, call.places, out, input, *numbers)
    return (ordered(out, order), mean, rstd) if done else NotImplemented


def fused_group_norm_grad(
    grad: Array, input: Array, mean: Array, rstd: Array, num_groups: int, weight: Array | None, eps: float
) -> Any:
    order = order_where_it_tells(grad, input)
    if order:
        grad, input = in_one_piece(grad), in_one_piece(input)
    call = _Call((grad, input), (weight,), num_groups)
    stored = call.stored
    if stored is None or mean.dtype != stored.dtype or mean.shape != (call.samples, num_groups):
        return NotImplemented
    shape, rows = (call.samples, call.channels), call.samples * call.channels
    centers, wide = call.rows(call.each(mean)), call.each(rstd.astype(np.float64))
    sums, dots = np.empty(shape), np.empty(shape)
    if not DOTS.rows((stored,), rows, call.places, sums, dots, grad, input, centers):
        return NotImplemented
    dots *= wide
    g_weight, g_bias = dots.sum(0).astype(stored.dtype), sums.sum(0).astype(stored.dtype)
    scale = wide if weight is None else wide * weight
    if weight is not None:
        sums, dots = sums * weight, dots * weight
    grouped = (*shape[:1], num_groups, call.members)
    level, along = (call.each(v.reshape(grouped).sum(2)) / call.count for v in (sums, dots))
    out = empty(input.shape, stored)
    numbers = map(call.rows, (centers, scale, -along * wide * wide, -level * wide))
    done = COMBINED.rows((stored,), rows, call.places, out, grad, input, *numbers)
    return (ordered(out, order), g_weight, g_bias) if done else NotImplemented


chosen("fused_group_norm", fused_group_norm, 5, NOTE)
chosen("fused_group_norm_grad", fused_group_norm_grad, 7, NOTE)
