"""Poisson, binomial, gamma and Dirichlet samples are PyTorch's for a seed; the derivatives are those of the quantiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.scientific.implicit import dirichlet_derivative, gamma_derivative

torch = pytest.importorskip("torch")


def grid(lib: Any, low: float, high: float, count: int, dtype: str) -> Any:
    return lib.from_numpy(np.linspace(low, high, count).astype(dtype))


CALLS: dict[str, Callable[[Any, str], Any]] = {
    "gamma": lambda lib, d: lib._standard_gamma(grid(lib, 0.01, 20, 1001, d)),
    "few gammas": lambda lib, d: lib._standard_gamma(grid(lib, 0.01, 20, 5, d)),
    "poisson": lambda lib, d: lib.poisson(grid(lib, 0, 300, 1001, d)),
    "large poisson": lambda lib, d: lib.poisson(grid(lib, 0, 1e5, 40, d)),
    "binomial": lambda lib, d: lib.binomial(grid(lib, 40, 40, 501, d), grid(lib, 0, 1, 501, d)),
    "broadcast binomial": lambda lib, d: lib.binomial(grid(lib, 1, 90, 20, d).reshape(4, 5), grid(lib, 0, 1, 5, d)),
    "dirichlet": lambda lib, d: lib._sample_dirichlet(grid(lib, 0.1, 9, 30, d).reshape(10, 3)),
    "transposed": lambda lib, d: lib._standard_gamma(grid(lib, 0.1, 9, 12, d).reshape(3, 4).t()),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_samples(name: str, dtype: str) -> None:
    tenfold.manual_seed(5)
    torch.manual_seed(5)
    for _ in range(2):
        ours, theirs = CALLS[name](tenfold, dtype), CALLS[name](torch, dtype)
        assert ours.tolist() == theirs.tolist()
    assert tenfold.get_rng_state().tolist() == torch.get_rng_state().tolist()
    assert tenfold.randn(3).tolist() == torch.randn(3).tolist()  # the normal that waits is the same


def test_a_generator_of_its_own() -> None:
    ours, theirs = tenfold.Generator().manual_seed(2), torch.Generator().manual_seed(2)
    assert tenfold.poisson(tenfold.full((50,), 4.0), ours).tolist() == torch.poisson(torch.full((50,), 4.0), theirs).tolist()
    assert ours.get_state().tolist() == theirs.get_state().tolist()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda lib: lib.poisson(lib.tensor([-1.0])), "expected rate to be non-negative"),
        (lambda lib: lib.binomial(lib.tensor([1]), lib.tensor([0.5])), "binomial only supports floating-point dtypes for count"),
        (lambda lib: lib.binomial(lib.ones(1), lib.ones(1).double()), "expected"),
        (lambda lib: lib.poisson(lib.ones(1).long()), "poisson"),
    ],
)
def test_refused(call: Callable[[Any], Any], error: str) -> None:
    with pytest.raises(Exception, match=error) as ours:
        call(tenfold)
    with pytest.raises(Exception, match=error) as theirs:
        call(torch)
    assert ours.type is theirs.type


@pytest.mark.parametrize("shift", [1e-3, 0.3, 1.0, 3.0])
def test_gamma_derivative(shift: float) -> None:
    """Against PyTorch's own, which is exact to about three digits."""
    alpha = np.logspace(-2, 4, 200)
    sample = alpha * shift
    theirs = torch._standard_gamma_grad(torch.from_numpy(alpha), torch.from_numpy(sample)).numpy()
    np.testing.assert_allclose(gamma_derivative(alpha, sample), theirs, rtol=2e-3, atol=1e-300)


def test_dirichlet_derivative() -> None:
    """Against PyTorch's own, which is exact to about two digits where samples fall; closed forms are in test_variates.py."""
    alpha, beta = (grid.ravel() for grid in np.meshgrid(np.logspace(-1, 1.5, 12), np.logspace(-1, 1.5, 12)))
    for x in (0.02, 0.05, 0.4):
        sample = np.full_like(alpha, x)
        theirs = torch._dirichlet_grad(*map(torch.from_numpy, (sample, alpha, alpha + beta))).numpy()
        np.testing.assert_allclose(dirichlet_derivative(sample, alpha, alpha + beta), theirs, rtol=3e-2)
