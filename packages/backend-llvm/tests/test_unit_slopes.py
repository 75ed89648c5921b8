"""The compiled gradients of layers' units, against the formulas of tenfold-nn; at the limits, infinities, nan and -0.0 too."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import unit_slopes
from tenfold.llvm.session import session
from tenfold.nn.ops.units import slopes

pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")

NUMBERS = {
    "threshold": (0.5, 0.0),
    "hardtanh": (-1.0, 2.0),
    "leaky_relu": (0.125, 0.0),
    "shrink": (0.5, 0.0),
    "elu": (1.5, 0.5),
    "softplus": (2.0, 10.0),
}
TOLERANCE = {"float32": 1e-6, "float64": 1e-15, "bfloat16": 8e-3, "float16": 1e-3}
SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, 3.0, -3.0, 5.0, 88.0, -88.0, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kind", slopes.SLOPES)
def test_against_the_formulas(kind, dtype, turned):
    rng = np.random.default_rng(0)
    numbers = np.concatenate([SPECIAL, rng.standard_normal(600 - len(SPECIAL)) * 3]).reshape(30, 20)
    given = rng.standard_normal((30, 20))
    given[0, :4], given[3, :3] = [np.inf, -np.inf, np.nan, -0.0], [np.inf, np.nan, -0.0]
    a, b = NUMBERS.get(kind, (0.0, 0.0))
    x, g = (tenfold.from_numpy(n).to(getattr(tenfold, dtype)) for n in (numbers, given))
    x = x.t().contiguous().t() if turned else x
    with tenfold.no_grad():
        expected = slopes.SLOPES[kind](g, x, a, b).double().numpy()
        found = tenfold.op.fused_unit_grad(g, x, kind, a, b)
    assert found.dtype is x.dtype
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(found.double().numpy(), expected, rtol=4 * tolerance, atol=2 * tolerance)


@pytest.mark.parametrize("name", ["hardswish", "mish", "elu", "softplus", "softsign", "logsigmoid", "leaky_relu"])
def test_second_derivatives_go_by_the_formulas(name):
    x = tenfold.tensor([-2.5, -0.7, 0.4, 1.3], dtype=tenfold.float64).requires_grad_()
    unit = getattr(tenfold.nn.functional, name)
    assert tenfold.autograd.gradcheck(unit, (x,))
    assert tenfold.autograd.gradgradcheck(unit, (x,))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_limits_are_rounded_to_half_precision(dtype):
    x = tenfold.tensor([0.1 * (1 + k * 2.0**-9) for k in range(-2, 3)], dtype=getattr(tenfold, dtype))
    g = tenfold.ones_like(x)
    with tenfold.no_grad():
        assert tenfold.op.fused_unit_grad(g, x, "shrink", 0.1, 0.0).tolist() == slopes.SLOPES["shrink"](g, x, 0.1, 0.0).tolist()


def test_every_kind_is_compiled():
    assert unit_slopes.SLOPES.keys() == slopes.SLOPES.keys()
    x = np.ones(5, np.float32)
    for kind in slopes.SLOPES:
        assert unit_slopes.fused_unit_grad(x, x, kind, 0.5, 1.0) is not NotImplemented
    assert unit_slopes.fused_unit_grad(x, x[:, None], "mish", 0.0, 0.0) is NotImplemented
