"""The inverse gamma distribution."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.distributions import constraints
from tenfold.distributions.gamma import Gamma
from tenfold.distributions.transformed_distribution import TransformedDistribution
from tenfold.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """1 / x for x of the gamma distribution.

    >>> from tenfold.distributions import InverseGamma
    >>> InverseGamma(3.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self) -> Tensor:
        """The gamma distribution's concentration."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The gamma distribution's rate, which is a scale here."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        """rate / (concentration - 1), infinite up to concentration 1."""
        result = self.rate / (self.concentration - 1)
        return tenfold.where(self.concentration > 1, result, tenfold.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """rate^2 / ((concentration - 1)^2 (concentration - 2)), infinite up to concentration 2."""
        result = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return tenfold.where(self.concentration > 2, result, tenfold.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
