"""Kullback-Leibler divergences: `kl_divergence`, `register_kl` and the rules of this package."""

from tenfold.distributions.kl import between, multivariate, within
from tenfold.distributions.kl.registry import _KL_REGISTRY, kl_divergence, register_kl
from tenfold.distributions.kl.within import _kl_expfamily_expfamily

__all__ = ["kl_divergence", "register_kl"]
