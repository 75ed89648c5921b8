"""What the distributions of |x| have in common, for x symmetric around 0."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.distributions import constraints
from tenfold.distributions.transformed_distribution import TransformedDistribution

__all__: list[str] = []


class Half(TransformedDistribution):
    """|x| for x of `base_dist`, which is symmetric around 0 and has a `scale`: twice the density at half the values."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    @property
    def scale(self) -> Tensor:
        """The scale of x."""
        scale: Tensor = self.base_dist.scale
        return scale

    @property
    def mode(self) -> Tensor:
        return tenfold.zeros_like(self.scale)

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return tenfold.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
