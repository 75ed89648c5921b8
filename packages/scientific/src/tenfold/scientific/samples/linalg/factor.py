"""Samples of linear algebra: matrices of every shape that a factorisation meets, well away from singular ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tenfold
from tenfold.dispatch.operators import op
from tenfold.linalg import LinAlgError
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

WIDE = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "complex64", "complex128"))
REAL = WIDE[:2]
SQUARE: list[tuple[int, ...]] = [(3, 3), (1, 1), (2, 2, 2), (0, 0), (0, 2, 2), (2, 1, 3, 3)]
ANY_SHAPE: list[tuple[int, ...]] = [(3, 3), (4, 2), (2, 4), (2, 3, 2), (1, 1), (0, 3), (3, 0), (0, 2, 3)]

Matrices = Callable[..., Any]


def regular(make: Make, *shape: int) -> Any:
    """Matrices with singular values away from 0 and from each other: a large, growing diagonal."""
    M, N = shape[-2:]
    steps = op.arange(1, min(M, N) + 1, device=make.device).to(make.dtype) * 3
    diagonal = op.diag_embed(steps) if M and N else op.zeros(min(M, N), min(M, N), dtype=make.dtype, device=make.device)
    padded = op.zeros(M, N, dtype=make.dtype, device=make.device)
    padded = padded + op.cat(
        [op.cat([diagonal, padded[: diagonal.shape[0], diagonal.shape[0] :]], 1), padded[diagonal.shape[0] :]], 0
    )
    return make(*shape, low=-0.9, high=0.9) + padded


def positive(make: Make, *shape: int) -> Any:
    """Positive definite matrices."""
    x = regular(make, *shape)
    return x.matmul(x.mH)


def symmetric(make: Make, *shape: int) -> Any:
    """Symmetric or Hermitian matrices with eigenvalues apart from each other."""
    x = regular(make, *shape)
    return (x + x.mH) * 0.5


def lower(make: Make, *shape: int) -> Any:
    """Lower triangular matrices with a positive diagonal."""
    return regular(make, *shape).tril()


def _note(shape: tuple[int, ...]) -> str:
    return "empty" if 0 in shape else "x".join(map(str, shape))


def of_matrices(matrices: Matrices, shapes: list[tuple[int, ...]], *more: dict[str, Any]) -> Any:
    """Samples of an operator of one matrix or batch of them, for the shapes and for further keywords."""

    def generate(make: Make) -> Iterator[Sample]:
        for shape in shapes:
            yield Sample(matrices(make, *shape), note=_note(shape))
        yield Sample(matrices(make, *reversed(shapes[1])).mT, note="transposed")
        for keywords in more:
            for shape in shapes[:3]:
                note = ", ".join(f"{k}={v}" for k, v in keywords.items())
                yield Sample(matrices(make, *shape), note=f"{_note(shape)}, {note}", **keywords)

    return generate


def not_square(make: Make) -> Iterator[ErrorSample]:
    """What no square matrix is: rows and columns that differ, a vector, integers, half precision."""
    yield ErrorSample(make(2, 3), error=RuntimeError, match="square")
    yield ErrorSample(make(3), error=RuntimeError, match="at least 2 dimensions")
    yield from no_factors(make)


def no_factors(make: Make) -> Iterator[ErrorSample]:
    """What has no factorisation: a vector, integers, half precision."""
    yield ErrorSample(make(3), error=RuntimeError, match="at least 2 dimensions")
    yield ErrorSample(make.ints(3, 3, low=0, high=3), error=RuntimeError, match="floating point")
    yield ErrorSample(make(3, 3, dtype=tenfold.float16), error=RuntimeError, match="Low precision")


def singular(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make.of([[1, 2], [2, 4]]), error=LinAlgError, match="singular")


def error_samples_for(names: str, generator: Any) -> None:
    for name in names.split():
        error_samples(name)(generator)


# Factorisations. Vectors are determined up to a factor of absolute value 1: what of them has derivatives is given as `stable`.


def _times(left: Any, right: Any) -> Any:
    K = min(left.shape[-1], right.shape[-2])
    return left[..., :K].matmul(right[..., :K, :])


def _svd_stable(result: Any) -> Any:
    U, S, Vh = result
    return _times(U, Vh), S


def _older_svd_stable(result: Any) -> Any:
    U, S, V = result
    return _times(U, V.mH), S


def _symmetric_part(A: Any, *rest: Any) -> Any:
    """Operators that read one triangle have the gradient of a symmetric matrix."""
    return (A + A.mH) * 0.5, *rest


def _lower_part(L: Any, *rest: Any) -> Any:
    return L.tril(), *rest


def _one_part(B: Any, L: Any, upper: bool = False) -> Any:
    return B, L.triu() if upper else L.tril(), upper


def _vectors_stable(result: Any) -> Any:
    values, vectors = result
    return values, vectors.abs()


@samples("qr_pair", dtypes=WIDE)
def _qr_pair(make: Make) -> Iterator[Sample]:
    for shape in ANY_SHAPE:
        yield Sample(regular(make, *shape), "reduced", note=_note(shape))
    yield Sample(regular(make, 2, 3), "complete", note="complete")
    yield Sample(regular(make, 2, 3).mT, "reduced", note="transposed")


@samples("linalg_qr", dtypes=WIDE)
def _qr(make: Make) -> Iterator[Sample]:
    yield from of_matrices(regular, ANY_SHAPE)(make)
    yield Sample(regular(make, 2, 3), "complete", note="complete")


@samples("qr", dtypes=WIDE)
def _older_qr(make: Make) -> Iterator[Sample]:
    yield from of_matrices(regular, ANY_SHAPE)(make)
    yield Sample(regular(make, 2, 3), False, note="complete")


@error_samples("linalg_qr")
@error_samples("qr_pair")
def _qr_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 2), "full", error=RuntimeError, match="unrecognized mode")
    yield ErrorSample(make(2), "reduced", error=RuntimeError, match="at least 2 dimensions")


error_samples_for("linalg_qr qr svd linalg_svd linalg_svdvals", no_factors)
NOT_EMPTY = [s for s in ANY_SHAPE if 0 not in s]


@samples("svd_triple", dtypes=WIDE, stable=_svd_stable)
def _svd_triple(make: Make) -> Iterator[Sample]:
    for shape in ANY_SHAPE:
        yield Sample(regular(make, *shape), False, note=_note(shape))
    yield Sample(regular(make, 3, 3), True, note="full")
    yield Sample(regular(make, 2, 4).mT, False, note="transposed")


@error_samples("svd_triple")
def _svd_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), True, error=RuntimeError, match="at least 2 dimensions")


@error_samples("linalg_svd")
@error_samples("linalg_svdvals")
def _driver(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, 3), driver="gesvd", error=RuntimeError, match="CUDA")


NOT_UNIQUE = "with full matrices the vectors beyond the rank are not unique; svd_triple has the forward mode"
samples("linalg_svd", dtypes=WIDE, stable=_svd_stable, no_forward=NOT_UNIQUE)(
    of_matrices(regular, ANY_SHAPE, {"full_matrices": False})
)
samples("svd", dtypes=WIDE, stable=_older_svd_stable, no_forward=NOT_UNIQUE)(
    of_matrices(regular, ANY_SHAPE, {"some": False}, {"compute_uv": False})
)
samples("linalg_svdvals", dtypes=WIDE)(of_matrices(regular, ANY_SHAPE))


@samples("eigh_pair", dtypes=WIDE, stable=_vectors_stable, before=_symmetric_part)
def _eigh_pair(make: Make) -> Iterator[Sample]:
    for shape in SQUARE:
        for side in "LU":
            yield Sample(symmetric(make, *shape), side, note=_note(shape))


for _name in ("linalg_eigh", "linalg_eigvalsh"):
    _stable = {"stable": _vectors_stable} if _name == "linalg_eigh" else {}
    samples(_name, dtypes=WIDE, before=_symmetric_part, **_stable)(of_matrices(symmetric, SQUARE, {"UPLO": "U"}))
    error_samples(_name)(not_square)


@error_samples("eigh_pair")
@error_samples("linalg_eigh")
@error_samples("linalg_eigvalsh")
def _triangle(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(symmetric(make, 3, 3), "M", error=RuntimeError, match="'L' or 'U'")


@samples("eig_pair", dtypes=WIDE, stable=_vectors_stable)
def _eig_pair(make: Make) -> Iterator[Sample]:
    for shape in SQUARE:
        yield Sample(regular(make, *shape), note=_note(shape))


samples("linalg_eig", dtypes=WIDE, stable=_vectors_stable)(of_matrices(regular, SQUARE))
samples("linalg_eigvals", dtypes=WIDE)(of_matrices(regular, SQUARE))
error_samples_for("eig_pair linalg_eig linalg_eigvals", not_square)


@samples("cholesky_pair", dtypes=WIDE, before=_symmetric_part)
def _cholesky_pair(make: Make) -> Iterator[Sample]:
    for shape in SQUARE:
        for upper in (False, True):
            yield Sample(positive(make, *shape), upper, note=_note(shape))


for _name in ("linalg_cholesky_ex", "linalg_cholesky", "cholesky"):
    samples(_name, dtypes=WIDE, before=_symmetric_part)(of_matrices(positive, SQUARE, {"upper": True}))
    error_samples(_name)(not_square)


@error_samples("cholesky_pair")
def _cholesky_pair_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), False, error=RuntimeError, match="square")


@error_samples("linalg_cholesky")
@error_samples("cholesky")
def _not_positive(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make.of([[1, 0], [0, -1]]), error=LinAlgError, match="order 2")


@error_samples("linalg_cholesky_ex")
def _checked(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make.of([[1, 0], [0, -1]]), check_errors=True, error=LinAlgError, match="order 2")


samples("cholesky_inverse", dtypes=WIDE, before=_lower_part)(of_matrices(lower, SQUARE))
error_samples("cholesky_inverse")(not_square)

# Right-hand sides: shapes of B and A.
SYSTEMS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3, 2), (3, 3)),
    ((2, 3, 1), (2, 3, 3)),
    ((3, 2), (2, 3, 3)),
    ((0, 2), (0, 0)),
    ((3, 0), (3, 3)),
]


@samples("cholesky_solve", dtypes=WIDE, before=_one_part)
def _cholesky_solve(make: Make) -> Iterator[Sample]:
    for right, left in SYSTEMS:
        yield Sample(make(*right), lower(make, *left), note=_note(right))
    yield Sample(make(3, 2), lower(make, 3, 3).mT, True, note="upper")


@samples("cholesky_inverted", dtypes=WIDE, before=_lower_part)
def _cholesky_inverted(make: Make) -> Iterator[Sample]:
    for shape in SQUARE:
        yield Sample(lower(make, *shape), False, note=_note(shape))


@samples("cholesky_solution", dtypes=WIDE, before=_lower_part)
def _cholesky_solution(make: Make) -> Iterator[Sample]:
    for right, left in SYSTEMS[:2] + SYSTEMS[3:]:
        yield Sample(lower(make, *left), make(*right), False, note=_note(right))


@error_samples("cholesky_inverted")
def _cholesky_inverted_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), False, error=RuntimeError, match="square")


@error_samples("cholesky_solution")
def _cholesky_solution_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, 3), make(2, 2), False, error=RuntimeError, match="do not fit")
    yield ErrorSample(make(2, 3), make(2, 2), False, error=RuntimeError, match="square")


@error_samples("cholesky_solve")
def _cholesky_solve_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 2), lower(make, 3, 3), error=RuntimeError, match="")
    yield ErrorSample(make(3), lower(make, 3, 3), error=RuntimeError, match="at least 2 dimensions")


# Inverses and systems

samples("inverse_pair", dtypes=WIDE)(of_matrices(regular, SQUARE))
samples("linalg_inv_ex", dtypes=WIDE)(of_matrices(regular, SQUARE))
samples("linalg_inv", dtypes=WIDE)(of_matrices(regular, SQUARE))
samples("inverse", dtypes=WIDE)(of_matrices(regular, SQUARE))
error_samples_for("inverse_pair linalg_inv_ex linalg_inv inverse", not_square)
error_samples_for("linalg_inv inverse", singular)


@samples("solve_pair", dtypes=WIDE)
def _solve_pair(make: Make) -> Iterator[Sample]:
    for right, left in SYSTEMS[:2] + SYSTEMS[3:]:
        yield Sample(regular(make, *left), make(*right), note=_note(right))
    yield Sample(regular(make, 3, 3).mT, make(3, 2, layout="transposed"), note="transposed")


@samples("linalg_solve_ex", dtypes=WIDE)
@samples("linalg_solve", dtypes=WIDE)
def _solve(make: Make) -> Iterator[Sample]:
    for right, left in SYSTEMS:
        yield Sample(regular(make, *left), make(*right), note=_note(right))
    yield Sample(regular(make, 3, 3), make(3), note="vector")
    yield Sample(regular(make, 2, 3, 3), make(2, 3), note="a vector for each matrix")
    yield Sample(regular(make, 3, 3), make(2, 3), left=False, note="from the right")
    yield Sample(regular(make, 3, 3).mT, make(3, 2, layout="transposed"), note="transposed")


@error_samples("solve_pair")
@error_samples("linalg_solve_ex")
@error_samples("linalg_solve")
def _solve_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(2, 1), error=RuntimeError, match="square")
    yield ErrorSample(make(3, 3), make(2, 1), error=RuntimeError, match="Incompatible shapes")
    yield ErrorSample(make(3, 3), make(3, 1, dtype=tenfold.float64), error=RuntimeError, match="same dtype")


@error_samples("linalg_solve")
def _singular_system(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make.of([[1, 2], [2, 4]]), make(2), error=LinAlgError, match="singular")


@samples("triangular_solution", dtypes=WIDE)
def _triangular_solution(make: Make) -> Iterator[Sample]:
    for right, left in SYSTEMS[:2] + SYSTEMS[3:]:
        for upper, unit in ((False, False), (True, False), (False, True), (True, True)):
            yield Sample(regular(make, *left), make(*right), upper, unit, note=_note(right))


@samples("linalg_solve_triangular", dtypes=WIDE)
def _solve_triangular(make: Make) -> Iterator[Sample]:
    for right, left in SYSTEMS:
        for upper in (False, True):
            yield Sample(regular(make, *left), make(*right), upper=upper, note=_note(right))
    yield Sample(regular(make, 3, 3), make(2, 3), upper=True, left=False, note="from the right")
    yield Sample(regular(make, 3, 3), make(3, 2), upper=False, unitriangular=True, note="ones on the diagonal")


@error_samples("linalg_solve_triangular")
def _solve_triangular_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(2, 1), upper=True, error=RuntimeError, match="square")
    yield ErrorSample(make(3, 3), make(2, 1), upper=True, error=RuntimeError, match="Incompatible shapes")


@error_samples("triangular_solution")
def _triangular_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(2, 1), True, False, error=RuntimeError, match="square")


@samples("triangular_solve", dtypes=WIDE)
def _triangular_solve(make: Make) -> Iterator[Sample]:
    for right, left in SYSTEMS:
        yield Sample(make(*right), regular(make, *left), note=_note(right))
    for keywords in ({"upper": False}, {"transpose": True}, {"unitriangular": True}):
        yield Sample(make(3, 2), regular(make, 3, 3), note=str(*keywords), **keywords)


@error_samples("triangular_solve")
def _triangular_solve_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 1), make(2, 3), error=RuntimeError, match="square")
    yield ErrorSample(make(3), make(3, 3), error=RuntimeError, match="at least 2 dimensions")
