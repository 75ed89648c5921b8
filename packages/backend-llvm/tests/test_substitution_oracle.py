"""Solutions with triangles, from factors, and gathers by expanded positions, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels.factors import LARGEST, cholesky_solution, triangular_solution
from tenfold.llvm.kernels.gathering import gather
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
SIZES = [((), 1, 1), ((), 3, 2), ((4,), 5, 1), ((2, 3), 10, 17), ((2,), 33, 40), ((), 100, 3)]


def _pair(*shape, dtype="float64", seed=0):
    x = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return tenfold.from_numpy(x.copy()), torch.from_numpy(x.copy())


def _same(ours, theirs, tolerance, strides=True):
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert not strides or ours.stride() == theirs.stride()
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("batch", "N", "K"), SIZES)
def test_solutions(batch, N, K, dtype):
    tolerance = 1e-11 if dtype == "float64" else 2e-4
    (a, want_a), (b, want_b) = _pair(*batch, N, N, dtype=dtype), _pair(*batch, N, K, dtype=dtype, seed=1)
    a, want_a = (m.eye(N, dtype=x.dtype) * 3 * N**0.5 + x for m, x in ((tenfold, a), (torch, want_a)))
    for turn in (False, True):
        x, want_x = (a.mT, want_a.mT) if turn else (a, want_a)
        for upper in (False, True):
            for unit in (False, True):
                how = {"upper": upper, "unitriangular": unit}
                scaled = (x / (3 * N), want_x / (3 * N)) if unit else (x, want_x)
                solutions = (
                    m.linalg.solve_triangular(*of, **how) for m, of in ((tenfold, (scaled[0], b)), (torch, (scaled[1], want_b)))
                )
                _same(*solutions, tolerance)
            _same(tenfold.cholesky_solve(b, x, upper), torch.cholesky_solve(want_b, want_x, upper), tolerance)
        for adjoint in (False, True):
            both = ((tenfold, x, b), (torch, want_x, want_b))
            found, want = (m.linalg.lu_solve(*m.linalg.lu_factor(y), c, adjoint=adjoint) for m, y, c in both)
            _same(found, want, tolerance, strides=not adjoint)


def test_zeros_and_what_is_not_finite_on_a_diagonal():
    a = np.triu(np.arange(1.0, 10.0).reshape(3, 3))
    for value in (0.0, np.inf, np.nan):
        a[1, 1] = value
        x, want_x = tenfold.from_numpy(a.copy()), torch.from_numpy(a.copy())
        b, want_b = _pair(3, 2)
        found = tenfold.linalg.solve_triangular(x, b, upper=True).numpy()
        np.testing.assert_allclose(found[1:], torch.linalg.solve_triangular(want_x, want_b, upper=True).numpy()[1:])
        assert not np.isfinite(found[0]).any() or np.isinf(value)


@pytest.mark.parametrize("shape", [(2, 1), (3, 3), (5, 4, 4)])
def test_gradients(shape):
    found = []
    for m, x in zip((tenfold, torch), _pair(*shape[:-2], 3, 3), strict=True):
        a = (m.eye(3, dtype=m.float64) * 4 + x).detach().requires_grad_()
        b = m.ones(*shape[:-2], 3, 2, dtype=m.float64, requires_grad=True)
        (m.linalg.lu_solve(*m.linalg.lu_factor(a), b) + m.linalg.solve_triangular(a, b, upper=True)).cos().sum().backward()
        found.append((a.grad.numpy(), b.grad.numpy()))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_batches_that_are_broadcast():
    (a, want_a), (b, want_b) = _pair(4, 1, 3, 3), _pair(5, 3, 2, seed=1)
    a, want_a = a + 4 * tenfold.eye(3, dtype=tenfold.float64), want_a + 4 * torch.eye(3, dtype=torch.float64)
    found, want = (m.linalg.lu_solve(*m.linalg.lu_factor(x), y) for m, x, y in ((tenfold, a, b), (torch, want_a, want_b)))
    _same(found, want, 1e-10)


def test_what_is_compiled_serves_small_matrices():
    a, b = np.eye(4), np.ones((4, 2))
    assert triangular_solution(a, b, True, False) is not NotImplemented
    assert cholesky_solution(a, b, False) is not NotImplemented
    assert triangular_solution(np.eye(LARGEST + 1), np.ones((LARGEST + 1, 1)), True, False) is NotImplemented


def test_positions_that_are_expanded_are_gathered_by_compiled_code():
    x, index = np.arange(12.0, dtype=np.float32).reshape(4, 3), np.array([[2], [0]])
    found = gather(x, 0, np.broadcast_to(index, (2, 3)), False)
    assert found.tolist() == x[[2, 0]].tolist()
