"""Which dtypes operators accept, what they give for them and how they refuse the others: as PyTorch."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

DTYPES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
BINARY = (
    "floor_divide remainder fmod atan2 hypot copysign nextafter logaddexp logaddexp2 gcd lcm bitwise_left_shift "
    "bitwise_right_shift xlogy pow searchsorted bucketize heaviside clamp_min clamp_max rsub dot inner vdot maximum minimum lt"
).split()
UNARY = (
    "frac logit deg2rad rad2deg amax amin argmax argmin median nanmedian histc bincount sign "
    "signbit erf erfc erfinv floor ceil trunc round relu selu celu rand_like randn_like"
).split()
ACTIVATIONS = (
    "leaky_relu elu mish softplus logsigmoid silu hardshrink softshrink hardsigmoid hardswish gelu hardtanh relu6 glu"
).split()
REFUSALS = (RuntimeError, TypeError)


def outcome(call):
    """The dtype of the result, or the type of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(call().dtype).split(".")[-1]
        except REFUSALS as error:
            return type(error).__name__


def agree(ours, theirs, arguments=1):
    got, want = {}, {}
    for name in DTYPES:
        values = np.array([1, 1])
        x, y = tenfold.tensor(values).to(getattr(tenfold, name)), torch.tensor(values).to(getattr(torch, name))
        got[name], want[name] = outcome(lambda: ours(*[x] * arguments)), outcome(lambda: theirs(*[y] * arguments))  # noqa: B023
    assert got == want


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    agree(getattr(tenfold, name), getattr(torch, name), 2)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    agree(getattr(tenfold, name), getattr(torch, name))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    agree(getattr(tenfold.nn.functional, name), getattr(torch.nn.functional, name))


def test_others():
    agree(lambda x: tenfold.div(x, x, rounding_mode="trunc"), lambda x: torch.div(x, x, rounding_mode="trunc"))
    agree(lambda x: tenfold.multinomial(x, 1), lambda x: torch.multinomial(x, 1))
    agree(lambda x: tenfold.randint_like(x, 5), lambda x: torch.randint_like(x, 5))
    agree(lambda x: x.clone().pow_(x), lambda x: x.clone().pow_(x))


@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0, 3), (1, 0, 0, 4)])
def test_strides_of_empty_tensors(shape):
    assert tenfold.zeros(*shape).stride() == torch.zeros(*shape).stride()
    assert tenfold.zeros(*shape).stride(-1) == torch.zeros(*shape).stride(-1)


@pytest.mark.parametrize("lib", [tenfold, torch], ids=lambda lib: lib.__name__)
def test_numbers_are_sought_in_the_dtype_that_they_and_the_rows_promote_to(lib):
    assert lib.searchsorted(lib.tensor([2**24, 2**24 + 1]), 2**24 + 1).item() == 1
    assert lib.searchsorted(lib.tensor([0.1], dtype=lib.float64), 0.1).item() == 0
    assert lib.searchsorted(lib.tensor([0.1], dtype=lib.float32), 0.1).item() == 0
    assert lib.bucketize(1, lib.tensor([True, True])).item() == 0
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        lib.searchsorted(lib.tensor([True, True]), True)
