"""Products blended with a tensor: what a zero beta leaves of its value and of its gradient, beside PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS = {
    "addmm": ((2, 2), (2, 3), (3, 2)),
    "addmv": ((2,), (2, 3), (3,)),
    "baddbmm": ((4, 2, 2), (4, 2, 3), (4, 3, 2)),
    "addbmm": ((2, 2), (4, 2, 3), (4, 3, 2)),
    "addr": ((2, 3), (2,), (3,)),
}


@pytest.mark.parametrize("beta", [0, 0.0, 1, 0.5])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", CALLS)
def test_what_a_blend_leaves_of_its_input(name, dtype, beta):
    def outcome(lib):
        given = [np.arange(1, 1 + np.prod(shape)).reshape(shape) / 8 for shape in CALLS[name]]
        if beta == 0:
            given[0].flat[:2] = np.nan, np.inf
        leaves = [lib.tensor(a.tolist(), dtype=getattr(lib, dtype), requires_grad=True) for a in given]
        result = getattr(lib, name)(*leaves, beta=beta)
        result.sum().backward()
        return [x.detach().double().tolist() for x in (result, *(leaf.grad for leaf in leaves))]

    for found, expected in zip(outcome(tenfold), outcome(torch)):
        np.testing.assert_allclose(found, expected, rtol=1e-2 if dtype == "bfloat16" else 1e-6)
