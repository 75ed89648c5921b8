"""Compiled cosines and distances of pairs of rows, and their gradients, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels.row_pairs import fused_row_pairs, fused_row_pairs_grad
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
CALLS = {
    "cosine": lambda m, x, y, dim: m.nn.functional.cosine_similarity(x, y, dim=dim),
    "cosine, eps": lambda m, x, y, dim: m.nn.functional.cosine_similarity(x, y, dim=dim, eps=3.0),
    "distance": lambda m, x, y, dim: m.nn.functional.pairwise_distance(x, y),
    "distance, kept": lambda m, x, y, dim: m.nn.functional.pairwise_distance(x, y, keepdim=True),
    "triplet": lambda m, x, y, dim: m.nn.functional.triplet_margin_loss(x, y, y.flip(0)),
    "embedding": lambda m, x, y, dim: m.nn.functional.cosine_embedding_loss(x.flatten(1), y.flatten(1), m.ones(len(x))),
}


def _pair(m, shape, kind):
    x, y = np.random.default_rng(4).standard_normal((2, *shape)).astype(np.float32)
    if kind == "same":
        y = x.copy()
    elif kind == "zeros":
        x[:1], y[-1:] = 0, 0
    elif kind == "hard":
        x.reshape(-1)[0], y.reshape(-1)[-1], x.reshape(-1)[5] = np.inf, np.nan, 1e30
    return m.from_numpy(x).requires_grad_(), m.from_numpy(y).requires_grad_()


@pytest.mark.parametrize("kind", ["numbers", "same", "zeros", "hard"])
@pytest.mark.parametrize("shape", [(8, 10), (5, 33), (3, 4, 20)])
@pytest.mark.parametrize("call", CALLS)
def test_values_and_gradients(call, shape, kind):
    for dim in (0, 1, -1):
        found = []
        for m in (tenfold, torch):
            x, y = _pair(m, shape, kind)
            out = CALLS[call](m, x, y, dim)
            out.sum().backward()
            found.append((out, x.grad, y.grad))
        for ours, theirs in zip(*found, strict=True):
            assert tuple(ours.shape) == tuple(theirs.shape)
            if kind != "hard" or ours is found[0][0]:
                np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=2e-5, atol=2e-6)


def test_gradients_of_gradients():
    found = []
    for m in (tenfold, torch):
        x, y = _pair(m, (4, 6), "numbers")
        (slope,) = m.autograd.grad(m.nn.functional.cosine_similarity(x, y).sum(), x, create_graph=True)
        found.append(m.autograd.grad(slope.square().sum(), (x, y)))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4, atol=1e-6)


def test_which_calls_are_served():
    x = np.ones((3, 4), np.float32)
    for kind in ("cosine", "distance"):
        out, lengths = fused_row_pairs(x, x, kind, 1e-8, 2.0)
        assert len(fused_row_pairs_grad(out, x, x, out, lengths, kind, 1e-8, 2.0)) == 2
        out, lengths = fused_row_pairs(x[0], x[0], kind, 1e-8, 2.0)  # of one row alone
        assert (out.shape, fused_row_pairs_grad(out, x[0], x[0], out, lengths, kind, 1e-8, 2.0)[0].shape) == ((), (4,))
    assert fused_row_pairs(x, x, "distance", 1e-8, 1.0) is NotImplemented
    assert fused_row_pairs(x.astype(float), x.astype(float), "cosine", 1e-8, 2.0) is NotImplemented
