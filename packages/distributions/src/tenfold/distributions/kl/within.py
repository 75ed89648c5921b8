"""Divergences between two distributions of one family.

Source: integrals of log p - log q over p in closed form; M. Gil, F. Alajaji, T. Linder, "Rényi divergence measures for commonly
used univariate continuous distributions" (2013); F. Nielsen, R. Nock (2010) for exponential families; F. Chyzak, F. Nielsen,
"A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions" (2019).
"""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.distributions.bernoulli import Bernoulli
from tenfold.distributions.beta import Beta
from tenfold.distributions.binomial import Binomial
from tenfold.distributions.categorical import Categorical
from tenfold.distributions.cauchy import Cauchy
from tenfold.distributions.continuous_bernoulli import ContinuousBernoulli
from tenfold.distributions.dirichlet import Dirichlet
from tenfold.distributions.exp_family import ExponentialFamily
from tenfold.distributions.exponential import Exponential
from tenfold.distributions.gamma import Gamma
from tenfold.distributions.geometric import Geometric
from tenfold.distributions.gumbel import Gumbel
from tenfold.distributions.half_normal import HalfNormal
from tenfold.distributions.independent import Independent
from tenfold.distributions.kl.registry import kl_divergence, register_kl
from tenfold.distributions.laplace import Laplace
from tenfold.distributions.normal import Normal
from tenfold.distributions.one_hot_categorical import OneHotCategorical
from tenfold.distributions.pareto import Pareto
from tenfold.distributions.poisson import Poisson
from tenfold.distributions.transformed_distribution import TransformedDistribution
from tenfold.distributions.uniform import Uniform
from tenfold.distributions.utils import _sum_rightmost, euler_constant


def infinite_where(condition: Any, value: Tensor) -> Tensor:
    """The value, infinite where p has mass that q has not."""
    return tenfold.where(condition, tenfold.inf, value)


def _softplus(x: Tensor) -> Tensor:
    return tenfold.logaddexp(x, x.new_zeros(()))


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    ones = p.probs * (_softplus(-q.logits) - _softplus(-p.logits))
    ones = tenfold.where(p.probs == 0, 0.0, infinite_where(q.probs == 0, ones))
    zeros = (1 - p.probs) * (_softplus(q.logits) - _softplus(p.logits))
    return ones + tenfold.where(p.probs == 1, 0.0, infinite_where(q.probs == 1, zeros))


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    p1, p0, q1, q0 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    log_normalizers = q1.lgamma() + q0.lgamma() + (p1 + p0).lgamma() - p1.lgamma() - p0.lgamma() - (q1 + q0).lgamma()
    return log_normalizers + (p1 - q1) * p1.digamma() + (p0 - q0) * p0.digamma() + (q1 + q0 - p1 - p0) * (p1 + p0).digamma()


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return infinite_where(p.total_count > q.total_count, p.total_count * each)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    return tenfold.where((p.probs == 0).expand_as(terms), 0.0, infinite_where(q.probs == 0, terms)).sum(-1)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    at_zero = p._cont_bern_log_norm() + (-p.probs).log1p() - q._cont_bern_log_norm() - (-q.probs).log1p()
    return p.mean * (p.logits - q.logits) + at_zero


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    log_normalizers = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return log_normalizers + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The Bregman divergence of the log normalizer: F(q) - F(p) - <q - p, grad F(p)>."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman divergences"
        )
    p_params, q_params = [x.detach().requires_grad_() for x in p._natural_params], q._natural_params
    with tenfold.enable_grad():
        log_normalizer = p._log_normalizer(*p_params)
        gradients = tenfold.autograd.grad(log_normalizer.sum(), p_params, create_graph=True)
    result = q._log_normalizer(*q_params) - log_normalizer
    for a, b, gradient in zip(p_params, q_params, gradients):
        result = result - _sum_rightmost((b - a) * gradient, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    rates = b * (p.rate / q.rate).log() + (q.rate - p.rate) * (a / p.rate)
    return rates + b.lgamma() - a.lgamma() + (a - b) * a.digamma()


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return shift - ratio.log() + ratio * euler_constant + ((1 + ratio).lgamma() - shift).exp() - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return infinite_where(p.scale < q.scale, result)


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return infinite_where((q.low > p.low) | (q.high < p.high), result)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """A bijection changes no divergence."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), extra)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
