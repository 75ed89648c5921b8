"""The elementary functions against higher precision: errors in units in the last place, and special values."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tenfold
from tenfold.llvm import compiler, maths
from tenfold.llvm.elementwise import Operator
from tenfold.llvm.kernels import activation, pointwise, units  # noqa: F401 - attach the operators
from tenfold.llvm.kernels.attaching import ACCELERATED

WIDE = np.longdouble
SQRT_PI = np.sqrt(WIDE("3.14159265358979323846264338327950288"))


def wide_erf(x):
    """erf by its power series for |x| <= 3, else by erfc's continued fraction, in extended precision."""
    x = x.astype(WIDE)
    return np.where(np.abs(x) < 3, _series(np.clip(x, -3, 3)), np.sign(x) * (1 - _fraction(np.maximum(np.abs(x), 3))))


def wide_erfc(x):
    x = x.astype(WIDE)
    tail = _fraction(np.maximum(np.abs(x), 1))
    return np.where(np.abs(x) < 1, 1 - _series(np.clip(x, -1, 1)), np.where(x < 0, 2 - tail, tail))


def _series(x):
    """2 / sqrt(pi) e**(-x**2) sum 2**n x**(2n + 1) / (2n + 1)!!, whose terms have one sign."""
    term = total = x
    for n in range(1, 90):
        term = term * 2 * x * x / (2 * n + 1)
        total = total + term
    return 2 / SQRT_PI * np.exp(-x * x) * total


def _fraction(x):
    """erfc by its continued fraction, from the far end."""
    rest = np.zeros_like(x)
    for n in range(600, 0, -1):
        rest = WIDE(n) / 2 / (x + rest)
    return np.exp(-x * x) / (SQRT_PI * (x + rest))


def wide_sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, WIDE(1)) / (1 + e)


# name: (function in extended precision, from, to, ulp in float32, ulp in float64)
FUNCTIONS = {
    "exp": (np.exp, -87, 88, 1.01, 1.01),
    "expm1": (np.expm1, -20, 88, 0.51, 1.6),
    "log": (np.log, 1e-30, 10, 1.0, 1.0),
    "log1p": (np.log1p, -0.9999, 20, 0.51, 1.6),
    "tanh": (np.tanh, -10, 10, 2.6, 2.6),
    "sigmoid": (wide_sigmoid, -80, 80, 2.5, 2.5),
    "erf": (wide_erf, -6, 6, 1.0, 1.0),
    "erfc": (wide_erfc, -6, 9, 4.5, 4.5),
    "sin": (np.sin, -1000, 1000, 1.6, 1.1),
    "cos": (np.cos, -1000, 1000, 1.6, 1.1),
}
DTYPES = (np.float32, np.float64)


def computed(name, x):
    """The compiled function of an array, without Tensors and gates."""
    result = Operator(name, ACCELERATED[name].formula).serve((x,), None)
    assert result is not NotImplemented
    return result


def inputs(low, high, dtype):
    rng = np.random.default_rng(0)
    near = 10.0 ** rng.uniform(-30, 0, 4000) * rng.choice([-1, 1], 4000)
    return np.concatenate([rng.uniform(low, high, 40_000), near[(near > low) & (near < high)]]).astype(dtype)


@pytest.mark.skipif(np.finfo(WIDE).nmant < 60, reason="this machine's long double is a double")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_as_stated(name, dtype):
    function, low, high, *limits = FUNCTIONS[name]
    x = inputs(low, high, dtype)
    expected = function(x.astype(WIDE))
    kept = np.abs(expected) > np.finfo(dtype).tiny
    got = computed(name, x)
    with np.errstate(all="ignore"):
        ulp = np.abs(got.astype(WIDE) - expected) / np.spacing(np.abs(expected).astype(dtype))
    assert ulp[kept].max() <= limits[DTYPES.index(dtype)], f"{ulp[kept].max()} at {x[kept][ulp[kept].argmax()]}"


@pytest.mark.skipif(np.finfo(WIDE).nmant < 60, reason="this machine's long double is a double")
@pytest.mark.parametrize("name", ["exp", "log", "log1p", "tanh", "sigmoid", "erf", "erfc"])
def test_errors_are_as_stated_on_other_processors(name, monkeypatch):
    """Of formulas as processors get them whose divisions are fast or slow, and that scale in steps."""
    monkeypatch.setattr(maths, "wide", lambda: not compiler.wide())
    monkeypatch.setattr(maths, "scales", lambda: False)
    monkeypatch.setattr(maths, "parted", lambda: False)
    test_errors_are_as_stated(name, np.float32)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("name", ["tanh", "sigmoid", "erf"])
def test_ends_are_reached_wherever_an_element_lies(name, wide, monkeypatch):
    """1 for large numbers, in vectors and in what is left behind them; and the same bits."""
    monkeypatch.setattr(maths, "wide", lambda: wide)
    x = np.concatenate([[1e30, 3e38, np.inf, 20.0, 100.0], np.random.default_rng(0).standard_normal(90)]).astype(np.float32)
    whole = computed(name, x)
    np.testing.assert_array_equal(whole[:5], 1)
    for n in (1, 5, 16, 33):
        np.testing.assert_array_equal(computed(name, x[:n].copy()), whole[:n])


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1e-310, 1e30, -1e30, 88.72, 89.0, 710.0, -104.0, -746.0, -1.0, 1.0]
PLAIN = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "erf": np.vectorize(math.erf), "erfc": np.vectorize(math.erfc), "sin": np.sin, "cos": np.cos,
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name, dtype):
    with np.errstate(all="ignore"):
        x = np.array(SPECIAL * 3).astype(dtype)
        expected = PLAIN[name](x if name == "sigmoid" else x.astype(np.float64)).astype(dtype)
    got = computed(name, x)
    np.testing.assert_allclose(got, expected, rtol=1e-6 if dtype == np.float32 else 1e-14, atol=np.finfo(dtype).tiny / 100)
    kept = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got)[kept], np.signbit(expected)[kept])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_large_angles(name, dtype):
    """Those that are reduced in two ways, and multiples of a right angle; in every layout the same."""
    rng = np.random.default_rng(0)
    top = 37 if dtype == np.float32 else 307
    x = np.concatenate([
        rng.choice([-1, 1], 900) * 10.0 ** rng.uniform(4, top, 900), np.pi / 2 * rng.integers(-(10**6), 10**6, 900),
        [2.0**17, np.nextafter(2.0**17, 0), 2.0**30, np.nextafter(2.0**30, 0)],
    ]).astype(dtype)  # fmt: skip
    expected = np.array([getattr(math, name)(v) for v in x.astype(np.float64)])
    got = computed(name, x)
    error = np.abs(got - expected) / np.spacing(np.abs(expected).astype(dtype))
    assert error.max() <= (2.0 if dtype == np.float32 else 2.1), f"{error.max()} at {x[error.argmax()]}"
    several = np.ascontiguousarray(x[:1800].reshape(30, 60).T).T
    np.testing.assert_array_equal(getattr(tenfold, name)(tenfold.from_numpy(several)).numpy(), got[:1800].reshape(30, 60))
    np.testing.assert_array_equal(computed(name, x[::7].copy()), got[::7])
    t = tenfold.from_numpy(x.copy())
    np.testing.assert_array_equal(getattr(t, f"{name}_")().numpy(), got)


def test_the_angle_nearest_to_a_multiple_of_a_right_angle():
    """Of all float64 numbers (J.-M. Muller, "Elementary Functions", 2006); 60 bits of the quotient are 0."""
    x = tenfold.tensor([6381956970095103 * 2.0**797, 1.0], dtype=tenfold.float64)
    assert x.cos()[0].item() == -4.687165924254627611e-19
    assert x.sin()[0].item() == 1


@pytest.mark.parametrize("name", ["exp", "expm1"])
def test_subnormal_results_and_overflow(name):
    x = np.array([-87.5, -90.0, -100.0, -103.9, 88.7, 88.73], np.float32)
    with np.errstate(all="ignore"):
        expected = PLAIN[name](x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(computed(name, x), expected, rtol=1e-6, atol=1.5e-45)


@pytest.mark.parametrize(("dtype", "last"), [(np.float32, 88.72283172607422), (np.float64, 709.782712893384)])
def test_sigmoid_is_zero_where_the_exponential_overflows(dtype, last):
    last = dtype(last)
    x = np.array([last, np.nextafter(last, dtype(np.inf)), dtype(1.2) * last, np.inf], dtype)
    with np.errstate(all="ignore"):
        expected = 1 / (1 + np.exp(x))
    assert expected[0] > 0
    assert not expected[1:].any()
    np.testing.assert_allclose(computed("sigmoid", -x), expected, rtol=1e-6)
    np.testing.assert_array_equal(computed("silu", -x[1:3]), [0, 0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_softmax_keeps_subnormal_results(dtype):
    ends = [-87.5, -100.0, -103.0, -200.0] if dtype == np.float32 else [-708.5, -740.0, -745.0, -800.0]
    x = np.array([[0.0, *ends, -np.inf]], dtype)
    expected = np.exp(x.astype(WIDE)).astype(dtype)
    got = tenfold.softmax(tenfold.from_numpy(x), 1).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=np.finfo(dtype).smallest_subnormal)
    assert got[0, 3] > 0


def test_logarithms_of_subnormal_numbers():
    for dtype, small in ((np.float32, 1e-45), (np.float64, 5e-324)):
        x = np.array([small, small * 7, np.finfo(dtype).tiny, np.finfo(dtype).max], dtype)
        np.testing.assert_allclose(computed("log", x), np.log(x.astype(WIDE)).astype(dtype), rtol=2 * np.finfo(dtype).eps)


def test_powers():
    base = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, np.inf, -np.inf, np.nan, 1e-40, 3e38], np.float32)
    exponent = np.array(
        [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 2.5, 1e9, 16777215.0, np.inf, -np.inf, np.nan], np.float32
    )
    x, y = (np.ascontiguousarray(a) for a in np.broadcast_arrays(base[:, None], exponent))
    got = Operator("pow", ACCELERATED["pow"].formula, "xx", dtypes=ACCELERATED["pow"].dtypes).serve((x, y), None)
    with np.errstate(all="ignore"):
        expected = np.power(x, y)
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    kept = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got)[kept], np.signbit(expected)[kept])


@pytest.mark.parametrize("exponent", [0.5, -0.5, 2, 3, 4, -1, -2])
def test_powers_by_one_number_are_roots_products_and_reciprocals(exponent):
    x = tenfold.tensor([-np.inf, -0.0, 0.0, 1e-3, 4.0, -2.0, np.inf] * 2000)
    number = np.array(x.numpy())
    with np.errstate(all="ignore"):
        power = np.sqrt(number) if abs(exponent) == 0.5 else number ** abs(exponent)
        expected = power if exponent > 0 else 1 / power
        of_tensor = expected  # whose powers of -0.0 and -inf are not roots, as in PyTorch
        if abs(exponent) == 0.5:
            size = np.sqrt(np.where(np.isneginf(number), np.inf, number) + 0)
            of_tensor = size if exponent > 0 else 1 / size
    for given, ends in ((exponent, expected), (tenfold.tensor(float(exponent)), of_tensor)):
        for got, end in ((x**given, ends), (x[0] ** given, ends[0]), (x.clone().pow_(given), ends)):
            np.testing.assert_allclose(got.numpy(), end, rtol=1e-6)
            kept = ~np.isnan(end)
            np.testing.assert_array_equal(np.signbit(got.numpy())[kept], np.signbit(end)[kept])


@pytest.mark.parametrize("dtype", DTYPES)
def test_erfc_where_it_ends(dtype):
    x = np.linspace(9, 11, 2001) if dtype == np.float32 else np.linspace(26, 29, 3001)
    x = np.append(x, [100.0, 1e30, np.inf]).astype(dtype)
    expected = np.array([math.erfc(v) for v in x.astype(np.float64)]).astype(dtype)
    np.testing.assert_allclose(computed("erfc", x), expected, rtol=1e-6, atol=4 * np.finfo(dtype).smallest_subnormal)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gelu_and_its_gradient_far_out(dtype):
    """Relative errors of the tail stay small, and beyond it results are 0 or x, gradients 0 or 1."""
    far = dtype([-1e30, -100.0, -40.0, 40.0, 100.0, 1e30])
    x = np.append(np.linspace(-13, 13, 4001).astype(dtype), far)
    wide = x.astype(np.float64)
    below = np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in wide])
    slope = below + wide * np.exp(-np.minimum(wide * wide, 1e4) / 2) / math.sqrt(2 * math.pi)
    got, back = (
        tenfold.tensor(x),
        tenfold.op.gelu_backward(tenfold.ones(len(x), dtype=tenfold.tensor(x).dtype), tenfold.tensor(x), "none"),
    )
    limit = 2e-6 if dtype == np.float32 else 1e-12
    values = tenfold.nn.functional.gelu(got).numpy()
    np.testing.assert_allclose(values, wide * below, rtol=limit, atol=np.finfo(dtype).tiny)
    np.testing.assert_array_equal(np.signbit(values), x < 0)
    np.testing.assert_allclose(back.numpy(), slope, rtol=0, atol=limit)
    np.testing.assert_array_equal(back.numpy()[-6:], [0, 0, 0, 1, 1, 1])
