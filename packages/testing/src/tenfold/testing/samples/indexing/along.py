"""Samples of reading and writing parts of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

BASIC: tuple[tuple[tuple[int, ...], Any], ...] = (
    ((3,), 1), ((3,), -1), ((3, 4), slice(1, None)), ((3, 4), (slice(None), slice(None, None, 2))), ((3, 4), (1, None)),
    ((3, 4), (..., 0)), ((3, 4), None), ((), ...), ((0, 3), slice(0, 2)), ((2, 3, 4), (0, slice(1, 3), -1)),
)  # fmt: skip


@samples("getitem")
def _getitem(make: Make) -> Iterator[Sample]:
    for shape, index in BASIC:
        yield Sample(make(*shape), index, note=f"{index!r}")
    for layout in ("transposed", "strided", "flipped"):
        yield Sample(make(3, 4, layout=layout), (slice(1, None), 2), note=layout)


@error_samples("getitem")
def _getitem_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), 3, error=IndexError, match="out of bounds")
    yield ErrorSample(make(3), (0, 0), error=IndexError, match="too many indices")


def _along(make: Make) -> Iterator[tuple[Any, int, Any]]:
    """Tensors with a dimension and an index tensor of the result's shape, no entry twice in a row."""
    for shape, dim, wanted in (
        ((4,), 0, (3,)),
        ((3, 4), 1, (3, 2)),
        ((3, 4), 0, (2, 4)),
        ((2, 3, 4), -1, (2, 3, 2)),
        ((3, 4), 0, (0, 4)),
    ):
        yield make(*shape), dim, make.ints(*wanted, low=0, high=shape[dim])
    yield make(3, 4, layout="transposed"), 1, make.ints(3, 2, low=0, high=4, layout="strided")


@samples("gather")
def _gather(make: Make) -> Iterator[Sample]:
    yield from (Sample(*arguments) for arguments in _along(make))


@error_samples("gather")
def _gather_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, 4), 2, make.ints(3, 1, low=0, high=3), error=IndexError, match="Dimension out of range")
    yield ErrorSample(make(3, 4), 0, make(3, 1), error=RuntimeError, match="int64")


@samples("scatter_add")
def _scatter_add(make: Make) -> Iterator[Sample]:
    for x, dim, index in _along(make):
        yield Sample(x, dim, index, make(*index.shape))


@samples("scatter")
def _scatter(make: Make) -> Iterator[Sample]:
    for shape, dim in (((4,), 0), ((3, 4), 1), ((3, 4), 0)):
        places = np.broadcast_to(np.arange(shape[dim])[::-1].reshape([-1 if i == dim else 1 for i in range(len(shape))]), shape)
        yield Sample(make(*shape), dim, make.of(places, tenfold.int64), make(*shape))


@samples("index_select")
def _index_select(make: Make) -> Iterator[Sample]:
    for shape, dim, count in (((4,), 0, 3), ((3, 4), 1, 2), ((3, 4), -2, 5), ((3, 4), 0, 0)):
        yield Sample(make(*shape), dim, make.ints(count, low=0, high=shape[dim]))
    yield Sample(make(3, 4, layout="transposed"), 0, make.ints(2, low=0, high=3), note="transposed")


@error_samples("index_select")
def _index_select_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), 0, make.of([3], make.ints(low=0, high=1).dtype), error=IndexError, match="out of (range|bounds)")
    yield ErrorSample(make(3), 1, make.ints(2, low=0, high=3), error=IndexError, match="Dimension out of range")


@samples("take")
def _take(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 4), make.ints(2, 2, low=0, high=12))
    yield Sample(make(3, 4, layout="transposed"), make.ints(5, low=-12, high=12), note="transposed")


@samples("masked_fill")
def _masked_fill(make: Make) -> Iterator[Sample]:
    for shape, mask in (((3,), (3,)), ((2, 3), (3,)), ((2, 3), (2, 1)), ((), ()), ((0, 3), (3,))):
        yield Sample(make(*shape), make.bools(*mask), 1)
    yield Sample(make(3, 4, layout="transposed"), make.bools(3, 4, layout="strided"), 1, note="strided memory")


@error_samples("masked_fill")
def _masked_fill_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), make.bools(3), 1.0, error=RuntimeError, match="")


@samples("masked_select", data_dependent="as many elements as the mask holds")
def _masked_select(make: Make) -> Iterator[Sample]:
    for shape, mask in (((3,), (3,)), ((2, 3), (3,)), ((), ()), ((0, 3), (3,))):
        yield Sample(make(*shape), make.bools(*mask))


@samples("nonzero", data_dependent="as many rows as there are nonzero elements")
def _nonzero(make: Make) -> Iterator[Sample]:
    for shape in ((5,), (2, 3), (), (0, 3)):
        yield Sample(make(*shape))


@samples("index_add")
def _index_add(make: Make) -> Iterator[Sample]:
    yield Sample(make(4, 3), 0, make.ints(2, low=0, high=4), make(2, 3))
    yield Sample(make(3, 4), 1, make.ints(2, low=0, high=4), make(3, 2))
    if make.dtype.category:
        yield Sample(make(4), 0, make.ints(3, low=0, high=4), make(3), alpha=2, note="alpha")


@samples("index_fill")
def _index_fill(make: Make) -> Iterator[Sample]:
    yield Sample(make(4, 3), 0, make.ints(2, low=0, high=4), 1)
    yield Sample(make(3, 4), -1, make.ints(2, low=0, high=4), 1)
