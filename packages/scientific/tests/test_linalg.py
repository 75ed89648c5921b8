"""Linear algebra against its definitions and NumPy: products of the factors, errors, meta tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold import linalg

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def the_same_matrices_in_any_order() -> None:
    """Each test draws from the start: which tests ran before in its process must not decide how hard its matrices are."""
    RNG.bit_generator.state = np.random.default_rng(0).bit_generator.state


DTYPES = ["float32", "float64", "complex64", "complex128"]


def matrix(*shape: int, dtype: str = "float64") -> Any:
    a = RNG.standard_normal(shape)
    if dtype.startswith("complex"):
        a = a + 1j * RNG.standard_normal(shape)
    return tenfold.from_numpy(a.astype(dtype))


def close(a: Any, b: Any) -> None:
    assert a.dtype is b.dtype
    tolerance = 1e-4 if a.dtype in (tenfold.float32, tenfold.complex64) else 1e-10
    np.testing.assert_allclose(a.numpy(), b.numpy(), atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5), (2, 4, 3), (0, 3), (2, 0, 0)])
def test_factors_multiply_to_the_matrix(shape: Any, dtype: str) -> None:
    A = matrix(*shape, dtype=dtype)
    Q, R = linalg.qr(A)
    close(Q @ R, A)
    U, S, Vh = linalg.svd(A, full_matrices=False)
    close((U * S.unsqueeze(-2)) @ Vh, A)
    close(linalg.svdvals(A), S)
    P, L, U = linalg.lu(A)
    close(P @ L @ U, A)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", [(), (2,)])
def test_square_matrices(batch: Any, dtype: str) -> None:
    A, B = matrix(*batch, 4, 4, dtype=dtype), matrix(*batch, 4, 2, dtype=dtype)
    one = tenfold.eye(4, dtype=A.dtype).expand(A.shape)
    close(linalg.inv(A) @ A, one)
    close(A @ linalg.solve(A, B), B)
    close(linalg.solve(A, B.mT, left=False) @ A, B.mT)
    close(A @ linalg.lu_solve(*linalg.lu_factor(A), B), B)
    close(linalg.pinv(A), linalg.inv(A))
    close(linalg.matrix_power(A, -2) @ A @ A, one)
    sign, size = linalg.slogdet(A)
    close(sign * size.exp(), linalg.det(A))
    H = A @ A.mH
    values, V = linalg.eigh(H)
    close((V * values.unsqueeze(-2)) @ V.mH, H)
    for upper in (False, True):
        L = linalg.cholesky(H, upper=upper)
        close(L.mH @ L if upper else L @ L.mH, H)
        close(H @ tenfold.cholesky_solve(B, L, upper), B)
        close(H @ tenfold.cholesky_inverse(L, upper), one)
    values, V = linalg.eig(A)
    close(A.to(V.dtype) @ V, V * values.unsqueeze(-2))


def test_large_lu_agrees_with_the_solver() -> None:
    A, B = matrix(100, 100), matrix(100, 3)
    P, L, U = linalg.lu(A)
    close(P @ L @ U, A)
    close(linalg.lu_solve(*linalg.lu_factor(A), B), linalg.solve(A, B))
    close(linalg.lu_solve(*linalg.lu_factor(A), B, adjoint=True), linalg.solve(A.mH, B))


def test_triangular_reads_one_triangle() -> None:
    A, B = matrix(4, 4), matrix(4, 2)
    close(A.triu() @ linalg.solve_triangular(A, B, upper=True), B)
    close(A.tril() @ linalg.solve_triangular(A, B, upper=False), B)
    unit = A.tril(-1) + tenfold.eye(4, dtype=A.dtype)
    close(unit @ linalg.solve_triangular(A, B, upper=False, unitriangular=True), B)
    singular = linalg.solve_triangular(tenfold.tensor([[0.0]]), tenfold.tensor([[1.0]]), upper=True)
    assert singular.item() == float("inf")


def test_least_squares_and_rank() -> None:
    A, B = matrix(6, 3), matrix(6, 2)
    found = linalg.lstsq(A, B, driver="gelsd")
    expected, residuals, rank, values = np.linalg.lstsq(A.numpy(), B.numpy(), rcond=None)
    np.testing.assert_allclose(found.solution.numpy(), expected)
    np.testing.assert_allclose(found.residuals.numpy(), residuals)
    np.testing.assert_allclose(found.singular_values.numpy(), values)
    assert found.rank.item() == rank
    assert linalg.matrix_rank(tenfold.ones(3, 3)).item() == 1


def test_named_results() -> None:
    A = tenfold.eye(2)
    assert linalg.qr(A)._fields == ("Q", "R")
    assert linalg.svd(A)._fields == ("U", "S", "Vh")
    assert tenfold.svd(A)._fields == ("U", "S", "V")
    assert linalg.lu_factor_ex(A)._fields == ("LU", "pivots", "info")
    assert linalg.lstsq(A, A)._fields == ("solution", "residuals", "rank", "singular_values")


SINGULAR = tenfold.tensor([[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize(
    "call",
    [
        lambda: linalg.inv(SINGULAR),
        lambda: tenfold.inverse(tenfold.stack([tenfold.eye(2), SINGULAR])),
        lambda: linalg.solve(SINGULAR, tenfold.ones(2)),
        lambda: linalg.cholesky(-tenfold.eye(2)),
        lambda: linalg.lu_factor(tenfold.zeros(2, 2)),
        lambda: linalg.svd(tenfold.full((2, 2), float("nan"))),
        lambda: linalg.inv_ex(SINGULAR, check_errors=True),
    ],
)
def test_matrices_without_a_result(call: Any) -> None:
    with pytest.raises(linalg.LinAlgError, match=r"linalg\.|svd"):
        call()
    assert issubclass(linalg.LinAlgError, RuntimeError)


def test_info_says_where() -> None:
    batch = tenfold.stack([tenfold.eye(2), SINGULAR])
    assert linalg.inv_ex(batch).info.tolist() == [0, 2]
    assert linalg.inv_ex(batch).inverse[0].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert linalg.cholesky_ex(tenfold.diag(tenfold.tensor([1.0, 1.0, -1.0]))).info.item() == 3
    with pytest.raises(linalg.LinAlgError, match="Batch element 1"):
        linalg.inv(batch)


@pytest.mark.parametrize(
    "call",
    [
        lambda: linalg.inv(tenfold.ones(2, 3)),
        lambda: linalg.inv(tenfold.ones(2)),
        lambda: linalg.qr(tenfold.ones(2, 2, dtype=tenfold.int64)),
        lambda: linalg.svd(tenfold.ones(2, 2, dtype=tenfold.float16)),
        lambda: linalg.svd(tenfold.ones(2, 2, dtype=tenfold.bfloat16)),
        lambda: linalg.qr(tenfold.ones(2, 2), mode="other"),
        lambda: linalg.solve(tenfold.eye(2), tenfold.ones(3, 2)),
        lambda: linalg.norm(tenfold.ones(2, 2), "other"),
        lambda: linalg.matrix_norm(tenfold.ones(2)),
        lambda: linalg.multi_dot([tenfold.ones(2, 2)]),
        lambda: linalg.eigh(tenfold.eye(2), "X"),
    ],
)
def test_wrong_use(call: Any) -> None:
    with pytest.raises(RuntimeError, match=r"linalg|qr|multi_dot|svd"):
        call()


def test_meta() -> None:
    A = tenfold.empty(2, 5, 3, device="meta")
    assert [tuple(x.shape) for x in linalg.qr(A)] == [(2, 5, 3), (2, 3, 3)]
    assert [tuple(x.shape) for x in linalg.svd(A)] == [(2, 5, 5), (2, 3), (2, 3, 3)]
    assert linalg.inv(tenfold.empty(3, 3, device="meta")).shape == (3, 3)
