"""Half precision beside numbers that it holds and that it rounds, and functions of it: the short way's results, bit by bit, are
those of the full path, and PyTorch's.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import tenfold
from tenfold.dispatch.full import dispatch
from tenfold.dispatch.operators import find

torch = pytest.importorskip("torch")

NUMBERS = [
    0,
    0.0,
    -0.0,
    1,
    -1,
    2.0,
    0.5,
    -0.5,
    0.1,
    3,
    100,
    65504.0,
    65505,
    1e-8,
    2.0**-24,
    1e30,
    2**62,
    math.inf,
    -math.inf,
    math.nan,
]
BINARY = ["add", "sub", "mul", "div", "eq", "lt", "ge", "remainder", "fmod", "pow", "floor_divide", "clamp_min", "clamp_max",
          "copysign", "xlogy", "__rsub__", "__rtruediv__", "add_", "mul_", "div_", "sub_", "clamp_min_"]  # fmt: skip
UNARY = ["exp", "log", "sin", "tanh", "sigmoid", "sqrt", "rsqrt", "reciprocal", "erf", "log1p", "expm1", "exp_", "sqrt_"]
ULP = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
VALUES = [0.0, -0.0, 1.0, -1.5, 0.3, 7.0, 60000.0, 2.0**-20, math.inf, -math.inf, math.nan]


def by_full_path(x, name):
    """The method as a call that nothing shortens."""
    operator = find(name)
    return getattr(x, name) if operator is None else lambda *arguments: dispatch(operator, (x, *arguments), {})


def called(lib, name, dtype, shape, arguments, method=getattr):
    x = lib.tensor(VALUES).to(getattr(lib, dtype))[shape].clone()
    try:
        result = method(x, name)(*arguments)
    except (RuntimeError, OverflowError) as error:
        return type(error), None
    return str(result.dtype).rpartition(".")[2], result.to(lib.float64).numpy()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", BINARY)
def test_beside_numbers(name, dtype):
    for number in NUMBERS:
        for shape in (slice(None), slice(None, None, 2), slice(0, 0), 3):
            short = called(tenfold, name, dtype, shape, (number,))
            full = called(tenfold, name, dtype, shape, (number,), by_full_path)
            assert short[0] == full[0] == called(torch, name, dtype, shape, (number,))[0], number
            if short[1] is not None:
                np.testing.assert_array_equal(short[1], full[1])
                np.testing.assert_array_equal(np.signbit(short[1]), np.signbit(full[1]))
                expected = called(torch, name, dtype, shape, (number,))[1]
                np.testing.assert_allclose(short[1], expected, rtol=ULP[dtype], atol=2e-7)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", UNARY)
def test_functions(name, dtype):
    for shape in (slice(None), slice(None, None, 2), slice(0, 0), 3):
        short = called(tenfold, name, dtype, shape, ())
        full = called(tenfold, name, dtype, shape, (), by_full_path)
        assert short[0] == full[0] == dtype
        np.testing.assert_array_equal(short[1], full[1])
        expected = called(torch, name, dtype, shape, ())[1]
        np.testing.assert_allclose(short[1], expected, rtol=ULP[dtype], atol=2e-7)


@pytest.mark.parametrize("dtype", [tenfold.float16, tenfold.bfloat16])
def test_whole_numbers_beyond_int64_are_their_float(dtype):
    """PyTorch refuses them, as OverflowError, which those beyond float64 are here."""
    x = tenfold.tensor([1.0, -2.0]).to(dtype)
    for call in (lambda n: x * n, lambda n: x + n, lambda n: x > n, lambda n: x.clone().mul_(n), lambda n: n - x):
        for number in (10**30, -(2**70)):
            assert call(number).tolist() == call(float(number)).tolist()
        with pytest.raises(OverflowError):
            call(10**400)


def test_a_number_that_half_precision_holds_gets_no_gradient_and_gives_one():
    for dtype in (tenfold.float16, tenfold.bfloat16):
        x = tenfold.tensor([1.0, 3.0]).to(dtype).requires_grad_()
        y = (x * 0.5 + 2 - 1.0) / 4.0
        y.sum().backward()
        assert x.grad.dtype is dtype
        assert x.grad.tolist() == [0.125, 0.125]
        z = tenfold.ones(2, dtype=dtype)
        z.mul_(0.5).add_(1)
        assert z.tolist() == [1.5, 1.5]
