"""Divergences between families: E_p[log p(x)] - E_p[log q(x)], infinite where q has no mass but p has."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.distributions.bernoulli import Bernoulli
from tenfold.distributions.beta import Beta
from tenfold.distributions.binomial import Binomial
from tenfold.distributions.continuous_bernoulli import ContinuousBernoulli
from tenfold.distributions.exponential import Exponential
from tenfold.distributions.gamma import Gamma
from tenfold.distributions.gumbel import Gumbel
from tenfold.distributions.kl.registry import register_kl
from tenfold.distributions.kl.within import infinite_where
from tenfold.distributions.laplace import Laplace
from tenfold.distributions.normal import Normal
from tenfold.distributions.pareto import Pareto
from tenfold.distributions.poisson import Poisson
from tenfold.distributions.uniform import Uniform
from tenfold.distributions.utils import euler_constant

# Families whose supports are not inside one another, whatever the parameters.
_INFINITE: dict[Any, list[Any]] = {
    Beta: [Pareto],
    ContinuousBernoulli: [Pareto],
    Exponential: [Beta, ContinuousBernoulli, Pareto, Uniform],
    Gamma: [Beta, ContinuousBernoulli, Pareto, Uniform],
    Gumbel: [Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform],
    Laplace: [Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform],
    Normal: [Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform],
    Pareto: [Beta, ContinuousBernoulli, Uniform],
    Poisson: [Bernoulli, Binomial],
}
# The parameter that has p's shape, dtype and device.
_SHAPED = {
    Beta: "concentration1", ContinuousBernoulli: "probs", Exponential: "rate", Gamma: "concentration", Gumbel: "loc",
    Laplace: "loc", Normal: "loc", Pareto: "scale", Poisson: "rate",
}  # fmt: skip


def _register_infinite(type_p: Any, types_q: list[Any]) -> None:
    def infinite(p: Any, q: Any) -> Tensor:
        return tenfold.full_like(getattr(p, _SHAPED[type_p]), tenfold.inf)

    for type_q in types_q:
        register_kl(type_p, type_q)(infinite)


for _type_p, _types_q in _INFINITE.items():
    _register_infinite(_type_p, _types_q)


def _mean_log(low: Tensor, high: Tensor) -> Tensor:
    """The mean of log(x) for x uniform between the ends: (high log(high) - low log(low)) / (high - low) - 1."""
    return (tenfold.xlogy(high, high) - tenfold.xlogy(low, low)) / (high - low) - 1


def _normal_log_mean(q: Normal, mean: Tensor, variance: Tensor) -> Tensor:
    """E[log q(x)] for q normal and x of this mean and variance."""
    return -0.5 * math.log(2 * math.pi) - q.scale.log() - 0.5 * (variance + (mean - q.loc).pow(2)) / q.scale.pow(2)


def _gamma_log_mean(q: Gamma, mean: Tensor, mean_log: Tensor) -> Tensor:
    """E[log q(x)] for q gamma and x with this mean and mean logarithm."""
    a = q.concentration
    return a * q.rate.log() - a.lgamma() + (a - 1) * mean_log - q.rate * mean


def _exponential_log_mean(q: Exponential, mean: Tensor) -> Tensor:
    return q.rate.log() - q.rate * mean


def _continuous_bernoulli_log_mean(q: ContinuousBernoulli, mean: Tensor) -> Tensor:
    return mean * q.logits + (-q.probs).log1p() + q._cont_bern_log_norm()


def _gumbel_log_mean(q: Gumbel, mean: Tensor, mean_exp: Tensor) -> Tensor:
    """E[log q(x)] for x with this mean and this mean of exp(-x / scale)."""
    return -q.scale.log() - (mean - q.loc) / q.scale - (q.loc / q.scale).exp() * mean_exp


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def _continuous_bernoulli(p: Beta | Uniform, q: ContinuousBernoulli) -> Tensor:
    result = -p.entropy() - _continuous_bernoulli_log_mean(q, p.mean)
    return infinite_where((p.high > 1) | (p.low < 0), result) if isinstance(p, Uniform) else result


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def _exponential(p: Beta | ContinuousBernoulli | Gamma, q: Exponential) -> Tensor:
    return -p.entropy() - _exponential_log_mean(q, p.mean)


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Pareto, q: Exponential) -> Tensor:
    result = -p.entropy() - _exponential_log_mean(q, p.alpha * p.scale / (p.alpha - 1))
    return infinite_where(p.alpha <= 1, result)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Uniform, q: Exponential) -> Tensor:
    return infinite_where(p.low < 0, -p.entropy() - _exponential_log_mean(q, p.mean))


@register_kl(Beta, Gamma)
def _beta_gamma(p: Beta, q: Gamma) -> Tensor:
    mean_log = p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    return -p.entropy() - _gamma_log_mean(q, p.mean, mean_log)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Exponential, q: Gamma) -> Tensor:
    return -p.entropy() - _gamma_log_mean(q, p.mean, -euler_constant - p.rate.log())


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Pareto, q: Gamma) -> Tensor:
    mean, mean_log = p.alpha * p.scale / (p.alpha - 1), p.scale.log() + p.alpha.reciprocal()
    return infinite_where(p.alpha <= 1, -p.entropy() - _gamma_log_mean(q, mean, mean_log))


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Uniform, q: Gamma) -> Tensor:
    return infinite_where(p.low < 0, -p.entropy() - _gamma_log_mean(q, p.mean, _mean_log(p.low, p.high)))


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p: Any, q: Normal) -> Tensor:
    return -p.entropy() - _normal_log_mean(q, p.mean, p.variance)


@register_kl(Pareto, Normal)
def _pareto_normal(p: Pareto, q: Normal) -> Tensor:
    a = p.alpha
    mean, variance = a * p.scale / (a - 1), p.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))
    return infinite_where(a <= 2, -p.entropy() - _normal_log_mean(q, mean, variance))


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _to_uniform(p: Beta | ContinuousBernoulli, q: Uniform) -> Tensor:
    return infinite_where((q.low > 0) | (q.high < 1), -p.entropy() + (q.high - q.low).log())


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Exponential, q: Gumbel) -> Tensor:
    product = p.rate * q.scale
    return -p.entropy() - _gumbel_log_mean(q, p.mean, product / (product + 1))


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Gamma, q: Gumbel) -> Tensor:
    return -p.entropy() - _gumbel_log_mean(q, p.mean, (1 + (p.rate * q.scale).reciprocal()).pow(-p.concentration))


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Normal, q: Gumbel) -> Tensor:
    mean_exp = (-p.loc / q.scale + 0.5 * (p.scale / q.scale).pow(2)).exp()
    return -p.entropy() - _gumbel_log_mean(q, p.mean, mean_exp)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Uniform, q: Gumbel) -> Tensor:
    mean_exp = ((-p.low / q.scale).exp() - (-p.high / q.scale).exp()) * q.scale / (p.high - p.low)
    return -p.entropy() - _gumbel_log_mean(q, p.mean, mean_exp)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    d = (p.loc - q.loc) / p.scale
    distance = p.scale * (math.sqrt(2 / math.pi) * (-0.5 * d.pow(2)).exp() + d * (math.sqrt(0.5) * d).erf())
    return -p.entropy() + (2 * q.scale).log() + distance / q.scale


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    log_beta = a.lgamma() + b.lgamma() - (a + b).lgamma()
    log_mean = (a - 1) * _mean_log(p.low, p.high) + (b - 1) * _mean_log(1 - p.high, 1 - p.low)
    return infinite_where((p.high > 1) | (p.low < 0), -p.entropy() + log_beta - log_mean)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    log_mean = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log(p.low, p.high)
    return infinite_where(p.low < q.scale, -p.entropy() - log_mean)
