"""Samples of the affine and bilinear maps, and of the distances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

FLOATS = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "float16", "bfloat16"))
INEXACT = (*FLOATS, *(tenfold.types.dtypes.BY_NAME[n] for n in ("complex64", "complex128")))


def _affine(input: Any, weight: Any, bias: Any = None) -> Any:
    product = input @ weight.T
    return product if bias is None else product + bias


@samples("linear", reference=_affine, dtypes=(*INEXACT, tenfold.int64))
def _linear(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 3), make(4, 3), make(4))
    yield Sample(make(2, 3), make(4, 3))
    yield Sample(make(3), make(4, 3), make(4), note="one row")
    yield Sample(make(2, 2, 3), make(1, 3), bias=make(1), note="leading dimensions")
    yield Sample(make(2, 3), make(3), note="weight is a vector")
    yield Sample(make(2, 3), make(3), make(), note="weight is a vector, with bias")
    for input, weight in (((0, 3), (2, 3)), ((2, 0), (4, 0)), ((2, 3), (0, 3))):
        yield Sample(make(*input), make(*weight), make(weight[0]), note="empty")
    yield Sample(make(4, 3, layout="transposed"), make(2, 3, layout="strided"), make(2, layout="flipped"), note="strided memory")
    yield Sample(make(2, 3, 4, layout="expanded"), make(2, 4, layout="transposed"), note="expanded")


@error_samples("linear")
def _linear_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(4, 2), error=RuntimeError, match="multiplied")
    yield ErrorSample(make(), make(4, 2), error=RuntimeError, match="")
    yield ErrorSample(make(2, 3), make(4, 3), make(3), error=RuntimeError, match="")
    yield ErrorSample(make(2, 3), make.ints(4, 3, low=0, high=3), error=RuntimeError, match="dtype")


def _bilinear_form(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    form = np.einsum("...i,oij,...j->...o", input1, weight, input2)
    return form if bias is None else form + bias


@samples("bilinear", reference=_bilinear_form, dtypes=INEXACT)
def _bilinear(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 3), make(2, 2), make(4, 3, 2), make(4))
    yield Sample(make(3), make(2), make(1, 3, 2), note="one row")
    yield Sample(make(2, 2, 3), make(2, 2, 2), make(2, 3, 2), make(2), note="leading dimensions")
    yield Sample(make(0, 3), make(0, 2), make(4, 3, 2), make(4), note="empty")
    yield Sample(
        make(2, 3, layout="transposed"), make(2, 2, layout="strided"), make(4, 3, 2, layout="transposed"), note="strided"
    )


@error_samples("bilinear")
def _bilinear_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(3, 2), make(4, 3, 2), error=RuntimeError, match="bilinear")
    yield ErrorSample(make(2, 3), make(2, 2), make(4, 2, 3), error=RuntimeError, match="bilinear")
    yield ErrorSample(make(2, 3), make(2, 2), make(4, 3, 2), make(3), error=RuntimeError, match="")


def _cosine(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    lengths = [np.maximum(np.linalg.norm(x, axis=dim), eps) for x in np.broadcast_arrays(x1, x2)]
    return (x1 * x2).sum(dim) / (lengths[0] * lengths[1])


@samples("cosine_similarity", reference=_cosine, dtypes=FLOATS)
def _cosine_similarity(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 4), make(3, 4))
    yield Sample(make(4), make(4), dim=0, note="vectors")
    yield Sample(make(2, 1, 3), make(4, 3), dim=-1, note="broadcast")
    yield Sample(make(0, 3), make(0, 3), note="empty")
    yield Sample(make(3, 4, layout="transposed"), make(3, 4, layout="strided"), note="strided memory")


@error_samples("cosine_similarity")
def _cosine_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(2, 4), error=RuntimeError, match="match")
    yield ErrorSample(make.ints(2, 3, low=0, high=3), make.ints(2, 3, low=0, high=3), error=RuntimeError, match="floating point")
    yield ErrorSample(make(2, 3), make(2, 3), dim=4, error=IndexError, match="range")


@samples("pairwise_distance", dtypes=FLOATS)
def _pairwise_distance(make: Make) -> Iterator[Sample]:
    for p in (2.0, 1.0, 3.0, float("inf")):
        yield Sample(make(3, 4), make(3, 4), p, note=f"p {p}")
    yield Sample(make(3, 4), make(1, 4), keepdim=True, eps=0.1, note="broadcast")
    yield Sample(make(4), make(4), note="vectors")
    yield Sample(make(0, 4), make(0, 4), note="empty")
    yield Sample(make(3, 4, layout="transposed"), make(3, 4, layout="flipped"), note="strided memory")


@error_samples("pairwise_distance")
def _pairwise_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(2, 4), error=RuntimeError, match="match")


@samples("pdist", dtypes=tuple(d for d in FLOATS if d.itemsize > 2))
def _pdist(make: Make) -> Iterator[Sample]:
    for p in (2.0, 1.0, 3.0, float("inf")):
        yield Sample(make(4, 3), p, note=f"p {p}")
    for shape in ((1, 3), (0, 3), (3, 0)):
        yield Sample(make(*shape), note="no pairs" if shape[1] else "no columns")
    yield Sample(make(4, 3, layout="transposed"), note="strided memory")


@error_samples("pdist")
def _pdist_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), error=RuntimeError, match="2D")
    yield ErrorSample(make(3, 2), -1.0, error=RuntimeError, match="non-negative")
