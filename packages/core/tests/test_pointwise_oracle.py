"""Elementwise operators against PyTorch: result dtype and value for every pair of dtypes, as tensor, 0-d and number."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

DTYPES = ("bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64")
NUMBERS = (True, 3, -1, 2.5, 1 + 2j)
BINARY = (
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "float_power", "atan2", "hypot", "copysign",
    "maximum", "minimum", "fmax", "fmin", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm", "xlogy",
    "logaddexp", "logaddexp2", "nextafter", "rsub",
)  # fmt: skip
UNARY = (
    "neg", "abs", "sign", "sgn", "square", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt",
    "reciprocal", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sinc",
    "erf", "erfc", "erfinv", "sigmoid", "logit", "floor", "ceil", "round", "trunc", "frac", "signbit", "isnan", "isinf",
    "isfinite", "isposinf", "isneginf", "isreal", "nan_to_num", "deg2rad", "rad2deg", "angle", "logical_not",
    "bitwise_not", "conj_physical", "positive", "relu",
)  # fmt: skip
TOLERANCE = {
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "complex32": 4e-3,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float64": 1e-7,
    "complex128": 1e-7,
}


def both(values, dtype):
    theirs = torch.tensor(values, dtype=torch.float64).to(getattr(torch, dtype))
    wide = theirs.to(torch.complex128).numpy() if theirs.is_complex() else theirs.to(torch.float64).numpy()
    return tenfold.tensor(wide.tolist(), dtype=getattr(tenfold, dtype)), theirs


def numpy_of(x):
    lib = torch if isinstance(x, torch.Tensor) else tenfold
    if x.dtype in (lib.bfloat16, lib.complex32):
        x = x.to(lib.float32 if x.dtype is lib.bfloat16 else lib.complex64)
    return x.resolve_conj().numpy()


def agree(name, ours, theirs, what):
    """Both succeed with one dtype and value. Where PyTorch refuses, Tenfold may compute or refuse."""
    try:
        want = theirs()
    except (RuntimeError, TypeError):
        return False
    got = ours()
    assert str(got.dtype).split(".")[1] == str(want.dtype).split(".")[1], f"{name}({what})"
    tolerance = TOLERANCE.get(str(want.dtype).split(".")[1], 0)
    np.testing.assert_allclose(numpy_of(got), numpy_of(want), rtol=tolerance, atol=tolerance, err_msg=f"{name}({what})")
    return True


@pytest.mark.filterwarnings("ignore")  # PyTorch's own
@pytest.mark.parametrize("name", BINARY)
def test_binary_promotes_and_computes_as_pytorch(name):
    ours, theirs, compared = getattr(tenfold, name), getattr(torch, name), 0
    for first in DTYPES:
        x, tx = both([[1.0, 2.0, 5.0]], first)
        for second in DTYPES:
            for values in ([[1.0], [3.0]], 2.0):
                y, ty = both(values, second)
                compared += agree(name, lambda: ours(x, y), lambda: theirs(tx, ty), f"{first}, {second}")  # noqa: B023
        for number in NUMBERS:
            compared += agree(name, lambda: ours(x, number), lambda: theirs(tx, number), f"{first}, {number}")  # noqa: B023
    assert compared > 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", UNARY)
def test_unary_promotes_and_computes_as_pytorch(name):
    ours, theirs, compared = getattr(tenfold, name), getattr(torch, name), 0
    for dtype in DTYPES:
        for values in ([0.0, 1.0, 2.0, 3.0], [[0.25, 0.75]], [], 1.0):
            x, tx = both(values, dtype)
            compared += agree(name, lambda: ours(x), lambda: theirs(tx), dtype)  # noqa: B023
    assert compared > 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["add", "mul", "div", "pow", "clamp_min", "copy", "fill", "masked_fill", "lerp", "addcmul"])
def test_inplace_keeps_the_dtype_or_refuses_as_pytorch(name):
    compared = 0
    for first in DTYPES:
        for second in DTYPES:
            (x, tx), (y, ty) = both([[1.0, 2.0, 5.0]], first), both(3.0 if name == "fill" else [1.0, 2.0, 3.0], second)
            more = {"lerp": (0.25,), "addcmul": (3,)}.get(name, ())
            arguments, theirs = (y, *more), (ty, *more)
            if name == "masked_fill":
                arguments, theirs = (x == 2, y[1]), (tx == 2, ty[1])
            if name == "addcmul":
                arguments, theirs = (y, y), (ty, ty)
            try:
                want = getattr(tx, name + "_")(*theirs)
            except (RuntimeError, TypeError):
                continue
            got = getattr(x, name + "_")(*arguments)
            assert got is x
            assert str(x.dtype).split(".")[1] == first
            np.testing.assert_allclose(numpy_of(x), numpy_of(want), rtol=1e-2, err_msg=f"{name}_({first}, {second})")
            compared += 1
    assert compared > 4


ERRORS = [
    ("sub of bools", lambda t: t.tensor([True]) - t.tensor([True])),
    ("neg of bool", lambda t: -t.tensor([True])),
    ("bitwise_and of floats", lambda t: t.bitwise_and(t.tensor([1.0]), t.tensor([1.0]))),
    ("maximum of complex", lambda t: t.maximum(t.tensor([1j]), t.tensor([1j]))),
    ("integer floor division by zero", lambda t: t.tensor([1]) // 0),
    ("integer remainder by zero", lambda t: t.tensor([1]) % 0),
    ("negative integer power", lambda t: t.tensor([2]) ** -1),
    ("shapes", lambda t: t.ones(2) + t.ones(3)),
    ("float into int", lambda t: t.tensor([1]).add_(1.5)),
    ("alpha", lambda t: t.add(t.tensor([1]), t.tensor([1]), alpha=1.5)),
    ("clamp without limits", lambda t: t.clamp(t.ones(1))),
    ("rounding mode", lambda t: t.div(t.ones(1), 2, rounding_mode="up")),
    ("softmax of integers", lambda t: t.softmax(t.tensor([1]), 0)),
    ("softmax dimension", lambda t: t.softmax(t.ones(2), 3)),
    ("mask that is not bool", lambda t: t.ones(1).masked_fill(t.tensor([1]), 0)),
    ("heaviside dtypes", lambda t: t.heaviside(t.ones(1), t.tensor([1]))),
    ("isclose dtypes", lambda t: t.isclose(t.ones(1), t.tensor([1]))),
    ("imag of real", lambda t: t.imag(t.ones(1))),
    ("complex of integers", lambda t: t.complex(t.tensor([1]), t.tensor([1]))),
    ("integer addcdiv", lambda t: t.addcdiv(t.tensor([1]), t.tensor([1]), t.tensor([1]))),
    ("string", lambda t: t.add(t.ones(1), "a")),
]


@pytest.mark.parametrize(("what", "call"), ERRORS, ids=[e[0] for e in ERRORS])
def test_errors_have_pytorchs_type(what, call):
    with pytest.raises(Exception) as theirs:
        call(torch)
    with pytest.raises(Exception) as ours:
        call(tenfold)
    assert isinstance(ours.value, theirs.type), f"{what}: {ours.value!r} where PyTorch raises {theirs.value!r}"


@pytest.mark.parametrize("narrow", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("name", ["add", "sub", "add_", "sub_"])
def test_alpha_scales_in_the_promoted_type(name: str, narrow: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50))
    ours, theirs = (
        getattr(lib.tensor(a), name)(lib.tensor(b).to(getattr(lib, narrow)), alpha=-0.0123) for lib in (tenfold, torch)
    )
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=0, atol=1e-15)


PARTS = {
    "columns": lambda x: x[:, 1:],
    "steps": lambda x: x[..., ::2],
    "transposed": lambda x: x.transpose(0, 1),
    "inner": lambda x: x.transpose(1, 2),
    "repeated": lambda x: x[:, :1].expand(4, 4, 4),
    "turned": lambda x: x.permute(2, 0, 1),
}


@pytest.mark.parametrize("first", PARTS)
@pytest.mark.parametrize("second", PARTS)
def test_results_of_parts_lie_in_memory_as_pytorchs(first, second):
    theirs, ours = (lib.arange(64, dtype=lib.float32).reshape(4, 4, 4) for lib in (torch, tenfold))
    a, b, x, y = (PARTS[part](lib)[:2, :3, :2] for lib in (theirs, ours) for part in (first, second))
    expected, got = a + b, x + y
    assert (got.shape, got.stride()) == (expected.shape, expected.stride())
    assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["reciprocal", "rsqrt"])
def test_one_over_complex_zero_is_infinite(name, dtype):
    zeros = [0j, complex(-0.0, 0.0), complex(0.0, -0.0), 2 + 1j, complex(math.inf, 0), complex(math.nan, 1), 1e30 + 1e-30j]
    for count in (1, 2, 9):  # vectors and what is left of them
        for z in zeros:
            ours, theirs = (getattr(lib.tensor([z] * count, dtype=getattr(lib, dtype)), name)() for lib in (tenfold, torch))
            for part in ("real", "imag"):  # as one number inf + nan j is nan
                np.testing.assert_allclose(getattr(ours.numpy(), part), getattr(theirs.numpy(), part), rtol=1e-6)


def test_clamp_converts_its_limits_to_the_common_dtype():
    """-5 of int16 beside a tensor of bytes is 251, whichever of the three are tensors without dimensions."""
    found = []
    for lib in (tenfold, torch):
        few, byte = lib.tensor(-5, dtype=lib.int16), lib.tensor([3, 9], dtype=lib.uint8)
        one = lib.tensor(1, dtype=lib.int16)
        results = lib.clamp(one, few, byte), lib.clamp(byte, few), lib.clamp(byte, few, lib.tensor(5)), lib.clamp(one, byte, few)
        found.append([(r.tolist(), str(r.dtype).rpartition(".")[2]) for r in results])
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("value", [1, 0.25, -1.7, 3])
def test_the_factor_is_that_of_the_first_tensor(value: float, dtype: str) -> None:
    """As in PyTorch, so that a quotient has its bits, and what a small factor keeps in range does not overflow."""
    rows = np.random.default_rng(3).standard_normal((3, 400)).tolist()
    made = []
    for lib in (tenfold, torch):
        x, y, z = (lib.tensor(row, dtype=getattr(lib, dtype)) for row in rows)
        large = lib.tensor(6e4 if dtype == "float16" else 3e38, dtype=getattr(lib, dtype)).expand(2)
        zero, two = lib.zeros_like(large), lib.full_like(large, 2.0)
        overflowing = lib.addcmul(zero, large, two, value=value), lib.addcdiv(zero, large, 1 / two, value=value)
        made.append([y.tolist() for y in (lib.addcdiv(x, y, z, value=value), *overflowing)])
    assert made[0] == made[1]


@pytest.mark.parametrize("base", [complex(math.inf, 0), complex(-math.inf, 0), complex(0, math.inf), complex(math.inf, 1)])
@pytest.mark.parametrize("exponent", [-1, -2, -3, -0.5, -1 + 1j])
def test_an_infinite_number_to_a_negative_power_is_zero(base, exponent):
    for count in (1, 8):
        made = [lib.tensor([base] * count) ** lib.tensor([complex(exponent)] * count) for lib in (torch, tenfold)]
        assert [m.tolist() for m in made] == [[0j] * count] * 2
