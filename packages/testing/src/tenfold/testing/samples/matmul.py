"""Samples of the matrix products."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples
from tenfold.types import dtypes

Pair = tuple[tuple[int, ...], tuple[int, ...]]
FLOATING = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)

SHAPES: dict[str, list[Pair]] = {
    "mm": [((2, 3), (3, 4)), ((1, 3), (3, 1)), ((0, 3), (3, 4)), ((2, 0), (0, 4)), ((5, 17), (17, 9))],
    "bmm": [((2, 2, 3), (2, 3, 4)), ((1, 1, 3), (1, 3, 1)), ((0, 2, 3), (0, 3, 4)), ((2, 2, 0), (2, 0, 4))],
    "matmul": [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((2, 2, 3), (3, 4)),
        ((2, 2, 3), (3,)),
        ((3,), (2, 3, 4)),
        ((2, 1, 2, 3), (2, 3, 4)),
        ((0, 3), (3, 2)),
        ((2, 0), (0, 2)),
        ((2, 2, 3), (2, 3, 1)),
    ],
    "mv": [((2, 3), (3,)), ((0, 3), (3,)), ((2, 0), (0,))],
    "dot": [((3,), (3,)), ((0,), (0,)), ((67,), (67,))],
    "vdot": [((3,), (3,)), ((0,), (0,))],
    "outer": [((2,), (3,)), ((0,), (3,))],
    "ger": [((2,), (3,))],
    "inner": [((3,), (3,)), ((2, 3), (4, 3)), ((), (2,))],
}
REFERENCES: dict[str, Any] = {
    "mm": np.matmul,
    "bmm": np.matmul,
    "matmul": np.matmul,
    "mv": np.matmul,
    "dot": np.dot,
    "vdot": np.vdot,
    "outer": np.outer,
    "inner": np.inner,
}


def products(pairs: list[Pair]) -> Any:
    """Samples of a product for these shapes, and for the last of them in other memory layouts."""

    def generate(make: Make) -> Iterator[Sample]:
        for a, b in pairs:
            yield Sample(make(*a), make(*b), note="empty" if 0 in a + b else "x".join(map(str, (a, b))))
        a, b = pairs[0]
        pairs_of_layouts = [("transposed", "contiguous"), ("contiguous", "transposed"), ("transposed", "transposed")]
        for one, other in [*pairs_of_layouts, ("strided", "flipped"), ("expanded", "strided")]:
            yield Sample(make(*a, layout=one), make(*b, layout=other), note=f"{one}, {other}")

    return generate


def mismatched(a: tuple[int, ...], b: tuple[int, ...], match: str) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        yield ErrorSample(make(*a), make(*b), error=RuntimeError, match=match)

    return generate


for _name, _pairs in SHAPES.items():
    samples(_name, reference=REFERENCES.get(_name))(products(_pairs))

error_samples("mm")(mismatched((2, 3), (2, 3), "cannot be multiplied"))
error_samples("mm")(mismatched((3,), (3, 2), "must be a matrix"))
error_samples("bmm")(mismatched((2, 2, 3), (2, 2, 3), "Expected size for first two dimensions"))
error_samples("bmm")(mismatched((2, 3), (2, 3), "3D"))
error_samples("matmul")(mismatched((2, 3), (2, 3), "cannot be multiplied"))
error_samples("matmul")(mismatched((), (2, 3), "at least 1D"))
error_samples("mv")(mismatched((2, 3), (2,), "size mismatch"))
error_samples("dot")(mismatched((2,), (3,), "size"))
error_samples("dot")(mismatched((2, 2), (2,), "1D"))
error_samples("vdot")(mismatched((2,), (3,), "size"))
error_samples("outer")(mismatched((2, 2), (2,), "1-D"))
error_samples("ger")(mismatched((2, 2), (2,), "1-D"))
error_samples("inner")(mismatched((2, 3), (2, 2), ""))


@error_samples("mm")
def _dtypes(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make.ints(3, 2, low=0, high=3), error=RuntimeError, match="same dtype")


def _added(first: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        for shape in (first, (1,) * len(first), ()):
            yield Sample(make(*shape), make(*a), make(*b), note="broadcast" if shape != first else "")
        if make.dtype.category:
            yield Sample(make(*first), make(*a), make(*b), beta=2, alpha=3, note="factors")
            yield Sample(make(*first), make(*a), make(*b), beta=0, note="beta 0")
        yield Sample(
            make(*first, layout="transposed"), make(*a, layout="transposed"), make(*b, layout="strided"), note="strided memory"
        )

    return generate


for _name, _shapes in {
    "addmm": ((2, 4), (2, 3), (3, 4)),
    "addmv": ((2,), (2, 3), (3,)),
    "addr": ((2, 3), (2,), (3,)),
    "baddbmm": ((2, 2, 4), (2, 2, 3), (2, 3, 4)),
    "addbmm": ((2, 4), (2, 2, 3), (2, 3, 4)),
}.items():
    samples(_name)(_added(*_shapes))


@error_samples("addmm")
def _addmm_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 2), make(2, 3), make(2, 3), error=RuntimeError, match="cannot be multiplied")


@error_samples("baddbmm")
@error_samples("addbmm")
def _batch_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 2), make(2, 3), make(2, 3), error=RuntimeError, match="3D")


@error_samples("addmv")
@error_samples("addr")
def _vector_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), make(2, 3), make(4), error=RuntimeError, match="")


@samples("spmm")
def _spmm(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 3), make(3, 4))


error_samples("spmm")(mismatched((2, 3), (2, 3), ""))
