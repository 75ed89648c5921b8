"""Layers' units: kernels against bodies, forms in place, half precision."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import tenfold
from tenfold.dispatch.operators import OPERATORS
from tenfold.nn.ops.units import curves, gates

MODULES = (curves.__name__, gates.__name__)
NAMES = [n for n, o in sorted(OPERATORS.items()) if o.declared.__module__ in MODULES and not o.inplace_of]
X = np.array([[-2.5, -1.0, -0.5], [0.5, 1.0, 2.5]])


def t(x):
    return tenfold.tensor(x)


def test_kernels_of_composites_agree_with_the_bodies():
    for dtype in (np.float32, np.float64):
        x = np.linspace(-6, 6, 97).astype(dtype)
        for name, arguments in [("gelu", ("none",)), ("gelu", ("tanh",)), ("silu", ())]:
            operator = tenfold.op.gelu if name == "gelu" else tenfold.op.silu
            body = operator.body(t(x), *arguments).numpy()
            np.testing.assert_allclose(getattr(tenfold, name)(t(x), *arguments).numpy(), body, rtol=2e-5, atol=1e-6)


def test_inplace_activations():
    for name in ("relu", "elu", "silu", "hardtanh", "leaky_relu", "selu", "celu", "relu6", "mish", "hardswish"):
        fn, x = getattr(tenfold, name), t(X)
        want = fn(t(X)).numpy()
        assert fn(x, inplace=True) is x
        np.testing.assert_array_equal(x.numpy(), want)


def test_functions_of_nn_functional_are_no_methods():
    for name in ("gelu", "silu", "elu", "softplus", "glu"):
        assert not hasattr(tenfold.Tensor, name)


@pytest.mark.parametrize("dtype", [tenfold.float16, tenfold.bfloat16], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_half_precision_activations_round_once(name, dtype):
    operator = OPERATORS[name]
    if [p.name for p in operator.params if p.default is inspect.Parameter.empty] != ["input"]:
        return
    x = tenfold.tensor([-8.0, -1.3, 0.0, 0.7, 12.0, 300.0], dtype=dtype)
    assert operator.fn(x).equal(operator.fn(x.float()).to(dtype))


def test_exponential_units_keep_the_sign_of_zero():
    for name in ("elu", "celu", "selu"):
        assert np.signbit(getattr(tenfold, name)(tenfold.tensor([-0.0, 0.0])).numpy()).tolist() == [True, False], name
