"""Divergences beside Monte Carlo estimates, and how rules are found."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold
from tenfold import distributions as D
from tenfold.distributions import kl_divergence, register_kl

pytest.importorskip("scipy")


def t(value: Any) -> Any:
    return tenfold.tensor(value, dtype=tenfold.float64)


PAIRS: list[tuple[Any, Any]] = [
    (D.Beta(t(2.0), t(3.0)), D.Gamma(t(1.5), t(2.0))), (D.Beta(t(2.0), t(3.0)), D.Normal(t(0.4), t(0.5))),
    (D.Beta(t(2.0), t(3.0)), D.ContinuousBernoulli(t(0.3))), (D.ContinuousBernoulli(t(0.3)), D.Uniform(t(-1.0), t(1.5))),
    (D.ContinuousBernoulli(t(0.3)), D.Normal(t(0.4), t(0.5))), (D.Exponential(t(2.0)), D.Gumbel(t(0.4), t(0.5))),
    (D.Gamma(t(2.0), t(3.0)), D.Gumbel(t(0.4), t(0.5))), (D.Gumbel(t(0.4), t(0.5)), D.Normal(t(0.4), t(1.5))),
    (D.Laplace(t(0.4), t(0.5)), D.Normal(t(0.4), t(1.5))), (D.Normal(t(0.4), t(0.5)), D.Gumbel(t(0.4), t(1.5))),
    (D.Normal(t(0.4), t(0.5)), D.Laplace(t(0.1), t(1.5))), (D.Pareto(t(1.0), t(6.0)), D.Gamma(t(2.0), t(1.5))),
    (D.Pareto(t(1.0), t(6.0)), D.Normal(t(2.0), t(1.5))), (D.Uniform(t(0.2), t(0.9)), D.Beta(t(2.0), t(1.5))),
    (D.Uniform(t(0.2), t(0.9)), D.Pareto(t(0.1), t(1.5))), (D.Uniform(t(0.2), t(0.9)), D.Gumbel(t(0.1), t(1.5))),
    (D.Cauchy(t(0.2), t(0.9)), D.Cauchy(t(0.1), t(1.5))), (D.Bernoulli(t(0.4)), D.Poisson(t(0.5))),
    (D.Wishart(t(5.0), tenfold.eye(2, dtype=tenfold.float64)), D.Wishart(t(6.0), 2 * tenfold.eye(2, dtype=tenfold.float64))),
    (
        D.LowRankMultivariateNormal(t([0.0, 1.0]), t([[1.0], [0.3]]), t([0.5, 0.2])),
        D.MultivariateNormal(t([0.0, 0.0]), t([[2.0, 0.5], [0.5, 1.0]])),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_monte_carlo(p: Any, q: Any) -> None:
    tenfold.manual_seed(0)
    x = p.sample((20000,))
    ratios = p.log_prob(x) - q.log_prob(x)
    assert abs(kl_divergence(p, q).item() - ratios.mean().item()) < 5 * ratios.std().item() / 20000**0.5 + 1e-9


def test_infinite_where_mass_is_missing() -> None:
    inf = float("inf")
    assert kl_divergence(D.Normal(0.0, 1.0), D.Exponential(1.0)).item() == inf
    assert kl_divergence(D.Uniform(0.0, 2.0), D.Beta(1.0, 1.0)).item() == inf
    assert kl_divergence(D.ContinuousBernoulli(t(0.3)), D.Uniform(t(0.1), t(2.0))).item() == inf
    assert kl_divergence(D.Categorical(t([0.5, 0.5])), D.Categorical(t([0.0, 1.0]))).item() == inf
    assert kl_divergence(D.Poisson(t(1.0)), D.Bernoulli(t(0.5))).item() == inf


def test_rows_of_low_rank_ones_broadcast() -> None:
    """PyTorch refuses a single low-rank distribution against a batch of full ones."""
    p = D.LowRankMultivariateNormal(t([0.0, 1.0]), t([[1.0], [0.3]]), t([0.5, 0.2]))
    q = D.MultivariateNormal(t([[0.0, 0.0], [1.0, 0.0]]), t([[[2.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 1.0]]]))
    full = D.MultivariateNormal(p.loc, p.covariance_matrix)
    assert kl_divergence(p, q).allclose(kl_divergence(full, q))
    assert kl_divergence(q, p).allclose(kl_divergence(q, full))


def test_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"No KL\(p \|\| q\) is implemented for p type Normal and q type VonMises"):
        kl_divergence(D.Normal(0.0, 1.0), D.VonMises(0.0, 1.0))
    with pytest.raises(NotImplementedError, match=r"q\.total_count > p\.total_count"):
        kl_divergence(D.Binomial(3, t(0.5)), D.Binomial(4, t(0.5)))
    with pytest.raises(NotImplementedError, match="different exponential families"):
        kl_divergence(D.Poisson(1.0), D.Exponential(1.0))
    with pytest.raises(ValueError, match="different event shapes"):
        kl_divergence(D.MultivariateNormal(t([0.0]), t([[1.0]])), D.MultivariateNormal(t([0.0, 0.0]), tenfold.eye(2).double()))
    with pytest.raises(TypeError, match="Expected type_p to be a Distribution subclass"):
        register_kl("Normal", D.Normal)


def test_libraries_register_classes_of_their_own():
    """As PyTorch lets them: pyro's distributions have bases that are none of PyTorch's."""

    class Own:
        pass

    @register_kl(Own, Own)
    def _(p, q):
        return 42

    assert kl_divergence(Own(), Own()) == 42


class Left(D.Normal):
    pass


class Right(D.Normal):
    pass


def test_rules_of_subclasses_and_ambiguity() -> None:
    assert kl_divergence(Left(0.0, 1.0), Right(1.0, 1.0)).item() == 0.5  # the normal distributions' rule

    @register_kl(Left, D.Normal)
    def left(p: Any, q: Any) -> Any:
        return tenfold.tensor(1.0)

    assert kl_divergence(Left(0.0, 1.0), Right(1.0, 1.0)).item() == 1

    @register_kl(D.Normal, Right)
    def right(p: Any, q: Any) -> Any:
        return tenfold.tensor(2.0)

    with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Left, Right\). Please register_kl\(Left, Right\)"):
        assert kl_divergence(Left(0.0, 1.0), Right(1.0, 1.0)).item() == 1
    assert kl_divergence(D.Normal(0.0, 1.0), Right(1.0, 1.0)).item() == 2
