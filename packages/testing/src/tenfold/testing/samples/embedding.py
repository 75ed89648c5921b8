"""Samples of lookups in tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold import op
from tenfold.testing.samples import POSITIVE, ErrorSample, Make, Sample, error_samples, samples

FLOATS = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "float16", "bfloat16"))
_GRADIENT = "it is a gradient, which is compared with that of the operator's body"
V, D = 5, 3  # rows and columns of the tables


def _index(make: Make, *shape: int, layout: str = "contiguous") -> Any:
    return make.ints(*shape, low=0, high=V, layout=layout)


@samples("embedding", dtypes=FLOATS)
def _embedding(make: Make) -> Iterator[Sample]:
    for shape in ((4,), (2, 3), (), (0,)):
        yield Sample(_index(make, *shape), make(V, D), note="empty" if 0 in shape else f"{len(shape)}-d")
    yield Sample(_index(make, 2, 2, layout="transposed"), make(V, D, layout="transposed"), note="strided memory")
    yield Sample(make.ints(4, low=0, high=V, dtype=tenfold.int32), make(V, D), note="int32")


@samples("embedding_rows", dtypes=FLOATS)
def _embedding_rows(make: Make) -> Iterator[Sample]:
    for shape in ((4,), (2, 3), (), (0,)):
        yield Sample(make(V, D), _index(make, *shape), -1, False, note="empty" if 0 in shape else f"{len(shape)}-d")
    yield Sample(make(V, D, layout="transposed"), _index(make, 2, 2, layout="strided"), -1, False, note="strided memory")


@samples("embedding_weight_grad", dtypes=FLOATS)
def _embedding_weight_grad(make: Make) -> Iterator[Sample]:
    for padding, by_frequency in ((-1, False), (2, False), (-1, True), (2, True)):
        for shape in ((6,), (2, 3), ()):
            yield Sample(make(*shape, D), _index(make, *shape), V, padding, by_frequency, note=f"{padding}, {by_frequency}")
    yield Sample(make(0, D), _index(make, 0), V, -1, False, note="empty")
    yield Sample(make(2, 3, D, layout="transposed"), _index(make, 2, 3, layout="strided"), V, -1, False, note="strided memory")


@error_samples("embedding")
def _embedding_errors(make: Make) -> Iterator[ErrorSample]:
    index = _index(make, 4)
    yield ErrorSample(index + V, make(V, D), error=IndexError, match="out of range")
    yield ErrorSample(index - V - 1, make(V, D), error=IndexError, match="out of range")
    yield ErrorSample(make(4), make(V, D), error=RuntimeError, match="Long")
    yield ErrorSample(index, make(V), error=RuntimeError, match="2-D")
    yield ErrorSample(index, make(V, D), padding_idx=V, error=AssertionError, match="Padding_idx")


@error_samples("embedding_rows")
@error_samples("embedding_weight_grad")
def _no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")


@samples("embedding_bag", dtypes=FLOATS, data_dependent="offsets are read")
def _embedding_bag(make: Make) -> Iterator[Sample]:
    for mode in ("mean", "sum", "max"):
        yield Sample(_index(make, 2, 3), make(V, D, distinct=True), mode=mode, note=mode)
        starts = make.of([0, 2, 2], dtype=tenfold.int64)
        yield Sample(_index(make, 5), make(V, D, distinct=True), starts, mode=mode, note=f"{mode}, offsets, an empty bag")
    yield Sample(_index(make, 2, 3), make(V, D), mode="sum", per_sample_weights=make(2, 3, domain=POSITIVE), note="weights")
    ends = make.of([0, 2, 5], dtype=tenfold.int64)
    yield Sample(_index(make, 5), make(V, D), ends, include_last_offset=True, note="last offset")
    yield Sample(_index(make, 2, 3), make(V, D), padding_idx=1, mode="sum", note="padding_idx")
    yield Sample(_index(make, 2, 3, layout="strided"), make(V, D, layout="transposed"), note="strided memory")


@error_samples("embedding_bag")
def _bag_errors(make: Make) -> Iterator[ErrorSample]:
    weight, starts = make(V, D), make.of([0, 2], dtype=tenfold.int64)
    yield ErrorSample(_index(make, 5), weight, error=ValueError, match="offsets")
    yield ErrorSample(_index(make, 2, 3), weight, starts, error=ValueError, match="offsets")
    yield ErrorSample(_index(make, 5), weight, starts + 1, error=RuntimeError, match="offsets")
    yield ErrorSample(_index(make, 2, 2, 2), weight, error=ValueError, match="1D or 2D")
    yield ErrorSample(_index(make, 2, 3), weight, mode="median", error=ValueError, match="mode")
    yield ErrorSample(_index(make, 2, 3), weight, per_sample_weights=make(2, 3), error=NotImplementedError, match="mode='sum'")
    yield ErrorSample(_index(make, 2, 3), weight, mode="sum", per_sample_weights=make(3), error=ValueError, match="same shape")
    yield ErrorSample(_index(make, 2, 3) + V, weight, error=RuntimeError, match="out of range")


@samples("one_hot", dtypes=(tenfold.int64,))
def _one_hot(make: Make) -> Iterator[Sample]:
    for shape in ((4,), (2, 3), ()):
        yield Sample(_index(make, *shape), V, note=f"{len(shape)}-d")
    yield Sample(make.ints(0, low=0, high=V), V, note="empty")
    yield Sample(_index(make, 2, 3, layout="transposed"), V + 1, note="strided memory")


@error_samples("one_hot")
def _one_hot_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), 4, error=RuntimeError, match="LongTensor")
    yield ErrorSample(make.of([0, 4], dtype=tenfold.int64), 4, error=RuntimeError, match="smaller than num_classes")
    yield ErrorSample(make.of([0, -1], dtype=tenfold.int64), 4, error=RuntimeError, match="non-negative")
    yield ErrorSample(make.ints(0, low=0, high=2), error=RuntimeError, match="empty tensor")


def _bags(make: Make) -> Iterator[tuple[Any, ...]]:
    starts, ends = (make.of(v, dtype=tenfold.int64) for v in ([0, 2, 2], [0, 2, 2, 4]))
    for mode in ("sum", "mean", "max"):
        yield make(V, D, distinct=True), _index(make, 2, 3), None, None, mode, 2, -1, False, False
        yield make(V, D, distinct=True), _index(make, 5), starts, None, mode, 3, -1, False, False
        yield make(V, D, distinct=True), _index(make, 5), starts, None, mode, 3, 1, False, mode != "max"
        yield make(V, D, distinct=True), _index(make, 5), ends, None, mode, 3, -1, True, False
    yield make(V, D), _index(make, 2, 3), None, make(2, 3, domain=POSITIVE), "sum", 2, -1, False, False
    yield make(V, D, layout="transposed"), _index(make, 5), starts, make(5, domain=POSITIVE), "sum", 3, 2, False, False


@samples("fused_bags", dtypes=FLOATS, no_special="a row that no bag has is multiplied by 0 in the gradient of the body alone")
def _fused_bags(make: Make) -> Iterator[Sample]:
    for case in _bags(make):
        yield Sample(*case, note=f"{case[4]}, {case[6]}")


@samples("fused_bags_grad", dtypes=FLOATS, related="sizes and places are functions of the indices", no_reference=_GRADIENT)
def _fused_bags_grad(make: Make) -> Iterator[Sample]:
    for weight, input, offsets, factors, *rest in _bags(make):
        out, sizes, places = op.fused_bags(weight, input, offsets, factors, *rest)
        yield Sample(make(*out.shape), V, input, offsets, factors, sizes, places, *rest, note=f"{rest[0]}, {rest[2]}")


@samples("fused_bags_factors_grad", dtypes=FLOATS, no_reference=_GRADIENT)
def _fused_bags_factors_grad(make: Make) -> Iterator[Sample]:
    for weight, input, offsets, _, mode, count, padding_idx, ends, _ in _bags(make):
        if mode == "sum":
            yield Sample(make(count, D), weight, input, offsets, count, padding_idx, ends, note=f"{padding_idx}, {ends}")


@error_samples("fused_bags")
@error_samples("fused_bags_grad")
@error_samples("fused_bags_factors_grad")
def _no_bags(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")
