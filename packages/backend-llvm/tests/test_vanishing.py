"""What is too small for a float is 0 and nothing else, and memory that no result depends on has no part in one."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm import compiler, parts
from tenfold.llvm.kernels.quotients import LARGEST

RNG = np.random.default_rng(0)
F = tenfold.nn.functional
FAR = np.array([-np.inf, -1e30, -1e4, -746.0, -110.0, -104.0, 104.0, 110.0, 1e4, 1e30], np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_out_functions_are_at_their_limits(dtype):
    x = tenfold.from_numpy(FAR.astype(dtype)[[0, 1, 2, -2, -1]])
    for function, below, above in (
        (tenfold.exp, 0, np.inf), (tenfold.sigmoid, 0, 1), (tenfold.erf, -1, 1), (tenfold.erfc, 2, 0), (tenfold.tanh, -1, 1),
    ):  # fmt: skip
        np.testing.assert_array_equal(function(x).numpy(), [below] * 3 + [above] * 2)


def test_gelu_and_its_gradient_are_at_their_limits():
    x = tenfold.from_numpy(FAR[1:])
    expected = np.where(FAR[1:] < 0, np.float32(-0.0), FAR[1:])
    np.testing.assert_array_equal(F.gelu(x).numpy(), expected)
    slopes = tenfold.op.gelu_backward(tenfold.ones(len(x)), x, "none").numpy()
    np.testing.assert_array_equal(slopes, FAR[1:] > 0)


def test_softmax_of_masked_scores_is_that_of_the_others():
    scores = RNG.standard_normal((7, 65)).astype(np.float32)
    masked = np.where(RNG.random((7, 65)) < 0.5, -np.inf, scores).astype(np.float32)
    masked[:, 0] = scores[:, 0]
    got = tenfold.from_numpy(masked).softmax(1).numpy()
    for row, values in zip(got, masked, strict=True):
        kept = np.isfinite(values)
        assert not row[~kept].any()
        np.testing.assert_allclose(row[kept], tenfold.from_numpy(values[kept]).softmax(0).numpy(), rtol=3e-7)


@pytest.mark.skipif(not compiler.parted(), reason="the processor has no AVX-512")
def test_exponents_and_mantissas_have_their_instructions():
    found = tenfold.llvm.explain(tenfold.op.log, tenfold.rand(1000) + 1)
    assert "vgetexpps" in found.assembly
    assert "vgetmantps" in found.assembly
    assert not parts.declarations("no call of them")


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_quotients_of_every_kind(name):
    ends = np.array([0.0, -0.0, 1, -1, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-40, -1e-45, 3e38, -7], np.float32)
    a, b = (x.ravel() for x in np.meshgrid(ends, ends))
    k = RNG.integers(-999, 999, 4000).astype(np.float32)
    divisors = RNG.integers(1, 99, 4000).astype(np.float32) * np.float32(0.1)
    for x, y in ((a, b), (k * divisors, divisors), (k, divisors * 3), (k * np.float32(1e13), np.float32(0.37) + 0 * k)):
        got = getattr(tenfold, name)(tenfold.from_numpy(np.tile(x, 3)), tenfold.from_numpy(np.tile(y, 3))).numpy()[: len(x)]
        with np.errstate(all="ignore"):
            rest = np.fmod(x, y)
            other = (rest != 0) & ((y < 0) != (rest < 0))
            expected = {"fmod": rest, "remainder": np.where(other, rest + y, rest)}.get(name)
            if expected is None:
                expected = np.where(y == 0, x / y, np.floor_divide(x, y))
        np.testing.assert_array_equal(got, expected)
        kept = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got)[kept], np.signbit(expected)[kept])
    assert LARGEST < 1e38 / 1e-40


@pytest.mark.parametrize("exponent", [2.5, -1.5, 5, -3, 0.1, 100.5, 3, 4, -2, 0, np.inf, -np.inf])
def test_powers_by_one_number(exponent):
    x = np.exp(RNG.uniform(-8, 8, 5000)).astype(np.float32)
    x = np.concatenate([x, -x, np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-40], np.float32)])
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), np.float64(np.float32(exponent))).astype(np.float32)
    t = tenfold.from_numpy(x.copy())
    got = (t**exponent).numpy()
    limit = 3e-7 if exponent in (3, 4, -2) else 1.2e-7  # of products, which are rounded two or three times
    np.testing.assert_allclose(got, expected, rtol=limit, atol=1.5e-45)
    kept = ~np.isnan(expected) & (expected != 0)
    np.testing.assert_array_equal(np.signbit(got)[kept], np.signbit(expected)[kept])
    np.testing.assert_array_equal(t.pow_(exponent).numpy(), got)


def test_common_logarithms_of_powers_of_ten_are_whole():
    numbers = np.array([10.0**k for k in range(-30, 31)] * 3, np.float32)
    np.testing.assert_array_equal(
        tenfold.from_numpy(numbers).log10().numpy(), np.log10(numbers.astype(np.float64)).astype(np.float32)
    )


@pytest.mark.parametrize("name", ["hypot", "logaddexp", "copysign"])
def test_functions_of_pairs(name):
    ends = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-40, 3e38, -3e38, 20, -90], np.float32)
    a, b = (np.ascontiguousarray(x.ravel()) for x in np.meshgrid(ends, ends))
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    got = getattr(tenfold, name)(tenfold.from_numpy(a), tenfold.from_numpy(b)).numpy()
    np.testing.assert_allclose(got, expected, rtol=3e-7, atol=1e-38)


@pytest.mark.parametrize("dtype", [tenfold.uint8, tenfold.int8, tenfold.int32, tenfold.int64])
def test_whole_numbers_between_limits(dtype):
    numbers = RNG.integers(0, 100, 300)
    x = tenfold.from_numpy(numbers).to(dtype)
    for low, high in ((2, 70), (None, 5), (3, None), (9, 4)):
        expected = np.clip(numbers, low, high) if None in (low, high) else np.minimum(np.maximum(numbers, low), high)
        got = x.clamp(low, high)
        assert got.dtype is dtype
        np.testing.assert_array_equal(got.numpy(), expected)
        np.testing.assert_array_equal(x.clone().clamp_(low, high).numpy(), expected)
        assert x[0].clamp(low, high).item() == expected[0]
    np.testing.assert_array_equal(x.numpy(), numbers)


def test_rows_are_added_up_from_one_number_for_all():
    table = tenfold.zeros(50, 64, requires_grad=True)
    index = tenfold.from_numpy(RNG.integers(-50, 50, 200))
    table[index].sum().backward()
    counts = np.bincount(index.numpy() % 50, minlength=50)
    np.testing.assert_array_equal(table.grad.numpy(), np.repeat(counts[:, None], 64, 1))
