"""Samples of operators that order: extremes with their places, sorting, unique values, searches, quantiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples
from tenfold.testing.samples.reduction.reductions import cumulative_distinct, out_of_range, reduction

FLOATS = (tenfold.float32, tenfold.float64)
NOT_KNOWN = "as many values as differ"

for _name in ("max_dim", "min_dim"):
    samples(_name)(reduction(several=False, empty=False, distinct=True, whole=False))
    error_samples(_name)(out_of_range)
for _name in ("cummax_pair", "cummin_pair"):
    samples(_name)(cumulative_distinct)
    error_samples(_name)(out_of_range)


def _places(*rest: Any) -> Any:
    """Samples of f(x, ..., further arguments) for tensors of distinct values."""

    def generate(make: Make) -> Iterator[Sample]:
        for shape in ((4,), (3, 4)):
            yield Sample(make(*shape, distinct=True), *rest, note=f"{len(shape)}-d")
        for layout in ("transposed", "strided", "flipped"):
            yield Sample(make(3, 4, distinct=True, layout=layout), *rest, note=layout)

    return generate


def _out_of_range(*rest: Any) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        yield ErrorSample(make(3, 4), *rest, error=IndexError, match="Dimension out of range")

    return generate


# Operator: good arguments, arguments with a dimension that does not exist.
for _name, _good, _bad in (
    ("sort_pair", (-1, False), (2, False)),
    ("topk_pair", (2, -1, True, True), (2, 2, True, True)),
    ("kthvalue_pair", (2, -1, False), (2, 2, False)),
    ("median_dim", (-1, False, False), (2, False, False)),
    ("mode_pair", (-1, False), (2, False)),
):
    samples(_name)(_places(*_good))
    error_samples(_name)(_out_of_range(*_bad))

samples("median_value")(_places(False))
error_samples("median_value")(lambda make: [ErrorSample([1.0], False, error=TypeError, match="argument 'input'")])


@samples("aminmax")
def _aminmax(make: Make) -> Iterator[Sample]:
    for shape in ((4,), (2, 3), ()):
        yield Sample(make(*shape, distinct=True), note="all")
    yield Sample(make(2, 3, distinct=True), dim=1, note="dim")
    yield Sample(make(3, 4, distinct=True, layout="transposed"), dim=0, keepdim=True, note="transposed")


error_samples("aminmax")(lambda make: [ErrorSample(make(2, 3), dim=2, error=IndexError, match="Dimension out of range")])


def _repeating(*rest: Any, **keyword: Any) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        for shape in ((7,), (2, 5), (0,)):
            yield Sample(make.ints(*shape, low=0, high=3, dtype=make.dtype), *rest, note=f"{len(shape)}-d", **keyword)
            if make.dtype.category and not rest:
                yield Sample(
                    make.ints(*shape, low=0, high=3, dtype=make.dtype), return_inverse=True, return_counts=True, note="with both"
                )

    return generate


for _name in ("unique", "unique_consecutive"):
    samples(_name, data_dependent=NOT_KNOWN)(_repeating())
    error_samples(_name)(lambda make: [ErrorSample(make(2, 3), dim=2, error=IndexError, match="Dimension out of range")])
samples("unique_parts", data_dependent=NOT_KNOWN)(_repeating(None, False))
error_samples("unique_parts")(lambda make: [ErrorSample([1.0], None, False, error=TypeError, match="argument 'input'")])


def _sorted(make: Make) -> Any:
    return make.of([0, 1, 1, 3]) if make.dtype.category else make.of([False, True])


@samples("searchsorted")
def _searchsorted(make: Make) -> Iterator[Sample]:
    for shape in ((3,), (2, 3), (), (0,)):
        yield Sample(_sorted(make), make(*shape), note=f"{len(shape)}-d")
        yield Sample(_sorted(make), make(*shape), right=True, note="right")
    yield Sample(_sorted(make), make(3, 4, layout="transposed"), out_int32=True, note="int32")


error_samples("searchsorted")(lambda make: [ErrorSample(make(3), make(3), side="up", error=RuntimeError, match="side")])


@samples("bucketize")
def _bucketize(make: Make) -> Iterator[Sample]:
    for shape in ((3,), (2, 3), (), (0,)):
        yield Sample(make(*shape), _sorted(make), note=f"{len(shape)}-d")
        yield Sample(make(*shape), _sorted(make), right=True, note="right")


error_samples("bucketize")(lambda make: [ErrorSample(make(3), make(2, 3), error=RuntimeError, match="1 dimension")])


@samples("search_positions")
def _search_positions(make: Make) -> Iterator[Sample]:
    yield Sample(_sorted(make), make(2, 3), False, False)
    yield Sample(_sorted(make), make(3, layout="strided"), True, True)


error_samples("search_positions")(
    lambda make: [ErrorSample([1.0], make(2), False, False, error=TypeError, match="argument 'sorted_sequence'")]
)
