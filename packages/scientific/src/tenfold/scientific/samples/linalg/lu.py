"""Samples of LU and LDL factorisations, their solutions, and products of reflections."""

from __future__ import annotations

from collections.abc import Iterator

import tenfold
from tenfold.dispatch.operators import op
from tenfold.linalg import LinAlgError
from tenfold.scientific.samples.linalg.factor import (
    ANY_SHAPE,
    SQUARE,
    SYSTEMS,
    WIDE,
    error_samples_for,
    no_factors,
    not_square,
    of_matrices,
    regular,
    symmetric,
)  # fmt: skip
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples


def _note(shape: tuple[int, ...]) -> str:
    return "empty" if 0 in shape else "x".join(map(str, shape))


@samples("lu_packed", dtypes=WIDE)
def _lu_packed(make: Make) -> Iterator[Sample]:
    for shape in ANY_SHAPE:
        for pivot in (True, False):
            yield Sample(regular(make, *shape), pivot, note=f"{_note(shape)}, {pivot}")
    yield Sample(regular(make, 2, 4).mT, True, note="transposed")


for _name in ("linalg_lu_factor_ex", "linalg_lu_factor", "linalg_lu", "lu"):
    samples(_name, dtypes=WIDE)(of_matrices(regular, ANY_SHAPE, {"pivot": False}))
    error_samples(_name)(no_factors)


@error_samples("lu_packed")
def _lu_packed_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), True, error=RuntimeError, match="at least 2 dimensions")


@error_samples("linalg_lu_factor")
@error_samples("lu")
def _zero_pivot(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make.of([[0, 0], [0, 0]]), error=LinAlgError, match="zero")


@samples("pivot_order", dtypes=(tenfold.int32,))
def _pivot_order(make: Make) -> Iterator[Sample]:
    yield Sample(make.of([3, 3, 3]), 3)
    yield Sample(make.of([[2, 2], [1, 2]]), 3, note="batch, more rows than exchanges")
    yield Sample(make.ints(0, low=0, high=1, dtype=tenfold.int32), 2, note="empty")


@error_samples("pivot_order")
def _pivot_order_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1], 2, error=TypeError, match="argument")


@samples("lu_unpack", dtypes=WIDE)
def _lu_unpack(make: Make) -> Iterator[Sample]:
    for shape in ANY_SHAPE:
        yield Sample(*op.linalg_lu_factor(regular(make, *shape)), note=_note(shape))
    LU, pivots = op.linalg_lu_factor(regular(make, 3, 3))
    yield Sample(LU, pivots, False, note="only P")
    yield Sample(LU, pivots, unpack_pivots=False, note="only L and U")


@error_samples("lu_unpack")
def _lu_unpack_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 2), make.ints(2, low=1, high=3), error=RuntimeError, match="int32")


@samples("linalg_lu_solve", dtypes=WIDE)
def _linalg_lu_solve(make: Make) -> Iterator[Sample]:
    for right, left in SYSTEMS:
        yield Sample(*op.linalg_lu_factor(regular(make, *left)), make(*right), note=_note(right))
    LU, pivots = op.linalg_lu_factor(regular(make, 3, 3))
    yield Sample(LU, pivots, make(3, 2), adjoint=True, note="adjoint")
    yield Sample(LU, pivots, make(2, 3), left=False, note="from the right")


@samples("lu_solve", dtypes=WIDE)
def _lu_solve(make: Make) -> Iterator[Sample]:
    for right, left in SYSTEMS:
        yield Sample(make(*right), *op.linalg_lu_factor(regular(make, *left)), note=_note(right))


@error_samples("linalg_lu_solve")
def _linalg_lu_solve_errors(make: Make) -> Iterator[ErrorSample]:
    pivots = make.of([1, 2], dtype=tenfold.int32)
    yield ErrorSample(make(2, 3), pivots, make(2, 1), error=RuntimeError, match="square")
    yield ErrorSample(make(2, 2), pivots, make(2, 1, dtype=tenfold.float64), error=RuntimeError, match="same dtype")


@error_samples("lu_solve")
def _lu_solve_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 1), make(2, 3), make.of([1, 2], dtype=tenfold.int32), error=RuntimeError, match="square")


# Reflections


@samples("linalg_householder_product", dtypes=WIDE)
def _householder(make: Make) -> Iterator[Sample]:
    for shape, count in (((3, 3), 3), ((4, 2), 2), ((3, 2), 1), ((2, 3, 2), 2), ((3, 0), 0)):
        yield Sample(make(*shape), make(*shape[:-2], count), note=_note(shape))
    yield Sample(make(4, 2, layout="transposed"), make(2, layout="strided"), note="strided memory")


@error_samples("linalg_householder_product")
def _householder_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(2), error=RuntimeError, match="must be greater than or equal to input")
    yield ErrorSample(make(3, 2), make(3), error=RuntimeError, match="must be greater than or equal to tau")
    yield ErrorSample(
        make(3, 2), make(2, dtype=tenfold.float64), error=RuntimeError, match="tau dtype Double does not match input dtype Float"
    )


@samples("ormqr", dtypes=WIDE)
def _ormqr(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 3), make(3), make(3, 2))
    yield Sample(make(3, 2), make(2), make(3, 3), transpose=True, note="transpose")
    yield Sample(make(3, 2), make(2), make(2, 3), False, note="from the right")
    yield Sample(make(2, 3, 2), make(2, 2), make(2, 3, 1), note="batch")


@error_samples("ormqr")
def _ormqr_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), make(3), make(3, 2), error=RuntimeError, match="at least 2 dimensions")


samples("geqrf_pair", dtypes=WIDE)(of_matrices(regular, ANY_SHAPE))
samples("geqrf", dtypes=WIDE)(of_matrices(regular, ANY_SHAPE))
error_samples_for("geqrf_pair geqrf", no_factors)


# Symmetric indefinite matrices


@samples("ldl_packed", dtypes=WIDE)
def _ldl_packed(make: Make) -> Iterator[Sample]:
    for shape in SQUARE:
        for hermitian in (False, True):
            yield Sample(symmetric(make, *shape), hermitian, note=_note(shape))


for _name in ("linalg_ldl_factor_ex", "linalg_ldl_factor"):
    samples(_name, dtypes=WIDE)(of_matrices(symmetric, SQUARE, {"hermitian": True}))
    error_samples(_name)(not_square)


@error_samples("ldl_packed")
def _ldl_packed_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), False, error=RuntimeError, match="square")


@samples("linalg_ldl_solve", dtypes=WIDE)
def _ldl_solve(make: Make) -> Iterator[Sample]:
    for right, left in SYSTEMS:
        yield Sample(*op.linalg_ldl_factor(symmetric(make, *left)), make(*right), note=_note(right))


@error_samples("linalg_ldl_solve")
def _ldl_solve_errors(make: Make) -> Iterator[ErrorSample]:
    pivots = make.of([1, 2], dtype=tenfold.int32)
    yield ErrorSample(make(2, 3), pivots, make(2, 1), error=RuntimeError, match="square")
    yield ErrorSample(make(2, 2), pivots, make(3, 1), error=RuntimeError, match="do not fit")
    yield ErrorSample(make(2, 2), pivots, make(2, 1, dtype=tenfold.float64), error=RuntimeError, match="same dtype")
