"""Samples of operators that write parts of a tensor, join tensors or repeat elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.testing.samples import NONZERO, ErrorSample, Make, Sample, error_samples, samples

RANGE = "Dimension out of range"


def _distinct_index(make: Make) -> Any:
    return make.of([[2, 0, 1, 0], [0, 1, 2, 2]], tenfold.int64)  # no place twice in a column


@samples("scatter_set")
def _scatter_set(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 4), 0, _distinct_index(make), make(2, 4))
    yield Sample(make(3, 4, layout="transposed"), 0, _distinct_index(make), make(2, 4, layout="strided"), note="strided memory")
    yield Sample(make(3, 4), 0, _distinct_index(make), 1, note="number")


REAL = (tenfold.float32, tenfold.float64, tenfold.int64, tenfold.int32)


@samples("scatter_reduce", dtypes=REAL)
def _scatter_reduce(make: Make) -> Iterator[Sample]:
    for reduce in ("sum", "amax", "amin", "mean", "prod") if make.dtype.category else ("sum", "amax"):
        yield Sample(make(3, 4, domain=NONZERO), 0, _distinct_index(make), make(2, 4, domain=NONZERO), reduce, note=reduce)


def _bad_dimension(*rest: Any) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        yield ErrorSample(make(3, 4), 2, _distinct_index(make), make(2, 4), *rest, error=IndexError, match=RANGE)

    return generate


error_samples("scatter_set")(_bad_dimension())
error_samples("scatter")(_bad_dimension())
error_samples("scatter_add")(_bad_dimension())
error_samples("scatter_reduce")(_bad_dimension("sum"))


@samples("index_copy")
def _index_copy(make: Make) -> Iterator[Sample]:
    yield Sample(make(4, 3), 0, make.of([2, 0], tenfold.int64), make(2, 3))
    yield Sample(make(3, 4, layout="transposed"), 1, make.of([3, 1], tenfold.int64), make(3, 2), note="transposed")


@samples("index_reduce", dtypes=REAL)
def _index_reduce(make: Make) -> Iterator[Sample]:
    for reduce in ("prod", "amax", "amin", "mean") if make.dtype.category else ("amax",):
        yield Sample(
            make(4, 3, domain=NONZERO), 0, make.of([2, 0], tenfold.int64), make(2, 3, domain=NONZERO), reduce, note=reduce
        )


def _bad_index(*rest: Any) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        yield ErrorSample(make(3, 4), 2, make.of([0], tenfold.int64), make(1, 4), *rest, error=IndexError, match=RANGE)

    return generate


for _name, _rest in (("index_copy", ()), ("index_add", ()), ("index_reduce", ("amax",))):
    error_samples(_name)(_bad_index(*_rest))
error_samples("index_fill")(lambda make: [ErrorSample(make(3), 1, make.of([0], tenfold.int64), 1, error=IndexError, match=RANGE)])
error_samples("take")(
    lambda make: [ErrorSample(make(3), make.of([3], tenfold.int64), error=IndexError, match="out of (range|bounds)")]
)
error_samples("masked_select")(lambda make: [ErrorSample(make(3), make(3), error=RuntimeError, match="(?i)bool")])
error_samples("nonzero")(lambda make: [ErrorSample([1.0], error=TypeError, match="argument 'input'")])


@samples("index")
def _index(make: Make) -> Iterator[Sample]:
    yield Sample(make(4, 3), [make.of([0, 2, 2], tenfold.int64)], note="rows")
    yield Sample(make(4, 3), [make.of([0, 2], tenfold.int64), make.of([1, 1], tenfold.int64)], note="places")
    yield Sample(make(4, 3, layout="transposed"), [None, make.of([[2], [0]], tenfold.int64)], note="columns, transposed")


error_samples("index")(
    lambda make: [ErrorSample(make(3), [make.of([3], tenfold.int64)], error=IndexError, match="out of bounds")]
)


@samples("index_put")
def _index_put(make: Make) -> Iterator[Sample]:
    yield Sample(make(4, 3), [make.of([0, 2], tenfold.int64)], make(2, 3))
    yield Sample(make(4, 3), [make.of([0, 2], tenfold.int64), make.of([1, 1], tenfold.int64)], make(2), note="places")
    if make.dtype.category:
        yield Sample(make(4), [make.of([0, 2, 2], tenfold.int64)], make(3), True, note="accumulate")


error_samples("index_put")(
    lambda make: [ErrorSample(make(3), [make.of([3], tenfold.int64)], make(1), error=IndexError, match="out of bounds")]
)


@samples("put")
def _put(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 4), make.of([0, 5, 11], tenfold.int64), make(3))
    if make.dtype.category:
        yield Sample(make(3, 4), make.of([0, 5, 5], tenfold.int64), make(3), True, note="accumulate")


error_samples("put")(
    lambda make: [ErrorSample(make(3), make.of([3], tenfold.int64), make(1), error=IndexError, match="out of (range|bounds)")]
)


@samples("masked_scatter", data_dependent="its body asks where the mask holds")
def _masked_scatter(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 3), make.bools(2, 3), make(6))
    yield Sample(make(2, 3, layout="transposed"), make.bools(3), make(2, 3), note="broadcast mask")


error_samples("masked_scatter")(lambda make: [ErrorSample(make(3), make(3), make(3), error=RuntimeError, match="(?i)bool")])


@samples("take_along_dim")
def _take_along_dim(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 4), make.ints(3, 2, low=0, high=4), 1)
    yield Sample(make(3, 4), make.ints(5, low=0, high=12), note="flat")


error_samples("take_along_dim")(
    lambda make: [ErrorSample(make(3, 4), make.ints(3, 2, low=0, high=3), 2, error=IndexError, match=RANGE)]
)
samples("argwhere", data_dependent="as many rows as there are nonzero elements")(
    lambda make: [Sample(make(*s)) for s in ((5,), (2, 3), (0, 3))]
)
error_samples("argwhere")(lambda make: [ErrorSample([1.0], error=TypeError, match="argument 'input'")])
samples("nonzero_static", data_dependent="its body asks where elements are nonzero")(
    lambda make: [Sample(make(2, 3), size=n) for n in (0, 4, 9)]
)
error_samples("nonzero_static")(lambda make: [ErrorSample([1.0], size=2, error=TypeError, match="argument 'input'")])


@samples("repeat_interleave", data_dependent="as many elements as the repeats add up to")
def _repeat_interleave(make: Make) -> Iterator[Sample]:
    yield Sample(make(3), 2)
    yield Sample(make(2, 3), 2, dim=1, note="dim")
    yield Sample(make(2, 3), make.of([1, 2], tenfold.int64), dim=0, note="tensor")


error_samples("repeat_interleave")(lambda make: [ErrorSample(make(3), -1, error=RuntimeError, match="negative")])
samples("repeat_places", data_dependent="as many places as the repeats add up to", dtypes=(tenfold.int64, tenfold.int32))(
    lambda make: [Sample(make.ints(4, low=0, high=3, dtype=make.dtype))]
)
error_samples("repeat_places")(lambda make: [ErrorSample([1.0], error=TypeError, match="argument 'repeats'")])


def _joined(make: Make) -> Iterator[Sample]:
    yield Sample([make(2, 3), make(4, 3)])
    yield Sample([make(2, 3), make(2, 1)], 1, note="dim")
    yield Sample([make(3, 4, layout="transposed"), make(3, 4, layout="strided")], -1, note="strided memory")


for _name in ("concat", "concatenate"):
    samples(_name)(_joined)
    error_samples(_name)(
        lambda make: [ErrorSample([make(2, 3), make(2, 4)], 0, error=RuntimeError, match="Sizes of tensors must match")]
    )

# Operator: (shape, shape of what is written into it, further arguments), and arguments out of range.
INTO: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[Any, ...], tuple[Any, ...]]] = {
    "select_scatter": ((3, 4), (4,), (0, 1), (2, 1)), "slice_scatter": ((3, 4), (2, 4), (0, 1, 3), (2, 1, 3)),
    "diagonal_scatter": ((3, 3), (3,), (), (0, 2, 3)),
}  # fmt: skip


def _into(shape: Any, part: Any, rest: Any) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        yield Sample(make(*shape), make(*part), *rest)
        yield Sample(make(*shape, layout="transposed"), make(*part, layout="strided"), *rest, note="strided memory")

    return generate


def _into_errors(shape: Any, part: Any, rest: Any) -> Any:
    return lambda make: [ErrorSample(make(*shape), make(*part), *rest, error=IndexError, match=RANGE)]


for _name, (_shape, _part, _good, _bad) in INTO.items():
    samples(_name)(_into(_shape, _part, _good))
    error_samples(_name)(_into_errors(_shape, _part, _bad))

samples("as_strided_scatter")(lambda make: [Sample(make(6), make(2, 2), (2, 2), (3, 1)), Sample(make(6), make(2), (2,), (2,), 1)])
error_samples("as_strided_scatter")(lambda make: [ErrorSample(make(6), make(2, 2), (2,), (1,), error=RuntimeError, match="")])
samples("strided_set")(lambda make: [Sample(make(6), make(2, 2), (2, 2), (3, 1)), Sample(make(6), make(2), (2,), (2,), 1)])
error_samples("strided_set")(lambda make: [ErrorSample([1.0], make(1), (1,), (1,), error=TypeError, match="argument 'input'")])
samples("strided_sum")(lambda make: [Sample(make(2, 2), (6,), (2, 2), (3, 1), 0), Sample(make(2, 3), (4,), (2, 3), (1, 1), 0)])
error_samples("strided_sum")(lambda make: [ErrorSample([1.0], (2,), (1,), (1,), 0, error=TypeError, match="argument 'input'")])
