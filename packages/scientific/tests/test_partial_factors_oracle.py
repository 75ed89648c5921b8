"""Cholesky factors of matrices that have none: as far as PyTorch's go."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tenfold  # noqa: E402


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(("size", "order"), [(1, 1), (3, 2), (8, 3), (40, 30)])
def test_a_factor_goes_as_far_as_it_can(dtype, upper, size, order):
    """The columns before the minor that is not positive, and what is left of its own diagonal, as minimizers use them."""
    rng = np.random.default_rng(size)
    a = rng.standard_normal((size, size)) + (1j * rng.standard_normal((size, size)) if dtype == "complex128" else 0)
    a = a @ a.conj().T + np.eye(size)
    a[order - 1, order - 1] = -1e-4
    found = []
    for t in (torch, tenfold):
        factor, info = t.linalg.cholesky_ex(t.tensor(np.stack([a, np.eye(size)])).to(getattr(t, dtype)), upper=upper)
        assert info.tolist() == [order, 0]
        lower = (factor[0].mH if upper else factor[0]).resolve_conj().numpy()
        found.append((lower[:, : order - 1], lower[order - 1, order - 1]))
    for expected, got in zip(*found):
        rtol, atol = (1e-4, 1e-5) if dtype == "float32" else (1e-10, 1e-12)
        np.testing.assert_allclose(got, expected, rtol, atol)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(("size", "row", "column"), [(1, 0, 0), (3, 0, 0), (5, 2, 2), (5, 3, 1)])
def test_a_factor_stops_at_what_is_no_number(dtype, upper, size, row, column):
    """What is below and right of a pivot of nan is the matrix's own, not nan."""
    a = np.random.default_rng(size).standard_normal((size, size))
    a = a @ a.T + np.eye(size)
    a[row, column] = a[column, row] = np.nan
    for stack in (a, np.stack([np.eye(size), a])):
        (expected, at), (got, mine) = (
            t.linalg.cholesky_ex(t.tensor(stack).to(getattr(t, dtype)), upper=upper) for t in (torch, tenfold)
        )
        assert (mine.tolist(), mine.dtype) == (at.tolist(), tenfold.int32)
        np.testing.assert_allclose(got.resolve_conj().numpy(), expected.resolve_conj().numpy(), 1e-4, 1e-5)
