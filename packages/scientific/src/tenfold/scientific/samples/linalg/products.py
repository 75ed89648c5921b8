"""Samples of Einstein's summation and of products of vectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tenfold
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

FLOATING = (tenfold.float32, tenfold.float64, tenfold.complex64, tenfold.complex128)


@samples("einsum")
def _einsum(make: Make) -> Iterator[Sample]:
    for equation, *shapes in (
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
        ("ij->ji", (2, 3)),
        ("ij->", (2, 3)),
        ("i,j->ij", (2,), (3,)),
        ("ii->i", (3, 3)),
        ("...ij,jk->...ik", (2, 2, 3), (3, 2)),
        ("ij,jk", (0, 3), (3, 2)),
    ):
        yield Sample(equation, *(make(*s) for s in shapes), note=equation)


@error_samples("einsum")
def _einsum_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample("ij,jk->ik", make(2, 3), error=RuntimeError, match="operands")


@samples("linalg_cross")
def _linalg_cross(make: Make) -> Iterator[Sample]:
    yield Sample(make(3), make(3))
    yield Sample(make(2, 3), make(1, 3), note="broadcast")
    yield Sample(make(3, 2), make(3, 2), dim=0, note="dim")
    yield Sample(make(2, 3, layout="transposed"), make(2, 3, layout="strided"), note="strided memory")


@samples("cross")
def _cross(make: Make) -> Iterator[Sample]:
    yield Sample(make(3), make(3))
    yield Sample(make(3, 3, 2), make(3, 3, 2), note="the first dimension of size 3")
    yield Sample(make(2, 3), make(1, 3), -1, note="dim")


@error_samples("linalg_cross")
@error_samples("cross")
def _cross_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), make(2), error=RuntimeError, match="3")
    yield ErrorSample(make(3), make(2, 3), error=RuntimeError, match="number of dimensions")


@samples("linalg_vecdot", dtypes=FLOATING)
def _vecdot(make: Make) -> Iterator[Sample]:
    yield Sample(make(3), make(3))
    yield Sample(make(2, 3), make(3), note="broadcast")
    yield Sample(make(2, 3), make(2, 3), dim=0, note="dim")
    yield Sample(make(0), make(0), note="empty")
    yield Sample(make(2, 3, layout="transposed"), make(2, 3, layout="strided"), note="strided memory")


@error_samples("linalg_vecdot")
def _vecdot_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), make(3, dtype=tenfold.float64), error=RuntimeError, match="same dtype")
    yield ErrorSample(make(3), make(2), error=RuntimeError, match="match")


@samples("kron", reference=np.kron)
def _kron(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 2), make(3, 1))
    yield Sample(make(3), make(2), note="vectors")


@error_samples("kron")
def _kron_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), "text", error=TypeError, match="argument")


@samples("tensordot")
def _tensordot(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 3), make(3, 4), 1)
    yield Sample(make(2, 3, 4), make(3, 4, 2))
    yield Sample(make(2, 3), make(4, 3), ([1], [1]), note="named dimensions")


@error_samples("tensordot")
def _tensordot_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(4, 3), 1, error=RuntimeError, match="")


@samples("chain_matmul")
def _chain(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 3), make(3, 4), make(4, 2))
    yield Sample(make(2, 3), note="one")


error_samples("chain_matmul")(lambda make: [ErrorSample(make(2, 3), make(2, 3), error=RuntimeError, match="")])
