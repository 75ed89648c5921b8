"""Group normalization and its gradient: the operators of tenfold-nn, by the programs of batch normalization.

Statistics are those of rows (N groups, C / groups L); what is computed of them, of rows (N C, L), each with its own numbers.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.llvm.formats import in_one_piece, last, ordered
from tenfold.llvm.kernels import little_norms
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.kernels.batch_norm import (
    COLUMN_MEANS,
    COLUMN_SUMS,
    COLUMNS_COMBINED,
    COLUMNS_NORMALIZED,
    COMBINED,
    DOTS,
    LEAST_COLUMNS,
    MOMENTS,
    NORMALIZED,
    order_where_it_tells,
)
from tenfold.llvm.programs import Program, empty, suitable
from tenfold.llvm.storage import FLOAT32, FLOAT64, Stored

Array = np.ndarray[Any, Any]

LEAST = 8  # elements of a channel, below which rows cost more than what is in them
LARGE = 1 << 14  # elements from which columns take less time than rows and the copies that make them
NOTE = f"float32 and float64 in one piece, channels last too, at least {LEAST} places in a channel"


class _Call:
    """The sizes of a call, of arrays with the channels first; `stored` is None where the kernel beneath has to serve."""

    def __init__(self, data: tuple[Array, ...], vectors: tuple[Array | None, ...], groups: int) -> None:
        x = data[0]
        self.stored: Stored | None = None
        self.order = order_where_it_tells(*data)
        if x.ndim < 3 or not x.size or groups < 1 or x.shape[1] % groups or any(a.shape != x.shape for a in data):
            return
        self.shape, self.samples, self.channels, self.groups = x.shape, x.shape[0], x.shape[1], groups
        self.places, self.members = prod(x.shape[2:]), x.shape[1] // groups
        self.count = self.members * self.places
        stored = suitable(*(self.laid(a) for a in data))
        same = all(v is None or (v.dtype == x.dtype and v.shape == (self.channels,)) for v in vectors)
        if stored in (FLOAT32, FLOAT64) and same and self.places >= LEAST:
            self.stored = stored

    def laid(self, x: Array) -> Array:
        """The array as this call's programs read it."""
        return in_one_piece(x) if self.order else x

    def each(self, numbers: Array) -> Array:
        """A number of each group, (N, groups), for each of its channels, (N, C)."""
        return numbers if self.members == 1 else np.repeat(numbers, self.members, 1)

    def rows(self, numbers: Array) -> Array:
        """Numbers (N, C), or (C), as the programs take them."""
        assert self.stored is not None
        numbers = numbers.astype(self.stored.dtype, copy=False)
        return np.concatenate((numbers,) * self.samples) if numbers.ndim == 1 else np.ascontiguousarray(numbers)

    def moments(self, x: Array) -> tuple[Array, Array] | None:
        """The mean of each group, and the sum of the squared deviations from it, (N, groups)."""
        mean, squares = (np.empty((self.samples, self.groups)) for _ in range(2))
        done = MOMENTS.rows((self.stored,), self.samples * self.groups, self.count, mean, squares, self.laid(x))
        return (mean, squares) if done else None

    def dots(self, g: Array, x: Array, mean: Array) -> list[Array] | None:
        """The sums of the gradient in each channel, and of its products with the deviations from the mean, (N, C)."""
        found = [np.empty((self.samples, self.channels)) for _ in range(2)]
        given = self.laid(g), self.laid(x), self.rows(mean)
        return found if DOTS.rows((self.stored,), self.samples * self.channels, self.places, *found, *given) else None

    def made(self, program: Program, data: tuple[Array, ...], *numbers: Array) -> Any:
        """A result of the arrays, and of numbers of each channel."""
        assert self.stored is not None
        out = empty(self.shape, self.stored)
        given = (*map(self.laid, data), *map(self.rows, numbers))
        done = program.rows((self.stored,), self.samples * self.channels, self.places, out, *given)
        return ordered(out, self.order) if done else NotImplemented


class _Last(_Call):
    """The same of arrays that lie channels last: the channels are columns, of each sample by itself."""

    def laid(self, x: Array) -> Array:
        """(N, L, C)."""
        return np.ascontiguousarray(np.moveaxis(x, 1, -1)).reshape(x.shape[0], -1, x.shape[1])

    def rows(self, numbers: Array) -> Array:
        assert self.stored is not None
        numbers = numbers.astype(self.stored.dtype, copy=False)
        return numbers if numbers.ndim == 1 else np.ascontiguousarray(numbers[:, None])

    def sums(self, dots: bool, *arguments: Array) -> list[Array] | None:
        """Two sums of each column, about centers of the sample's own: what lies in others must not tell."""
        found = [np.empty((self.samples, self.channels)) for _ in range(2)]
        sizes = 1, self.places, self.channels
        for n in range(self.samples):
            if not COLUMN_SUMS.columns((self.stored, dots), *sizes, *(a[n] for a in (*found, *arguments))):
                return None
        return found

    def moments(self, x: Array) -> tuple[Array, Array] | None:
        """Of the moments of each channel (Chan et al., 1979)."""
        x = self.laid(x)
        center = np.empty((self.samples, self.channels), x.dtype)
        if not COLUMN_MEANS.columns((self.stored,), self.samples, self.places, self.channels, center, x):
            return None
        found = self.sums(False, x, center)
        if found is None:
            return None
        left, squares = found
        left /= self.places
        squares -= np.square(left) * self.places
        means, squares = ((v.reshape(self.samples, self.groups, self.members)) for v in (center + left, squares))
        mean = np.add.reduce(means, 2) / self.members
        spread = np.add.reduce(np.square(means - mean[:, :, None]), 2) * self.places
        return mean, np.add.reduce(squares, 2) + spread

    def dots(self, g: Array, x: Array, mean: Array) -> list[Array] | None:
        return self.sums(True, self.laid(g), self.laid(x), np.ascontiguousarray(mean))

    def made(self, program: Program, data: tuple[Array, ...], *numbers: Array) -> Any:
        formula = COLUMNS_NORMALIZED if program is NORMALIZED else COLUMNS_COMBINED
        out = formula(*map(self.laid, data), *map(self.rows, numbers))
        if out is NotImplemented:
            return out
        return np.moveaxis(out.reshape(self.shape[0], *self.shape[2:], self.channels), -1, 1)


def _call(data: tuple[Array, ...], vectors: tuple[Array | None, ...], groups: int) -> _Call:
    """A call of the arrays, by how the first of them lies."""
    x = data[0]
    by_columns = x.ndim > 2 and x.shape[1] >= LEAST_COLUMNS and x.size >= LARGE and not x.flags.carray and last(x) is not None
    return (_Last if by_columns else _Call)(data, vectors, groups)


@quiet
def fused_group_norm(input: Array, num_groups: int, weight: Array | None, bias: Array | None, eps: float) -> Any:
    order = order_where_it_tells(input) if input.size <= little_norms.MOST_TURNED else None
    laid = in_one_piece(input) if order else input
    plan = little_norms.plan_of(laid, (weight, bias), num_groups)
    if plan is not None:
        found = little_norms.normalized(plan, laid, weight, bias, None, eps)
        if found is not None:
            return ordered(found[0], order), found[1], found[3]
    call = _call((input,), (weight, bias), num_groups)
    stored = call.stored
    moments = None if stored is None else call.moments(input)
    if stored is None or moments is None:
        return NotImplemented
    mean, squares = moments
    rstd = 1 / np.sqrt(squares / call.count + eps)
    mean, rstd = mean.astype(stored.dtype, copy=False), rstd.astype(stored.dtype, copy=False)
    scale = call.each(rstd) if weight is None else call.each(rstd) * weight
    shift = np.zeros(call.channels, stored.dtype) if bias is None else bias
    out = call.made(NORMALIZED, (input,), call.each(mean), scale, shift)
    return out if out is NotImplemented else (out, mean, rstd)


@quiet
def fused_group_norm_grad(
    grad: Array, input: Array, mean: Array, rstd: Array, num_groups: int, weight: Array | None, eps: float
) -> Any:
    order = order_where_it_tells(grad, input) if input.size <= little_norms.MOST_TURNED else None
    laid = in_one_piece(input) if order else input
    plan = little_norms.plan_of(laid, (weight,), num_groups)
    if plan is not None:
        given = little_norms.gradients(plan, grad, laid, weight, mean, rstd, True)
        if given is not None:
            return ordered(given[0], order), *given[1:]
    call = _call((grad, input), (weight,), num_groups)
    stored = call.stored
    if stored is None or mean.dtype != stored.dtype or mean.shape != (call.samples, num_groups):
        return NotImplemented
    centers, wide = call.each(mean), call.each(rstd.astype(np.float64))
    found = call.dots(grad, input, centers)
    if found is None:
        return NotImplemented
    sums, dots = found
    dots *= wide
    g_weight, g_bias = dots.sum(0).astype(stored.dtype), sums.sum(0).astype(stored.dtype)
    scale = wide if weight is None else wide * weight
    if weight is not None:
        sums, dots = sums * weight, dots * weight
    grouped = (call.samples, num_groups, call.members)
    level, along = (call.each(v.reshape(grouped).sum(2)) / call.count for v in (sums, dots))
    out = call.made(COMBINED, (grad, input), centers, scale, -along * wide * wide, -level * wide)
    return out if out is NotImplemented else (out, g_weight, g_bias)


chosen("fused_group_norm", fused_group_norm, 5, NOTE, halves=1)
chosen("fused_group_norm_grad", fused_group_norm_grad, 7, NOTE, halves=1)
