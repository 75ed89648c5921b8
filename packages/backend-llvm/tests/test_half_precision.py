"""Half precision: calls without the interpreter, powers, numbers for NaN, and products, each rounded once."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tenfold

RNG = np.random.default_rng(0)
DTYPES = (np.float16, ml_dtypes.bfloat16)
ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-7, 3e4]
F = tenfold.nn.functional


def near(got, expected, dtype, steps=0.51):
    """Whether results are those of float64, rounded to a dtype."""
    with np.errstate(all="ignore"):
        rounded = expected.astype(np.float32).astype(dtype).astype(np.float64)
    finite = np.isfinite(rounded) & np.isfinite(expected)
    tiny = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    np.testing.assert_array_equal(got[~finite], rounded[~finite])
    step = np.maximum(np.abs(expected[finite]) * float(ml_dtypes.finfo(dtype).eps), tiny)
    assert (np.abs(got[finite] - expected[finite]) <= steps * step).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [9, 1000, 20_000])
@pytest.mark.parametrize("exponent", [2, 3, 4, -1, -2, 0.5, -0.5, 2.5, -1.5, 5, 0])
def test_powers(exponent, n, dtype):
    x = np.resize([*ENDS, *np.exp(RNG.uniform(-2, 2, 50))], n).astype(np.float32).astype(dtype)
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), exponent)
    got = (tenfold.from_numpy(x) ** exponent).double().numpy()
    if abs(exponent) == 0.5:  # NumPy's are roots, which of -0.0 and -inf are others than powers
        kept = x.astype(np.float64) > 0
        got, expected = got[kept], expected[kept]
    near(got, expected, dtype)


@pytest.mark.parametrize("dtype", [*DTYPES, np.float32, np.float64])
@pytest.mark.parametrize("given", [{}, {"nan": 1.5}, {"posinf": 2.0, "neginf": -3}, {"nan": np.inf}, {"posinf": np.nan}])
def test_numbers_for_what_is_none(given, dtype):
    x = np.resize([*ENDS, 2.5], 3000).astype(np.float32).astype(dtype)
    largest = float(ml_dtypes.finfo(dtype).max)
    limits = {"nan": 0.0, "posinf": largest, "neginf": -largest, **given}
    wide = x.astype(np.float64)
    expected = np.select(
        [np.isnan(wide), wide == np.inf, wide == -np.inf], [limits[k] for k in ("nan", "posinf", "neginf")], wide
    )
    got = tenfold.nan_to_num(tenfold.from_numpy(x), **given).double().numpy()
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))
    leaf = tenfold.tensor([1.0, np.nan, np.inf], requires_grad=True)
    tenfold.nan_to_num(leaf, **given).sum().backward()
    np.testing.assert_array_equal(leaf.grad.numpy(), [1, 0, 0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sin", "cos", "sqrt", "erfinv", "neg"])
def test_functions_with_and_without_gradients(name, dtype):
    x = tenfold.from_numpy(RNG.uniform(0.1, 0.9, 500).astype(dtype))
    got = getattr(tenfold, name)(x)
    assert got.dtype is x.dtype
    near(got.double().numpy(), getattr(x.double(), name)().numpy(), dtype, 0.52)
    leaf = x.clone().requires_grad_()
    recorded = getattr(leaf, name)()
    np.testing.assert_array_equal(recorded.detach().float().numpy(), got.float().numpy())
    recorded.sum().backward()
    assert leaf.grad.dtype is x.dtype
    out = tenfold.empty_like(x)
    getattr(tenfold, name)(x, out=out)
    np.testing.assert_array_equal(out.float().numpy(), got.float().numpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(3, 4, 5), (40, 60, 70), (300, 200, 100), (1, 2000, 1)])
def test_products(sizes, dtype):
    M, K, N = sizes
    a, b = (RNG.standard_normal(shape).astype(dtype) for shape in ((M, K), (K, N)))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    x, y = tenfold.from_numpy(a), tenfold.from_numpy(b)
    bias = RNG.standard_normal(N).astype(dtype)
    turned = tenfold.from_numpy(np.ascontiguousarray(b.T))
    limit = 0.51 * float(ml_dtypes.finfo(dtype).eps) * np.abs(expected) + K * 1e-6
    for got in (x @ y, x @ turned.T, tenfold.mm(x, y), F.linear(x, turned)):
        assert got.dtype is x.dtype
        assert (np.abs(got.double().numpy() - expected) <= limit).all()
    more = expected + bias.astype(np.float64)
    got = F.linear(x, turned, tenfold.from_numpy(bias)).double().numpy()
    assert (np.abs(got - more) <= 0.51 * float(ml_dtypes.finfo(dtype).eps) * np.abs(more) + K * 1e-6).all()
    with pytest.raises(RuntimeError, match="same dtype"):
        x @ y.float()


def test_the_inverse_of_the_error_function():
    x = np.concatenate([RNG.uniform(-1, 1, 4000), 1 - 2.0 ** -RNG.uniform(1, 24, 2000), [1e-40, -1e-30, 0.0]]).astype(np.float32)
    x = x[np.abs(x) < 1]
    got = tenfold.erfinv(tenfold.from_numpy(x))
    back = got.double().erf().numpy()
    slope = 2 / np.sqrt(np.pi) * np.exp(-(got.double().numpy() ** 2))  # of erf: an ulp of the result makes this much of x
    assert (np.abs(back - x) <= 3 * np.spacing(np.abs(got.numpy())) * slope + 1e-16).all()
    ends = tenfold.erfinv(tenfold.tensor([1.0, -1.0, 2.0, -2.0, np.nan, -0.0])).numpy()
    np.testing.assert_array_equal(ends, [np.inf, -np.inf, np.nan, np.nan, np.nan, -0.0])
    assert np.signbit(ends[-1])
