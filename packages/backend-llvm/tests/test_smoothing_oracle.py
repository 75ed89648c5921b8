"""Cross entropy of smoothed targets and its gradient, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import loss
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")


@pytest.mark.parametrize("smoothing", [0.1, 1.0, 0.0])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(5, 7), (64, 100), (700, 64), (3, 1)], ids=str)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_against_pytorch(dtype, tolerance, shape, reduction, smoothing):
    rng = np.random.default_rng(0)
    x, target = (rng.standard_normal(shape) * 5).astype(dtype), rng.integers(0, shape[1], shape[0])
    if shape[1] > 1:
        x[2, 1] = -np.inf  # a class that cannot be: an infinite loss where it has a share
    results = []
    for lib in (tenfold, torch):
        leaf = lib.from_numpy(x.copy()).requires_grad_()
        options = {"label_smoothing": smoothing, "reduction": reduction}
        found = lib.nn.functional.cross_entropy(leaf, lib.from_numpy(target), **options)
        found.sum().backward()
        results.append((found.detach().numpy(), leaf.grad.numpy()))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def test_which_are_served():
    x, target = np.ones((4, 3), np.float32), np.array([0, 1, 2, 0])
    assert loss.fused_cross_entropy(x, target, None, -100, 0.1, "mean") is not NotImplemented
    assert loss.fused_cross_entropy(x, target, np.ones(3, np.float32), -100, 0.1, "mean") is NotImplemented
    assert loss.fused_cross_entropy(x, np.array([0, 1, 3, 0]), None, -100, 0.1, "mean") is NotImplemented
    assert loss.fused_cross_entropy(x, target, None, 1, 0.1, "mean") is NotImplemented
