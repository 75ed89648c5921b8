"""Systems and inverses with NaN and infinities: where they go, against PyTorch."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tenfold  # noqa: E402

VALUES = [np.nan, np.inf, -np.inf]
SIZES = [1, 2, 3, 5, 20]


def systems(size: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(size)
    return (rng.standard_normal((size, size)) + 2 * np.eye(size)).astype(dtype), rng.standard_normal((size, 2)).astype(dtype)


def places(size: int) -> list[tuple[int, int]]:
    """Corners and what lies beside the diagonal, above and below."""
    return sorted(set(itertools.product({0, size // 2, size - 1}, repeat=2)))


def agree(name: str, *given: np.ndarray, **options: bool) -> None:
    ours, theirs = (getattr(t.linalg, name)(*[t.tensor(a) for a in given], **options).numpy() for t in (tenfold, torch))
    rtol, atol = (1e-3, 1e-4) if given[0].dtype == np.float32 else (1e-9, 1e-10)
    np.testing.assert_allclose(ours, theirs, rtol, atol)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_matrix(dtype, size, value):
    for place in places(size):
        A, B = systems(size, dtype)
        A[place] = value
        agree("solve", A, B)
        agree("solve", A, B[:, 0].copy())
        agree("inv", A)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_complex_matrix_with_nan(dtype, size):
    """Where infinities go depends on how a complex product is written."""
    for place in places(size):
        A, B = systems(size, dtype)
        A[place] = np.nan
        agree("solve", A, B)
        agree("inv", A)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("size", [*SIZES, 40])
@pytest.mark.parametrize(("upper", "unitriangular"), [*itertools.product([False, True], repeat=2)])
def test_a_triangle(upper, unitriangular, size, value):
    for row, column in places(size):
        A, B = systems(size, "float64")
        A[row, column] = value
        agree("solve_triangular", A, B, upper=upper, unitriangular=unitriangular)
        A, B = systems(size, "float64")
        B[row, column % 2] = value
        agree("solve_triangular", A, B, upper=upper, unitriangular=unitriangular)


def test_matrices_of_a_batch_know_nothing_of_each_other():
    A, B = (np.stack(parts) for parts in zip(*[systems(3, "float32")] * 4, strict=True))
    A[1, 0, 0], A[3, 2, 1], B[2, 1, 1] = np.nan, np.inf, np.nan
    for name, given in [("solve", (A, B)), ("inv", (A,)), ("solve_triangular", (A, B))]:
        options = {"upper": True} if name == "solve_triangular" else {}
        agree(name, *given, **options)
        alone = getattr(tenfold.linalg, name)(*[tenfold.tensor(a[:1]) for a in given], **options).numpy()
        np.testing.assert_array_equal(getattr(tenfold.linalg, name)(*map(tenfold.tensor, given), **options).numpy()[:1], alone)


def test_singular_ones_are_found_beside_nan():
    A = np.array([[[np.nan, 1], [2, 3]], [[1, 1], [1, 1]], [[0, np.nan], [0, 1]], [[2, 0], [0, 4]]], np.float32)
    ours, theirs = (t.linalg.inv_ex(t.tensor(A)) for t in (tenfold, torch))
    assert ours.info.tolist() == theirs.info.tolist() == [0, 2, 1, 0]
    np.testing.assert_array_equal(ours.inverse[::3].numpy(), theirs.inverse[::3].numpy())
    with pytest.raises(tenfold.linalg.LinAlgError):
        tenfold.linalg.solve(tenfold.tensor(A), tenfold.ones(4, 2, 1))
