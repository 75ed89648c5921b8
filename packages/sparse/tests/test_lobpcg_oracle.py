"""Extreme eigenvalues of sparse matrices are those that PyTorch finds."""

import pytest

import tenfold

torch = pytest.importorskip("torch")


def values(lib, layout, largest, with_B):
    lib.manual_seed(0)
    A = lib.diag(lib.arange(1.0, 61.0, dtype=lib.float64))
    A[0, 59] = A[59, 0] = 5.0
    B = (2 * lib.eye(60, dtype=lib.float64)).to_sparse() if with_B else None
    found, vectors = lib.lobpcg(getattr(A, layout)(), 2, B, largest=largest)
    assert (A @ vectors - (2 if with_B else 1) * vectors * found).abs().max().item() < 1e-4
    return found.tolist()


@pytest.mark.parametrize("with_B", [False, True])
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("layout", ["to_sparse_coo", "to_sparse_csr"])
def test_extremes_of_a_sparse_matrix(layout, largest, with_B):
    wanted = values(torch, "to_sparse_coo", largest, with_B)
    assert values(tenfold, layout, largest, with_B) == pytest.approx(wanted, rel=1e-8)
