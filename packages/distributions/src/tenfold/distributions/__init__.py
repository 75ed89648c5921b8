"""Probability distributions under PyTorch's names: `torch.distributions`."""

from tenfold.distributions import constraints, kl, transforms
from tenfold.distributions.bernoulli import Bernoulli
from tenfold.distributions.beta import Beta
from tenfold.distributions.binomial import Binomial
from tenfold.distributions.categorical import Categorical
from tenfold.distributions.cauchy import Cauchy
from tenfold.distributions.chi2 import Chi2
from tenfold.distributions.constraint_registry import biject_to, transform_to
from tenfold.distributions.continuous_bernoulli import ContinuousBernoulli
from tenfold.distributions.dirichlet import Dirichlet
from tenfold.distributions.distribution import Distribution
from tenfold.distributions.exp_family import ExponentialFamily
from tenfold.distributions.exponential import Exponential
from tenfold.distributions.fishersnedecor import FisherSnedecor
from tenfold.distributions.gamma import Gamma
from tenfold.distributions.generalized_pareto import GeneralizedPareto
from tenfold.distributions.geometric import Geometric
from tenfold.distributions.gumbel import Gumbel
from tenfold.distributions.half_cauchy import HalfCauchy
from tenfold.distributions.half_normal import HalfNormal
from tenfold.distributions.independent import Independent
from tenfold.distributions.inverse_gamma import InverseGamma
from tenfold.distributions.kl import kl_divergence, register_kl
from tenfold.distributions.kumaraswamy import Kumaraswamy
from tenfold.distributions.laplace import Laplace
from tenfold.distributions.lkj_cholesky import LKJCholesky
from tenfold.distributions.log_normal import LogNormal
from tenfold.distributions.logistic_normal import LogisticNormal
from tenfold.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from tenfold.distributions.mixture_same_family import MixtureSameFamily
from tenfold.distributions.multinomial import Multinomial
from tenfold.distributions.multivariate_normal import MultivariateNormal
from tenfold.distributions.negative_binomial import NegativeBinomial
from tenfold.distributions.normal import Normal
from tenfold.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from tenfold.distributions.pareto import Pareto
from tenfold.distributions.poisson import Poisson
from tenfold.distributions.relaxed_bernoulli import RelaxedBernoulli
from tenfold.distributions.relaxed_categorical import RelaxedOneHotCategorical
from tenfold.distributions.studentT import StudentT
from tenfold.distributions.transformed_distribution import TransformedDistribution
from tenfold.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from tenfold.distributions.uniform import Uniform
from tenfold.distributions.von_mises import VonMises
from tenfold.distributions.weibull import Weibull
from tenfold.distributions.wishart import Wishart

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet", "Distribution",
    "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy",
    "HalfNormal", "Independent", "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal",
    "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical",
    "StudentT", "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart", "biject_to", "kl_divergence",
    "register_kl", "transform_to", "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip
