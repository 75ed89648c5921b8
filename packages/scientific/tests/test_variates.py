"""Derivatives of gamma and beta samples in closed form, samples at the ends of what they accept, sums that must hold."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.scientific.implicit import digamma, dirichlet_derivative, gamma_derivative


@pytest.mark.parametrize("x", [1e-9, 0.01, 0.3, 0.5, 0.99])
def test_power_of_a_uniform(x: float) -> None:
    """Beta(a, 1) has the quantile u^(1 / a), whose derivative by a is -x log(x) / a."""
    a = np.logspace(-2, 3, 60)
    expected = -x * np.log(x) / a / (1 - x)
    np.testing.assert_allclose(dirichlet_derivative(np.full_like(a, x), a, a + 1), expected, rtol=1e-8)


@pytest.mark.parametrize("a", [1e-3, 0.02, 0.3])
def test_small_samples_are_powers(a: float) -> None:
    """Near zero the gamma distribution function is x^a / Gamma(a + 1)."""
    x = np.array([1e-200, 1e-30, 1e-14])
    expected = -x / a * (np.log(x) - digamma(np.array([a + 1])))
    np.testing.assert_allclose(gamma_derivative(np.full_like(x, a), x), expected, rtol=1e-9)


def test_large_parameters_shift() -> None:
    """A gamma variate of a large parameter is nearly normal: z = a + sqrt(a) n, so that dz/da = 1 + n / (2 sqrt(a))."""
    a = np.array([1e6, 1e8])
    for n in (-2.0, 0.0, 1.5):
        z = a + np.sqrt(a) * n
        np.testing.assert_allclose(gamma_derivative(a, z), 1 + n / (2 * np.sqrt(a)), rtol=1e-5)


def test_narrow_dtypes_take_a_shorter_rule() -> None:
    a = np.logspace(-2, 4, 300)
    z = a * np.linspace(0.05, 2, 300)
    narrow = gamma_derivative(a.astype(np.float32), z.astype(np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, gamma_derivative(a, z), rtol=2e-4)


def test_ends() -> None:
    inf, nan = float("inf"), float("nan")
    assert tenfold._standard_gamma(tenfold.tensor([inf])).item() == inf
    assert tenfold._standard_gamma(tenfold.tensor([0.0, -1.0, 1e-30])).min() > 0
    assert tenfold.poisson(tenfold.tensor([0.0, inf])).isnan().tolist() == [False, True]
    assert tenfold.binomial(tenfold.tensor([5.0, 0.0, 5.0]), tenfold.tensor([0.0, 0.5, 1.0])).tolist() == [0.0, 0.0, 5.0]
    assert tenfold.binomial(tenfold.tensor([nan]), tenfold.tensor([0.5])).isnan().all()
    assert 0 < tenfold._sample_dirichlet(tenfold.tensor([1e-4, 5.0])).max() < 1


@pytest.mark.parametrize("rate", [0.5, 8.0, 50.0])
def test_moments(rate: float) -> None:
    generator = tenfold.Generator().manual_seed(1)
    for samples, mean, variance in (
        (tenfold.poisson(tenfold.full((20000,), rate), generator), rate, rate),
        (tenfold._standard_gamma(tenfold.full((20000,), rate), generator), rate, rate),
        (
            tenfold.binomial(tenfold.full((20000,), 200.0), tenfold.full((20000,), rate / 200), generator),
            rate,
            rate * (1 - rate / 200),
        ),
    ):
        assert abs(samples.mean().item() - mean) < 5 * (variance / 20000) ** 0.5
        assert abs(samples.var().item() / variance - 1) < 0.1


@pytest.mark.parametrize("name", ["_standard_gamma", "_sample_dirichlet"])
def test_samples_that_are_functions_of_their_parameters(name):
    """Forward and reverse mode agree under one seed; other random numbers are constants."""
    alpha = tenfold.tensor([0.5, 2.0, 7.0], dtype=tenfold.float64)
    direction = tenfold.tensor([1.0, -0.3, 0.2], dtype=tenfold.float64)
    draw = getattr(tenfold, name)

    def sample(a):
        tenfold.manual_seed(3)
        return draw(a)

    _, tangent = tenfold.func.jvp(sample, (alpha,), (direction,))
    jacobian = tenfold.func.jacrev(sample)(alpha)
    assert tangent.allclose(jacobian @ direction)
    assert tangent.abs().min() > 0
    with tenfold.autograd.forward_ad.dual_level():
        dual = sample(tenfold.autograd.forward_ad.make_dual(alpha, direction))
        assert tenfold.autograd.forward_ad.unpack_dual(dual).tangent.allclose(tangent)
