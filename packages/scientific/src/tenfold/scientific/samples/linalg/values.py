"""Samples of determinants, norms, condition, rank, least squares and products of matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.linalg import LinAlgError
from tenfold.scientific.samples.linalg.factor import (
    ANY_SHAPE,
    NOT_EMPTY,
    REAL,
    SQUARE,
    WIDE,
    _note,
    error_samples_for,
    no_factors,
    not_square,
    of_matrices,
    positive,
    regular,
    symmetric,
)
from tenfold.testing.samples import NONZERO, ErrorSample, Make, Sample, error_samples, samples

# Determinants, condition and rank

for _name in ("determinant", "linalg_det", "det", "log_determinant", "linalg_slogdet", "slogdet"):
    samples(_name, dtypes=WIDE)(of_matrices(regular, SQUARE))
    error_samples(_name)(not_square)
samples("logdet", dtypes=WIDE)(of_matrices(positive, SQUARE))
error_samples("logdet")(not_square)


@samples("linalg_matrix_norm", dtypes=WIDE)
def _matrix_norm(make: Make) -> Iterator[Sample]:
    for order in ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf")):
        yield Sample(regular(make, 3, 2), order, note=str(order))
        yield Sample(regular(make, 2, 2, 3), order, keepdim=True, note=f"{order}, keepdim")
    yield Sample(make(3, 2, 2), "fro", (0, 2), note="dim")
    yield Sample(make(3, 2, 2, layout="transposed"), 1, (-1, 0), note="strided memory")


@error_samples("linalg_matrix_norm")
def _matrix_norm_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), error=RuntimeError, match="at least 2 dimensions")
    yield ErrorSample(make(3, 3), 7, error=RuntimeError, match="not supported")
    yield ErrorSample(make(3, 3), "max", error=RuntimeError, match="not supported")
    yield ErrorSample(make(3, 3), "fro", (0, 0), error=RuntimeError, match="different")
    yield ErrorSample(make(3, 3), "fro", (0, 5), error=IndexError, match="range")
    yield ErrorSample(make.ints(3, 3, low=0, high=3), error=RuntimeError, match="floating point")


@samples("linalg_norm", dtypes=WIDE)
def _norm(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 3))
    yield Sample(make(2, 3, domain=NONZERO), 1, 0, note="vectors")
    yield Sample(make(2, 2, 3), "fro", (1, 2), note="matrices")
    yield Sample(make(5), 3, note="ord")
    yield Sample(make(2, 3, layout="transposed"), None, 1, True, note="keepdim")


@error_samples("linalg_norm")
def _norm_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 2, 2), 2, error=RuntimeError, match="1D or 2D")
    yield ErrorSample(make(2, 2, 2), dim=(0, 1, 2), error=RuntimeError, match="length 1 or 2")
    yield ErrorSample(make(2), "fro", error=RuntimeError, match="at least 2 dimensions")
    yield ErrorSample(make(2, 2), "fro", 0, error=RuntimeError, match="2-tuple")


@samples("linalg_cond", dtypes=WIDE)
def _cond(make: Make) -> Iterator[Sample]:
    for p in (None, 2, -2, 1, float("inf"), "fro", "nuc"):
        yield Sample(regular(make, 3, 3), p, note=str(p))
        yield Sample(regular(make, 2, 2, 2), p, note=f"{p}, batch")
    yield Sample(regular(make, 4, 2), note="rectangular")


@error_samples("linalg_cond")
def _cond_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), 1, error=RuntimeError, match="square")
    yield ErrorSample(make(0, 2), "fro", error=RuntimeError, match="square")
    yield from no_factors(make)


def _tolerance(make: Make, value: float) -> Any:
    real = tenfold.float64 if make.dtype.itemsize == (16 if make.dtype.category == 3 else 8) else tenfold.float32
    return make.of(value, dtype=real)


HELD = "the tolerances are no arguments of a derivative"


@samples("pseudo_inverse", dtypes=REAL, no_gradient="atol and rtol are tensors whose effect is a step", no_second_gradient=HELD)
def _pseudo_inverse(make: Make) -> Iterator[Sample]:
    for shape in NOT_EMPTY:
        yield Sample(regular(make, *shape), _tolerance(make, 0.0), _tolerance(make, 1e-5), False, note=_note(shape))
    yield Sample(symmetric(make, 3, 3), _tolerance(make, 0.0), _tolerance(make, 1e-5), True, note="hermitian")


@error_samples("pseudo_inverse")
def _pseudo_inverse_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), _tolerance(make, 0.0), _tolerance(make, 0.1), True, error=RuntimeError, match="square")


samples("linalg_pinv", dtypes=WIDE)(of_matrices(regular, ANY_SHAPE, {"rcond": 1e-3}, {"atol": 1e-4, "rtol": 1e-3}))
samples("pinverse", dtypes=WIDE)(of_matrices(regular, ANY_SHAPE, {"rcond": 1e-3}))
samples("linalg_matrix_rank", dtypes=WIDE)(of_matrices(regular, ANY_SHAPE, {"tol": 0.1}, {"rtol": 0.1}))
error_samples_for("linalg_matrix_rank", no_factors)


@error_samples("linalg_pinv")
@error_samples("pinverse")
def _pinv_errors(make: Make) -> Iterator[ErrorSample]:
    for given in (make(3), make.ints(3, 3, low=0, high=3), make(3, 3, dtype=tenfold.float16)):
        yield ErrorSample(
            given, error=RuntimeError, match=r"linalg.pinv\(\w+{\[.*\]}\): expected a tensor with 2 or more dimensions"
        )


@error_samples("linalg_pinv")
@error_samples("linalg_matrix_rank")
def _hermitian_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), hermitian=True, error=RuntimeError, match="square")


@samples("linalg_lstsq", dtypes=WIDE, data_dependent="residuals are those of systems of full rank")
def _lstsq(make: Make) -> Iterator[Sample]:
    for driver in (None, "gels", "gelsd", "gelss"):
        yield Sample(regular(make, 4, 2), make(4, 3), driver=driver, note=f"{driver}")
    yield Sample(regular(make, 2, 3, 3), make(2, 3, 1), note="batch")
    yield Sample(regular(make, 2, 4), make(2, 1), note="wide")
    yield Sample(regular(make, 3, 2), make(3), note="vector")


@error_samples("linalg_lstsq")
def _lstsq_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, 2), make(2, 2), error=RuntimeError, match="should match")
    yield ErrorSample(make(3, 2), make(3, 2), driver="qr", error=RuntimeError, match="driver")
    yield ErrorSample(make(3, 2), make(3, 2, dtype=tenfold.float64), error=RuntimeError, match="same dtype")


# Products


@samples("linalg_matrix_power", dtypes=WIDE)
@samples("matrix_power", dtypes=WIDE)
def _matrix_power(make: Make) -> Iterator[Sample]:
    for n in (0, 1, 2, 3, 5, -1, -2):
        yield Sample(regular(make, 2, 2), n, note=str(n))
    yield Sample(regular(make, 2, 3, 3), 2, note="batch")
    yield Sample(regular(make, 0, 0), 2, note="empty")
    yield Sample(regular(make, 3, 3).mT, 3, note="transposed")


@error_samples("linalg_matrix_power")
@error_samples("matrix_power")
def _matrix_power_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), 2, error=RuntimeError, match="square")
    yield ErrorSample(make.of([[1, 2], [2, 4]]), -1, error=LinAlgError, match="singular")


@samples("linalg_multi_dot", dtypes=WIDE)
def _multi_dot(make: Make) -> Iterator[Sample]:
    yield Sample([make(2, 3), make(3, 4)])
    yield Sample([make(2, 3), make(3, 1), make(1, 4), make(4, 2)], note="four")
    yield Sample([make(2), make(2, 3), make(3)], note="vectors at the ends")
    yield Sample([make(2, 3, layout="transposed"), make(3, 4, layout="strided")], note="strided memory")


@error_samples("linalg_multi_dot")
def _multi_dot_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([make(2, 3)], error=RuntimeError, match="at least 2 tensors")
    yield ErrorSample([make(2, 3), make(2, 3)], error=RuntimeError, match="cannot be multiplied")
    yield ErrorSample([make(2, 3), make(3), make(3, 2)], error=RuntimeError, match="2D")
    yield ErrorSample([make(2, 3), make(3, 2, dtype=tenfold.float64)], error=RuntimeError, match="same dtype")


@samples("linalg_diagonal")
def _diagonal(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 2))
    yield Sample(make(2, 3, 3), offset=1, note="offset")
    yield Sample(make(2, 3, 4), offset=-1, dim1=0, dim2=1, note="dims")
    yield Sample(make(0, 3), note="empty")


@error_samples("linalg_diagonal")
def _diagonal_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, 2), dim1=0, dim2=0, error=RuntimeError, match="")
    yield ErrorSample(make(3), error=IndexError, match="range")


@samples("linalg_vander", dtypes=(*WIDE, tenfold.int64))
def _vander(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, domain=NONZERO))
    yield Sample(make(2, 3, domain=NONZERO), 4, note="more columns")
    yield Sample(make(3, domain=NONZERO), N=2, note="fewer columns")


@error_samples("linalg_vander")
def _vander_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(), error=RuntimeError, match="N must be greater")
    yield ErrorSample(make(1), error=RuntimeError, match="N must be greater")
    yield ErrorSample(make(3), 1, error=RuntimeError, match="N must be greater")


@samples("linalg_tensorinv", dtypes=WIDE)
def _tensorinv(make: Make) -> Iterator[Sample]:
    yield Sample(regular(make, 4, 4).reshape(2, 2, 4))
    yield Sample(regular(make, 4, 4).reshape(4, 2, 2), 1, note="ind")


@error_samples("linalg_tensorinv")
def _tensorinv_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 2, 3), error=RuntimeError, match="requirement")
    yield ErrorSample(make(2, 2), ind=0, error=RuntimeError, match="positive")
    yield ErrorSample(make.of([[1, 2], [2, 4]]), ind=1, error=LinAlgError, match="singular")


@samples("linalg_tensorsolve", dtypes=WIDE)
def _tensorsolve(make: Make) -> Iterator[Sample]:
    yield Sample(regular(make, 4, 4).reshape(2, 2, 4), make(2, 2))
    yield Sample(regular(make, 4, 4).reshape(4, 2, 2), make(4), note="vector")
    yield Sample(regular(make, 4, 4).reshape(2, 2, 4), make(4), dims=(0, 1), note="dims")


@error_samples("linalg_tensorsolve")
def _tensorsolve_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 2, 3), make(2, 2), error=RuntimeError, match="requirement")


@samples("linalg_matrix_exp", dtypes=WIDE)
def _matrix_exp(make: Make) -> Iterator[Sample]:
    for shape in SQUARE:
        yield Sample(make(*shape, low=-0.5, high=0.5), note=_note(shape))
    yield Sample(make(3, 3), note="scaled")
    yield Sample(make(2, 2, layout="transposed"), note="strided memory")


error_samples("linalg_matrix_exp")(not_square)
