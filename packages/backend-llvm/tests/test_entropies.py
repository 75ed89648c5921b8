"""Compiled binary cross entropies and their gradients, against the formulas of tenfold-nn."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.dispatch.runtime import RUNTIME
from tenfold.llvm.kernels import entropies
from tenfold.llvm.session import session

pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")

TOLERANCE = {"float32": 1e-6, "float64": 1e-14, "bfloat16": 8e-3, "float16": 1e-3}


def body(name, *arguments):
    """The operator's value by its definition in other operators."""
    operator = getattr(tenfold.op, name)
    with tenfold.no_grad():
        return RUNTIME["in_pieces"](operator, dict(zip([p.name for p in operator.params], arguments, strict=True)))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_against_the_formulas(dtype, turned):
    rng = np.random.default_rng(0)
    p, t, g, x, w = rng.random((20, 30)), rng.random((20, 30)), *rng.standard_normal((2, 20, 30)), rng.random(30) * 3
    p[0, :6], t[0, :6] = [0, 1, 0, 1, 0.5, np.nan], [0, 1, 1, 0, 0.5, 1]
    x[0, :8] = [np.inf, -np.inf, np.nan, 0.0, -0.0, 100.0, -100.0, 30.0]
    p, t, g, x, w = (tenfold.from_numpy(a).to(getattr(tenfold, dtype)) for a in (p, t, g, x * 3, w))
    if turned:
        p, x = p.t().contiguous().t(), x.t().contiguous().t()
    tolerance = TOLERANCE[dtype]
    for name, arguments in (
        ("binary_entropies", (p, t)),
        ("binary_entropies_grad", (g, p, t)),
        ("logit_entropies", (x, t, None)),
        ("logit_entropies", (x, t, w)),
        ("logit_entropies_grad", (g, x, t, None)),
    ):
        found = getattr(tenfold.op, name)(*arguments)
        expected = body(name, *arguments)
        assert found.dtype is expected.dtype
        np.testing.assert_allclose(found.double().numpy(), expected.double().numpy(), rtol=8 * tolerance, atol=8 * tolerance)


def test_which_are_served():
    x = np.full((3, 4), 0.5, np.float32)
    assert entropies.binary_entropies(x, x) is not NotImplemented
    assert entropies.binary_entropies(x, x[0]) is NotImplemented
    assert entropies.logit_entropies(x, x, np.ones(4, np.float32)) is not NotImplemented
    assert entropies.logit_entropies(x, x, np.ones(4)) is NotImplemented
    assert entropies.logit_entropies_grad(x, x, x, np.ones(4, np.float32)) is NotImplemented


def test_what_is_no_probability_is_refused():
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(RuntimeError, match="between 0 and 1"):
            tenfold.nn.functional.binary_cross_entropy(tenfold.tensor([0.5, wrong]), tenfold.tensor([0.5, 0.5]))
