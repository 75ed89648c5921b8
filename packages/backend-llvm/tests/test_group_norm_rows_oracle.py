"""Group norm of rows (N, C), which is one pass over them, too, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import little_norms

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize(("shape", "groups"), [((1, 4), 1), ((4, 6), 2), ((5, 8), 2), ((64, 12), 3), ((3, 64), 4)])
def test_values_and_gradients(shape, groups, affine):
    rng = np.random.default_rng(0)
    x, weight, bias = rng.standard_normal(shape), rng.standard_normal(shape[1]), rng.standard_normal(shape[1])
    assert little_norms.plan_of(x.astype(np.float32), (None, None), groups) is not None
    found = []
    for lib in (tenfold, torch):
        given = [lib.from_numpy(a.copy()).requires_grad_() for a in (x, weight, bias)]
        made = lib.nn.functional.group_norm(given[0], groups, *(given[1:] if affine else ()))
        (made * lib.from_numpy(x.copy())).sum().backward()
        found.append([made.detach().numpy(), *(t.grad.numpy() for t in given[: 3 if affine else 1])])
    for ours, want in zip(*found, strict=True):
        np.testing.assert_allclose(ours, want, rtol=1e-9, atol=1e-9)
