"""Second derivatives of activations that are straight pieces, compiled, against PyTorch's."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
NAMES = ("threshold", "hardshrink", "softshrink", "hardtanh", "relu6", "leaky_relu")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_has_derivative_zero(name: str, dtype: str) -> None:
    """It is zero, not an error that says that the gradient depends on nothing."""
    points = [-7.0, -3.0, -1.0, -0.5, 0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 6.0, 7.0, nan, inf, -inf]
    found = []
    for lib in (torch, tenfold):
        x = lib.tensor(points, dtype=getattr(lib, dtype), requires_grad=True)
        f = getattr(lib.nn.functional, name)
        (g,) = lib.autograd.grad(f(x, *((0.1, 2.0) if name == "threshold" else ())).sum(), x, create_graph=True)
        (second,) = lib.autograd.grad(g.sum(), x)
        found.append((g.detach().numpy(), second.numpy()))
    for ours, theirs in zip(found[1], found[0]):
        np.testing.assert_array_equal(ours, theirs)
