"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Size, Tensor
from tenfold.distributions import constraints
from tenfold.distributions.distribution import Distribution
from tenfold.distributions.gamma import Gamma
from tenfold.distributions.odds import ByOdds, given_of
from tenfold.distributions.utils import broadcast_all, lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ByOdds, Distribution):
    """The number of successes, each of probability `probs`, before `total_count` failures, which need not be whole.

    It is a Poisson distribution whose rate has a gamma distribution.

    >>> from tenfold.distributions import NegativeBinomial
    >>> NegativeBinomial(3.0, tenfold.tensor([0.5])).mean
    tensor([3.])
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self.total_count, param = broadcast_all(total_count, given_of(probs, logits))
        self.total_count = self.total_count.type_as(param)
        self._keep_odds(param, probs)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(NegativeBinomial, batch_shape, _instance, "total_count", "probs", "logits")
        new._param = self._param.expand(Size(batch_shape))
        return new

    @property
    def mean(self) -> Tensor:
        return self.total_count * tenfold.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / tenfold.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        """The distribution of the rate; the constraints are wider than this one's."""
        return Gamma(concentration=self.total_count, rate=tenfold.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with tenfold.no_grad():
            return tenfold.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n, x = self.total_count, self.logits
        log_weight = n * _log_sigmoid(-x) + value * _log_sigmoid(x)
        log_normalization = tenfold.lgamma(1.0 + value) + tenfold.lgamma(n) - tenfold.lgamma(n + value)
        # no failure is waited for: nothing is counted
        return log_weight - log_normalization.masked_fill(n + value == 0.0, 0.0)


def _log_sigmoid(x: Tensor) -> Tensor:
    negative = -x
    return -tenfold.logaddexp(negative, negative.new_zeros(()))
