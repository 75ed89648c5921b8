"""Batch normalization over images and volumes and its gradient: the operators of tenfold-nn.

The rows are those of each sample and channel, (N C, L). Sums over the samples are NumPy's, in float64.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.expressions import Expr, convert, load
from tenfold.llvm.formats import Order, in_one_piece, order_of, ordered
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.programs import Program, empty, suitable
from tenfold.llvm.rows import Array as Argument, Rows, length, total
from tenfold.llvm.storage import FLOAT32, FLOAT64, Stored

Array = np.ndarray[Any, Any]

LEAST = 8  # elements of a row, below which rows cost more than what is in them
LEAST_TURNED = 1 << 13  # elements, channels last, below which turning them costs more than it brings
NOTE = f"float32 and float64 in one piece or channels last, at least {LEAST} places in a channel"


def _inputs(stored: Stored, rows: int, numbers: int) -> tuple[tuple[Argument, ...], list[Expr]]:
    """Arguments and their elements: some arrays, then numbers of each row."""
    kinds = [Argument(stored, "row")] * rows + [Argument(stored, "scalar")] * numbers
    return tuple(kinds), [load(i, stored.computed) for i in range(len(kinds))]


def _moments(stored: Stored) -> Rows:
    """Each row's mean, and the sum of the squared deviations from it."""
    kinds, (x,) = _inputs(stored, 1, 0)
    rounded = convert(total(x) / length("double"), x.type)
    deviation = x - rounded
    left = total(deviation) / length("double")
    keep = Argument(FLOAT64, "scalar")
    squares = total(deviation * deviation) - left * left * length("double")
    return Rows(((convert(rounded, "double") + left, keep), (squares, keep)), kinds)


def _normalized(stored: Stored) -> Rows:
    """(x - mean) scale + bias."""
    kinds, (x, mean, scale, bias) = _inputs(stored, 1, 3)
    return Rows((((x - mean) * scale + bias, Argument(stored, "row")),), kinds)


def _dots(stored: Stored) -> Rows:
    """The sum of a row of the gradient, and of its products with the deviations from the mean."""
    kinds, (g, x, mean) = _inputs(stored, 2, 1)
    keep = Argument(FLOAT64, "scalar")
    return Rows(((total(g), keep), (total(g * (x - mean)), keep)), kinds)


def _combined(stored: Stored) -> Rows:
    """g scale + (x - mean) slope + level."""
    kinds, (g, x, mean, scale, slope, level) = _inputs(stored, 2, 4)
    return Rows(((g * scale + ((x - mean) * slope + level), Argument(stored, "row")),), kinds)


MOMENTS, NORMALIZED = Program("batch_norm statistics", _moments), Program("batch_norm", _normalized)
DOTS, COMBINED = Program("batch_norm gradient's sums", _dots), Program("batch_norm gradient", _combined)


class _Call:
    """The sizes of a call; `stored` is None where the kernel beneath has to serve."""

    def __init__(self, data: tuple[Array, ...], vectors: tuple[Array | None, ...]) -> None:
        x = data[0]
        self.shape, self.samples = x.shape, x.shape[0] if x.ndim else 0
        self.channels = x.shape[1] if x.ndim > 1 else 0
        self.places = prod(x.shape[2:])
        self.count = self.samples * self.places
        fits = x.size > 0 and self.places >= LEAST and all(a.shape == x.shape for a in data)
        stored = suitable(*data) if fits else None
        same = all(v is None or (v.dtype == x.dtype and v.shape == (self.channels,)) for v in vectors)
        self.stored = stored if stored in (FLOAT32, FLOAT64) and same else None

    def each(self, numbers: Array) -> Array:
        """A number of each channel, for every row."""
        assert self.stored is not None
        return np.tile(numbers.astype(self.stored.dtype, copy=False), self.samples)

    def run(self, program: Program, results: list[Array], *arguments: Array) -> bool:
        rows = self.samples * self.channels
        return program.rows((self.stored,), rows, self.places, *results, *arguments)

    def sums(self, program: Program, *arguments: Array) -> list[Array] | None:
        """Two sums of each (sample, channel)."""
        found = [np.empty((self.samples, self.channels)) for _ in range(2)]
        return found if self.run(program, found, *arguments) else None


def _order(*arrays: Array) -> Order | None:
    """The order of the result's dimensions, which goes by where elements lie: strides of one element say nothing."""
    return order_of(*(x for x in arrays if not x.flags.carray))


def fused_batch_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    eps: float,
) -> Any:
    known = () if training else (running_mean, running_var)
    order = _order(input)
    if order and input.size < LEAST_TURNED:
        return NotImplemented
    if order:
        input = in_one_piece(input)
    call = _Call((input,), (weight, bias, *known))
    if call.stored is None or (not training and (running_mean is None or running_var is None)):
        return NotImplemented
    dtype = call.stored.dtype
    if training:
        moments = call.sums(MOMENTS, input)
        if moments is None:
            return NotImplemented
        means, squares = moments
        center = means.mean(0)
        spread = np.square(means - center).sum(0) * call.places  # between the samples' means (Chan et al., 1979)
        mean, variance = center.astype(dtype), ((squares.sum(0) + spread) / call.count).astype(dtype)
    else:
        mean, variance = running_mean.copy(), running_var.copy()  # type: ignore[union-attr]
    rstd = 1 / np.sqrt(variance + dtype.type(eps))
    scale = rstd if weight is None else rstd * weight
    out = empty(input.shape, call.stored)
    shift = np.zeros_like(scale) if bias is None else bias
    done = call.run(NORMALIZED, [out], input, *map(call.each, (mean, scale, shift)))
    return (ordered(out, order), mean, variance, rstd) if done else NotImplemented


def fused_batch_norm_grad(
    grad: Array, input: Array, weight: Array | None, mean: Array, rstd: Array, training: bool, eps: float
) -> Any:
    order = _order(grad, input)
    if order:
        grad, input = in_one_piece(grad), in_one_piece(input)
    call = _Call((grad, input), (weight, mean, rstd))
    if call.stored is None:
        return NotImplemented
    dtype = call.stored.dtype
    sums = call.sums(DOTS, grad, input, call.each(mean))
    if sums is None:
        return NotImplemented
    total_grad, dots = (s.sum(0) for s in sums)
    wide = rstd.astype(np.float64)
    scale = wide if weight is None else wide * weight
    slope = -scale * wide * wide * dots / call.count if training else np.zeros_like(scale)
    level = -scale * total_grad / call.count if training else np.zeros_like(scale)
    out = empty(input.shape, call.stored)
    if not call.run(COMBINED, [out], grad, input, *map(call.each, (mean, scale, slope, level))):
        return NotImplemented
    return ordered(out, order), (dots * wide).astype(dtype), total_grad.astype(dtype)


chosen("fused_batch_norm", fused_batch_norm, 7, NOTE)
chosen("fused_batch_norm_grad", fused_batch_norm_grad, 7, NOTE)
