"""Compiled distances of all pairs of rows, and their gradients, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels.distances import fused_distances, fused_distances_grad
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
INF = float("inf")
SIZES = [(1, 1, 1), (3, 4, 5), (8, 8, 10), (30, 31, 70), (5, 2, 200)]


def _close(ours, theirs, dtype):
    rtol, atol = (1e-4, 1e-5) if dtype == "float32" else (1e-10, 1e-12)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=rtol, atol=atol)


def _rows(*shape, dtype, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _weights(m, d):
    return m.cos(m.arange(d.numel(), dtype=d.dtype)).reshape(tuple(d.shape))


@pytest.mark.parametrize("p", [1.0, 2.0, INF])
@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("P", "R", "M"), SIZES)
def test_distances_of_two_matrices(P, R, M, dtype, batch, p):
    a, c = _rows(*batch, P, M, dtype=dtype, seed=1), _rows(*batch, R, M, dtype=dtype, seed=2)
    if P > 1:
        c[..., 0, :] = a[..., 1, :]  # of which the distance is 0
    found = []
    for m in (tenfold, torch):
        x, y = (m.from_numpy(rows.copy()).requires_grad_() for rows in (a, c))
        d = m.cdist(x, y, p, compute_mode="donot_use_mm_for_euclid_dist")
        (d * _weights(m, d)).sum().backward()
        found.append((d, x.grad, y.grad, m.cdist(x.detach(), y.detach(), p)))
    _close(found[0][:3], found[1][:3], dtype)
    # PyTorch's product of matrices leaves a distance to equal rows.
    np.testing.assert_allclose(found[0][3].numpy(), found[1][3].numpy(), rtol=1e-4, atol=2e-2)


@pytest.mark.parametrize("p", [1.0, 2.0, INF])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("rows", "M"), [(2, 1), (5, 3), (17, 33), (40, 200)])
def test_distances_of_pairs_of_rows(rows, M, dtype, p):
    found = []
    for m in (tenfold, torch):
        x = m.from_numpy(_rows(rows, M, dtype=dtype, seed=3)).requires_grad_()
        d = m.nn.functional.pdist(x, p)
        (d * _weights(m, d)).sum().backward()
        found.append((d, x.grad, m.nn.functional.pdist(x.detach().flip(0), p)))
    _close(*found, dtype)


@pytest.mark.parametrize("p", [1.0, 2.0, INF])
def test_what_is_not_finite(p):
    a, c = _rows(4, 5, dtype="float64", seed=4), _rows(3, 5, dtype="float64", seed=5)
    a[1, 2], a[2, 3], c[2, 4] = np.inf, -np.inf, 1e300
    if p < INF:  # PyTorch's largest of a row leaves out what is nan
        a[0, 1], c[1, 3] = np.nan, -np.inf
    how = "donot_use_mm_for_euclid_dist"
    ours, theirs = (m.cdist(m.from_numpy(a), m.from_numpy(c), p, how).numpy() for m in (tenfold, torch))
    np.testing.assert_allclose(ours, theirs)


def test_which_calls_are_served():
    x = np.ones((3, 4), np.float32)
    for second in (x, None):
        d = fused_distances(x, second, 2.0, False)
        assert fused_distances_grad(np.ones_like(d), x, second, d, 2.0, False).tolist() == np.zeros((3, 4)).tolist()
    assert fused_distances(x, x, 3.0, False) is NotImplemented
    assert fused_distances(np.ones((300, 200), np.float32), np.ones((300, 200), np.float32), 2.0, True) is NotImplemented


@pytest.mark.parametrize("p", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4)])
def test_distances_of_columns_and_their_gradients_lie_row_by_row(shape, p):
    for m in (tenfold, torch):
        rows = [m.rand(*shape).mT.contiguous().mT.requires_grad_() for _ in range(2)]
        columns = [x.mT.clone(memory_format=m.contiguous_format).mT for x in rows]
        d = m.cdist(*columns, p)
        found = m.autograd.grad(d, columns, m.ones_like(d))
        assert [x.is_contiguous() for x in (d, *found)] == [True, True, True]


SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, 1.0, -2.0, 2.5]


@pytest.mark.parametrize("p", [1.0, INF])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_and_infinities_among_few_numbers(dtype, p):
    """The signs of nan are nan; the largest of two matrices' differences is that of those that are known."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        P, R, M = rng.integers(1, 5), rng.integers(1, 4), rng.integers(1, 20)
        a, b = (rng.choice(SPECIAL, (rows, M)).astype(dtype) for rows in (P, R))
        g = rng.choice([0, 1, -1.5], (P, R)).astype(dtype)
        found = []
        for lib in (tenfold, torch):
            x, y = lib.tensor(a, requires_grad=True), lib.tensor(b, requires_grad=True)
            lengths = lib.cdist(x, y, p=p)
            lengths.backward(lib.tensor(g))
            z = lib.tensor(a, requires_grad=True)
            own = lib.nn.functional.pdist(z, p=p)
            own.sum().backward()
            quiet = lib.cdist(x.detach(), y.detach(), p=p), lib.nn.functional.pdist(z.detach(), p=p)
            results = [lengths, own, *quiet] + ([x.grad, y.grad, z.grad] if len(own) else [x.grad, y.grad])
            found.append([t.detach().numpy() for t in results])
        for mine, theirs in zip(*found):
            np.testing.assert_array_equal(mine, theirs)
