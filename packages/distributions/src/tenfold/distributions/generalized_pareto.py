"""The generalized Pareto distribution."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

import tenfold
from tenfold import Size, Tensor
from tenfold.distributions import constraints
from tenfold.distributions.distribution import Distribution
from tenfold.distributions.utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """The limit of exceedances over a threshold `loc`: P(x > t) = (1 + c (t - loc) / scale)^(-1 / c), c the concentration.

    At c = 0 it is the exponential distribution; for c < 0 it ends at loc - scale / c.
    Source: J. Pickands, "Statistical inference using extreme order statistics" (1975).

    >>> from tenfold.distributions import GeneralizedPareto
    >>> GeneralizedPareto(0.0, 1.0, 0.5).mean
    tensor(2.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        numbers = all(isinstance(value, Number) for value in (loc, scale, concentration))
        super().__init__(Size() if numbers else self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(GeneralizedPareto, batch_shape, _instance, "loc", "scale", "concentration")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        end = tenfold.where(self.concentration < 0, self.loc - self.scale / self._divisor, math.inf)
        return constraints.interval(self.loc, end)

    @property
    def _exponential(self) -> Tensor:
        return tenfold.isclose(self.concentration, tenfold.zeros_like(self.concentration))

    @property
    def _divisor(self) -> Tensor:
        """The concentration, 1 where it is zero and the exponential distribution's formulas hold."""
        return tenfold.where(self._exponential, 1.0, self.concentration)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        u = tenfold.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.icdf(u)

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        c = self._divisor
        heavy = -(1 / c + 1) * tenfold.log1p(c * y)
        return -tenfold.log(self.scale) + tenfold.where(self._exponential, -y, heavy)

    def log_survival_function(self, value: Any) -> Tensor:
        """log P(x > value)."""
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        c = self._divisor
        return tenfold.where(self._exponential, -y, -tenfold.log1p(c * y) / c)

    def log_cdf(self, value: Any) -> Tensor:
        """log P(x <= value)."""
        return tenfold.log1p(-tenfold.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Tensor:
        return tenfold.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Tensor:
        log_survival = tenfold.log1p(-value)
        c = self._divisor
        heavy = tenfold.expm1(-c * log_survival) / c
        return self.loc + self.scale * tenfold.where(self._exponential, -log_survival, heavy)

    @property
    def mean(self) -> Tensor:
        """loc + scale / (1 - c), undefined from c = 1 on."""
        c = self.concentration
        finite = self.loc + self.scale / (1 - tenfold.where(c < 1, c, 0.5))
        return tenfold.where(c < 1, finite, math.nan)

    @property
    def variance(self) -> Tensor:
        """scale^2 / ((1 - c)^2 (1 - 2 c)), undefined from c = 1 / 2 on."""
        c = self.concentration
        safe = tenfold.where(c < 0.5, c, 0.25)
        return tenfold.where(c < 0.5, self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe)), math.nan)

    def entropy(self) -> Tensor:
        return tenfold.log(self.scale) + self.concentration + 1

    @property
    def mode(self) -> Tensor:
        return self.loc
