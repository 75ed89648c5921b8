"""Formulas from the bodies of composite operators, against the bodies themselves."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold import llvm, op
from tenfold.dispatch.kernels import table
from tenfold.llvm.expressions import load
from tenfold.llvm.kernels import activation, pointwise, units  # noqa: F401 - whose formulas the bodies are made of
from tenfold.llvm.kernels.composites import ROUNDED
from tenfold.llvm.tracing import NotLowered, formula_of

CALLS = [
    ("leaky_relu", ()), ("leaky_relu", (0.3,)), ("elu", ()), ("elu", (2.0,)), ("celu", (0.5,)), ("selu", ()), ("mish", ()),
    ("softplus", ()), ("softplus", (2.0, 5.0)), ("softsign", ()), ("tanhshrink", ()), ("hardshrink", (0.3,)),
    ("softshrink", (0.2,)), ("hardsigmoid", ()), ("hardtanh", (-2.0, 1.0)), ("threshold", (0.5, 3.0)),
]  # fmt: skip


def numbers(dtype):
    values = np.random.default_rng(0).standard_normal((50, 70)) * 4
    values.flat[:6] = 0, -0.0, np.inf, -np.inf, np.nan, 1e30
    return tenfold.tensor(values, dtype=dtype)


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.bfloat16])
@pytest.mark.parametrize(("name", "options"), CALLS)
def test_values_are_those_of_the_body(name, options, dtype):
    x = numbers(dtype)
    operator = getattr(op, name)
    body = getattr(operator.body, "__wrapped__", operator.body)
    expected = body(x.double(), *options).numpy()
    tolerance = {tenfold.float32: 3e-6, tenfold.float64: 1e-13, tenfold.bfloat16: 1e-2}[dtype]
    for view in (lambda t: t, lambda t: t.T, lambda t: t[::2, 1:]):
        got = operator.fn(view(x), *options)
        assert got.dtype is dtype
        wide = view(tenfold.from_numpy(expected))
        np.testing.assert_allclose(got.double().numpy(), wide.numpy(), rtol=tolerance, atol=tolerance)
    assert llvm.explain(operator, x, *options).served == (name not in ROUNDED or dtype.itemsize > 2)


def test_options_of_which_there_are_many_go_to_the_body():
    x = tenfold.randn(300)
    for i in range(40):
        slope = 0.01 * i
        np.testing.assert_allclose(
            op.leaky_relu.fn(x, slope).numpy(), np.where(x.numpy() > 0, x.numpy(), x.numpy() * np.float32(slope)), rtol=1e-6
        )


def test_the_bodys_refusals_stay():
    with pytest.raises(RuntimeError, match="alpha cannot be 0 for CELU"):
        op.celu.fn(tenfold.randn(3), 0.0)
    with pytest.raises(RuntimeError, match="lambda must be greater or equal to 0"):
        op.softshrink.fn(tenfold.randn(3), -1.0)
    with pytest.raises(ValueError, match="min_val cannot be greater than max_val"):
        op.hardtanh.fn(tenfold.randn(3), 2.0, 1.0)


def test_gradients_go_through_the_body():
    x = tenfold.tensor([-1.0, 2.0], requires_grad=True)
    op.leaky_relu.fn(x, 0.25).sum().backward()
    assert x.grad.tolist() == [0.25, 1.0]


def test_what_is_no_formula_says_so():
    with pytest.raises(NotLowered):
        formula_of(op.softmin, {"dim": -1}, [load(0, "float")])


def test_a_tensor_in_a_number_s_place_goes_to_the_body() -> None:
    x = np.array([0.125, 0.5, 0.75, -0.5], np.float32)
    kernel = table("cpu").threshold
    for _ in range(2):
        np.testing.assert_array_equal(kernel(x, np.array(0.125, np.float32), 3.0), [3, 0.5, 0.75, 3])
