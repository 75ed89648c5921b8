"""Divergences beside PyTorch's, for every pair that PyTorch has a rule for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenfold
import tenfold.distributions

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")
from torch.distributions.kl import _KL_REGISTRY as THEIRS  # noqa: E402  after importorskip

from tenfold.distributions.kl import _KL_REGISTRY as OURS  # noqa: E402

# Two of each family, whose supports meet where they can.
FAMILIES: dict[str, list[Callable[[Any, Any], Any]]] = {
    "Bernoulli": [lambda d, t: d.Bernoulli(t([0.1, 0.5, 0.0])), lambda d, t: d.Bernoulli(t([0.7, 0.0, 1.0]))],
    "Beta": [lambda d, t: d.Beta(t([0.5, 2.0, 4.0]), t([1.0, 3.0, 0.4])), lambda d, t: d.Beta(t([1.5, 2.0, 0.3]), t(2.0))],
    "Binomial": [lambda d, t: d.Binomial(t([5.0, 9.0, 5.0]), t([0.3, 0.5, 0.1])), lambda d, t: d.Binomial(5, t([0.6, 0.5, 0.2]))],
    "Categorical": [
        lambda d, t: d.Categorical(t([[0.2, 0.8, 0.0], [0.3, 0.3, 0.4]])),
        lambda d, t: d.Categorical(t([[0.5, 0.4, 0.1], [0.0, 0.6, 0.4]])),
    ],
    "Cauchy": [lambda d, t: d.Cauchy(t([0.0, 2.0, 1.0]), t(1.0)), lambda d, t: d.Cauchy(t([0.5, 2.0, -3.0]), t(0.3))],
    "ContinuousBernoulli": [
        lambda d, t: d.ContinuousBernoulli(t([0.1, 0.5, 0.9])), lambda d, t: d.ContinuousBernoulli(t([0.7, 0.2, 0.4])),
    ],
    "Dirichlet": [lambda d, t: d.Dirichlet(t([[0.5, 2.0], [3.0, 4.0]])), lambda d, t: d.Dirichlet(t([[1.5, 1.0], [0.3, 4.0]]))],
    "Exponential": [lambda d, t: d.Exponential(t([0.5, 2.0, 4.0])), lambda d, t: d.Exponential(t([1.5, 1.0, 0.3]))],
    "Gamma": [lambda d, t: d.Gamma(t([0.5, 2.0, 4.0]), t([1.0, 3.0, 0.4])), lambda d, t: d.Gamma(t([1.5, 1.0, 0.3]), t(2.0))],
    "Geometric": [lambda d, t: d.Geometric(t([0.5, 0.2, 0.9])), lambda d, t: d.Geometric(t([0.3, 0.7, 0.9]))],
    "Gumbel": [lambda d, t: d.Gumbel(t([0.5, 2.0, -4.0]), t([1.0, 3.0, 0.4])), lambda d, t: d.Gumbel(t([1.5, 1.0, 0.3]), t(2.0))],
    "HalfNormal": [lambda d, t: d.HalfNormal(t([0.5, 2.0, 4.0])), lambda d, t: d.HalfNormal(t([1.5, 1.0, 0.3]))],
    "Independent": [
        lambda d, t: d.Independent(d.Normal(t([[0.5, 2.0], [3.0, 4.0]]), 1.0), 1),
        lambda d, t: d.Independent(d.Normal(t([[0.0, 2.5], [3.0, 1.0]]), 0.3), 1),
    ],
    "Laplace": [
        lambda d, t: d.Laplace(t([0.5, 2.0, -4.0]), t([1.0, 3.0, 0.4])), lambda d, t: d.Laplace(t([1.5, 1.0, 0.3]), t(2.0)),
    ],
    "LowRankMultivariateNormal": [
        lambda d, t: d.LowRankMultivariateNormal(t([[0.0, 1.0], [1.0, 1.0]]), t([[1.0], [0.5]]), t([0.3, 2.0])),
        lambda d, t: d.LowRankMultivariateNormal(t([0.5, -1.0]), t([[0.3], [0.5]]), t([[1.3, 2.0], [0.1, 1.0]])),
    ],
    "MultivariateNormal": [
        lambda d, t: d.MultivariateNormal(t([[0.0, 1.0], [1.0, 1.0]]), t([[1.0, 0.5], [0.5, 2.0]])),
        lambda d, t: d.MultivariateNormal(t([0.5, -1.0]), t([[[1.0, 0.1], [0.1, 1.0]], [[2.0, 0.0], [0.0, 0.3]]])),
    ],
    "Normal": [lambda d, t: d.Normal(t([0.5, 2.0, -4.0]), t([1.0, 3.0, 0.4])), lambda d, t: d.Normal(t([1.5, 1.0, 0.3]), t(2.0))],
    "OneHotCategorical": [
        lambda d, t: d.OneHotCategorical(t([[0.2, 0.8, 0.0], [0.3, 0.3, 0.4]])),
        lambda d, t: d.OneHotCategorical(t([[0.5, 0.4, 0.1], [0.0, 0.6, 0.4]])),
    ],
    "Pareto": [lambda d, t: d.Pareto(t([2.0, 3.0, 1.0]), t([3.0, 2.5, 0.4])), lambda d, t: d.Pareto(t([1.5, 4.0, 0.3]), t(2.0))],
    "Poisson": [lambda d, t: d.Poisson(t([0.5, 2.0, 4.0])), lambda d, t: d.Poisson(t([1.5, 1.0, 0.3]))],
    "TransformedDistribution": [
        lambda d, t: d.LogNormal(t([0.5, 2.0, 4.0]), t(1.0)), lambda d, t: d.LogNormal(t([1.5, 1.0, 0.3]), t(2.0)),
    ],
    "Uniform": [
        lambda d, t: d.Uniform(t([0.1, 0.2, -4.0]), t([0.9, 3.0, 0.4])),
        lambda d, t: d.Uniform(t([0.0, -1.0, -5.0]), t([2.0, 1.5, 0.5])),
    ],
}  # fmt: skip
PAIRS = [(p.__name__, q.__name__) for p, q in THEIRS if p.__name__ != "ExponentialFamily"]


def compare(p: str, q: str, i: int, j: int) -> None:
    found = []
    for lib in (tenfold, torch):
        made: list[Any] = []

        def tensor(value: Any, lib: Any = lib, made: list[Any] = made) -> Any:
            made.append(lib.tensor(value, dtype=lib.float64, requires_grad=True))
            return made[-1]

        first, second = FAMILIES[p][i](lib.distributions, tensor), FAMILIES[q][j](lib.distributions, tensor)
        result = lib.distributions.kl_divergence(first, second)
        finite = result[lib.isfinite(result)]
        gradients = lib.autograd.grad(finite.sum(), made, allow_unused=True) if finite.requires_grad else []
        found.append((result, [None if g is None else g.tolist() for g in gradients]))
    (ours, our_gradients), (theirs, their_gradients) = found
    np.testing.assert_allclose(ours.tolist(), theirs.tolist(), rtol=1e-6, atol=1e-9)
    for a, b in zip(our_gradients, their_gradients):
        if a is not None and b is not None and np.isfinite(b).all():
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_pairs(p: str, q: str) -> None:
    if (p, q) == ("ContinuousBernoulli", "Uniform"):
        return  # PyTorch's is infinite for an interval that has [0, 1] inside; test_kl.py has ours
    for i in range(2):
        for j in range(2):
            if (p, q) == ("Binomial", "Binomial") and (i, j) == (1, 0):
                continue  # refused: test_kl.py
            if (p, q) == ("LowRankMultivariateNormal", "MultivariateNormal") and (i, j) != (0, 0):
                continue  # PyTorch cannot broadcast these
            compare(p, q, i, j)


def test_every_pair_is_there() -> None:
    theirs = {(p.__name__, q.__name__) for p, q in THEIRS}
    assert theirs <= {(p.__name__, q.__name__) for p, q in OURS}


FURTHER = [("Chi2", lambda d, t: d.Chi2(t([2.0, 3.0]))), ("LogNormal", lambda d, t: d.LogNormal(t([0.0]), t([1.0])))]


@pytest.mark.parametrize(("name", "make"), FURTHER)
def test_subclasses(name: str, make: Callable[[Any, Any], Any]) -> None:
    ours, theirs = (
        lib.distributions.kl_divergence(*[make(lib.distributions, lambda v: lib.tensor(v) + shift) for shift in (0, 0.5)])  # noqa: B023
        for lib in (tenfold, torch)
    )
    np.testing.assert_allclose(ours.tolist(), theirs.tolist(), rtol=1e-5)


def test_wishart_by_bregman() -> None:
    found = []
    for lib in (tenfold, torch):
        p = lib.distributions.Wishart(lib.tensor(5.0), lib.eye(2))
        q = lib.distributions.Wishart(lib.tensor(6.0), 2 * lib.eye(2))
        found.append(lib.distributions.kl_divergence(p, q).item())
    assert abs(found[0] - found[1]) < 1e-4


def test_divergence_of_exponential_families() -> None:
    made = []
    for lib in (torch, tenfold):
        d = lib.distributions
        p, q = (d.Gamma(lib.tensor([a, 2.0]), lib.tensor([1.0, b])) for a, b in ((0.5, 3.0), (2.0, 0.5)))
        made.append(d.kl._kl_expfamily_expfamily(p, q).tolist())
    np.testing.assert_allclose(made[1], made[0], rtol=1e-5)
