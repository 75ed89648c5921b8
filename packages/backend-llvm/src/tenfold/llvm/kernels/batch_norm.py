"""Batch normalization and its gradient: the operators of tenfold-nn.

Channels first, the rows are those of each sample and channel, (N C, L). Channels last, the channels are columns, in a few parts
that take the samples' place. Sums over samples or parts are NumPy's, in float64.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.columns import Columns
from tenfold.llvm.elementwise import Operator
from tenfold.llvm.expressions import Expr, convert, is_nan, load, select
from tenfold.llvm.formats import Order, in_one_piece, last, order_of, ordered
from tenfold.llvm.kernels import little_norms
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.programs import Program, empty, suitable
from tenfold.llvm.rows import Array as Argument, Rows, length, total
from tenfold.llvm.storage import FLOAT32, FLOAT64, Stored

Array = np.ndarray[Any, Any]

LEAST = 8  # elements of a row, below which rows cost more than what is in them
LEAST_COLUMNS = 8  # channels, below which columns cost more than what is in them
PARTS = 4  # of columns, for several threads
LONG = 1 << 12  # places from which columns are parted
NOTE = f"float32 and float64, at least {LEAST} places in a channel or {LEAST_COLUMNS} channels"


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
    mean = convert(rounded, "double")
    settled = select(is_nan(left), mean, mean + left)  # an infinite mean leaves no number over
    return Rows(((settled, keep), (squares, keep)), kinds)


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


def _means(stored: Stored) -> Columns:
    """Each column's mean."""
    kinds, (x,) = _inputs(stored, 1, 0)
    return Columns(((convert(total(x) / length("double"), stored.computed), Argument(stored, "column")),), kinds)


def _column_sums(stored: Stored, dots: bool) -> Columns:
    """Of deviations from a number of each column, and of their squares; or of the gradient, and of its products with them."""
    count = 2 if dots else 1
    kinds = (*[Argument(stored, "row")] * count, Argument(stored, "column"))
    *data, center = [load(i, stored.computed) for i in range(count + 1)]
    deviation = data[-1] - center
    keep = Argument(FLOAT64, "column")
    first, second = (data[0], data[0] * deviation) if dots else (deviation, deviation * deviation)
    return Columns(((total(first), keep), (total(second), keep)), kinds)


def _elementwise(name: str, formula: Any, roles: str) -> Any:
    return Operator(name, formula, roles, dtypes=(FLOAT32, FLOAT64)).wrap(lambda *arguments: NotImplemented)


COLUMN_MEANS, COLUMN_SUMS = Program("batch_norm means, channels last", _means), Program("batch_norm sums", _column_sums)
COLUMNS_NORMALIZED = _elementwise("batch_norm", lambda x, mean, scale, bias: (x - mean) * scale + bias, "xxxx")
COLUMNS_COMBINED = _elementwise(
    "batch_norm gradient", lambda g, x, mean, scale, slope, level: g * scale + ((x - mean) * slope + level), "xxxxxx"
)
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
        return np.concatenate((numbers.astype(self.stored.dtype, copy=False),) * self.samples)

    def moments(self, x: Array) -> list[Array] | None:
        """The mean and the sum of squared deviations of each (sample, channel)."""
        return self.sums(MOMENTS, x)

    def dots(self, g: Array, x: Array, mean: Array) -> list[Array] | None:
        """The sums of the gradient and of its products with the deviations."""
        return self.sums(DOTS, g, x, self.each(mean))

    def normalized(self, x: Array, *numbers: Array) -> Any:
        assert self.stored is not None
        out = empty(self.shape, self.stored)
        return out if self.run(NORMALIZED, [out], x, *map(self.each, numbers)) else NotImplemented

    def combined(self, g: Array, x: Array, *numbers: Array) -> Any:
        assert self.stored is not None
        out = empty(self.shape, self.stored)
        return out if self.run(COMBINED, [out], g, x, *map(self.each, numbers)) else NotImplemented

    def run(self, program: Program, results: list[Array], *arguments: Array) -> bool:
        rows = self.samples * self.channels
        return program.rows((self.stored,), rows, self.places, *results, *arguments)

    def sums(self, program: Program, *arguments: Array) -> list[Array] | None:
        """Two sums of each (sample, channel)."""
        found = [np.empty((self.samples, self.channels)) for _ in range(2)]
        return found if self.run(program, found, *arguments) else None


class _Columns(_Call):
    """The same, of matrices (places, channels)."""

    def __init__(self, data: tuple[Array, ...], vectors: tuple[Array | None, ...]) -> None:
        self.shape = data[0].shape
        rows, self.channels = self.shape
        self.samples = PARTS if rows >= LONG and rows % PARTS == 0 else 1
        self.count, self.places = rows, rows // self.samples
        stored = suitable(*data)
        same = all(v is None or (v.dtype == data[0].dtype and v.shape == (self.channels,)) for v in vectors)
        self.stored = stored if stored in (FLOAT32, FLOAT64) and same and data[0].size else None

    def columns(self, program: Program, key: tuple[Any, ...], results: list[Array], *arguments: Array) -> bool:
        return program.columns((self.stored, *key), self.samples, self.places, self.channels, *results, *arguments)

    def moments(self, x: Array) -> list[Array] | None:
        centers = np.empty((self.samples, self.channels), x.dtype)
        left, squares = (np.empty((self.samples, self.channels)) for _ in range(2))
        if not self.columns(COLUMN_MEANS, (), [centers], x):
            return None
        center = np.add.reduce(centers, 0) / self.samples  # a column's number is that of all parts
        center = center.astype(x.dtype, copy=False)
        if not self.columns(COLUMN_SUMS, (False,), [left, squares], x, center):
            return None
        left /= self.places
        return [np.where(left == left, center + left, center), squares - np.square(left) * self.places]

    def dots(self, g: Array, x: Array, mean: Array) -> list[Array] | None:
        found = [np.empty((self.samples, self.channels)) for _ in range(2)]
        return found if self.columns(COLUMN_SUMS, (True,), found, g, x, mean) else None

    def normalized(self, x: Array, *numbers: Array) -> Any:
        return COLUMNS_NORMALIZED(x, *numbers)

    def combined(self, g: Array, x: Array, *numbers: Array) -> Any:
        assert self.stored is not None
        return COLUMNS_COMBINED(g, x, *(n.astype(self.stored.dtype, copy=False) for n in numbers))


def order_where_it_tells(*arrays: Array) -> Order | None:
    """The order of the result's dimensions, which goes by where elements lie: strides of one element say nothing."""
    return order_of(*(x for x in arrays if not x.flags.carray))


def _matrix(x: Array) -> Array | None:
    """The array as rows of channels, where it lies so and has enough of them."""
    if x.ndim < 2 or x.shape[1] < LEAST_COLUMNS or (x.ndim > 2 and x.flags.carray):
        return None
    return last(x)


def _images(x: Array, shape: tuple[int, ...]) -> Array:
    """Rows of channels as images with the channels first."""
    return x if len(shape) == 2 else np.moveaxis(x.reshape(shape[0], *shape[2:], shape[1]), -1, 1)


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
    if not training and (running_mean is None or running_var is None):
        return NotImplemented
    plan = little_norms.plan_of(input, (weight, bias, *known))
    if plan is not None:
        found = little_norms.normalized(plan, input, weight, bias, None if training else (running_mean, running_var), eps)  # type: ignore[arg-type]
        if found is not None:
            return found
    matrix, order = _matrix(input), None
    call: _Call
    if matrix is not None:
        shape, input = input.shape, matrix
        call = _Columns((input,), (weight, bias, *known))
    else:
        order = order_where_it_tells(input)
        input = in_one_piece(input) if order else input
        call = _Call((input,), (weight, bias, *known))
    if call.stored is None:
        return NotImplemented
    dtype = call.stored.dtype
    if training:
        moments = call.moments(input)
        if moments is None:
            return NotImplemented
        means, squares = moments
        center = np.add.reduce(means, 0) / call.samples
        with np.errstate(all="ignore"):  # of infinite means
            spread = np.add.reduce(np.square(means - center), 0) * call.places  # between the samples' (Chan et al., 1979)
            mean, variance = center.astype(dtype), ((np.add.reduce(squares, 0) + spread) / call.count).astype(dtype)
    else:
        mean, variance = running_mean.copy(), running_var.copy()  # type: ignore[union-attr]
    rstd = 1 / np.sqrt(variance + dtype.type(eps))
    scale = rstd if weight is None else rstd * weight
    out = call.normalized(input, mean, scale, np.zeros_like(scale) if bias is None else bias)
    if out is NotImplemented:
        return NotImplemented
    return _images(out, shape) if matrix is not None else ordered(out, order), mean, variance, rstd


def fused_batch_norm_grad(
    grad: Array, input: Array, weight: Array | None, mean: Array, rstd: Array, training: bool, eps: float
) -> Any:
    plan = little_norms.plan_of(input, (weight, mean, rstd))
    if plan is not None:
        found = little_norms.gradients(plan, grad, input, weight, mean, rstd, training)
        if found is not None:
            return found
    matrix, other, order = _matrix(grad), _matrix(input), None
    call: _Call
    if matrix is not None and other is not None:
        shape, grad, input = input.shape, matrix, other
        call = _Columns((grad, input), (weight, mean, rstd))
    else:
        matrix, order = None, order_where_it_tells(grad, input)
        if order:
            grad, input = in_one_piece(grad), in_one_piece(input)
        call = _Call((grad, input), (weight, mean, rstd))
    if call.stored is None:
        return NotImplemented
    dtype = call.stored.dtype
    sums = call.dots(grad, input, mean)
    if sums is None:
        return NotImplemented
    total_grad, dots = (np.add.reduce(s, 0) for s in sums)
    wide = rstd.astype(np.float64)
    scale = wide if weight is None else wide * weight
    slope = -scale * wide * wide * dots / call.count if training else np.zeros_like(scale)
    level = -scale * total_grad / call.count if training else np.zeros_like(scale)
    out = call.combined(grad, input, mean, scale, slope, level)
    if out is NotImplemented:
        return NotImplemented
    out = _images(out, shape) if matrix is not None else ordered(out, order)
    return out, (dots * wide).astype(dtype), total_grad.astype(dtype)


chosen("fused_batch_norm", fused_batch_norm, 7, NOTE, halves=1)
chosen("fused_batch_norm_grad", fused_batch_norm_grad, 7, NOTE, halves=1)
