"""The relaxed Bernoulli distribution, and its log odds."""

from __future__ import annotations

from numbers import Number
from typing import Any

import tenfold
from tenfold import Size, Tensor
from tenfold.distributions import constraints
from tenfold.distributions.distribution import Distribution
from tenfold.distributions.odds import ByOdds, given_of
from tenfold.distributions.transformed_distribution import TransformedDistribution
from tenfold.distributions.transforms import SigmoidTransform
from tenfold.distributions.utils import broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(ByOdds, Distribution):
    """(logits + a logistic variate) / temperature: the log odds of `RelaxedBernoulli`.

    Source: C. Maddison, A. Mnih, Y. W. Teh, "The concrete distribution" (2017).

    >>> from tenfold.distributions.relaxed_bernoulli import LogitRelaxedBernoulli
    >>> LogitRelaxedBernoulli(tenfold.tensor(1.0), logits=tenfold.zeros(1)).log_prob(tenfold.zeros(1))
    tensor([-1.3863])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self.temperature = temperature
        given = given_of(probs, logits)
        (param,) = broadcast_all(given)
        self._keep_odds(param, probs)
        super().__init__(Size() if isinstance(given, Number) else self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(LogitRelaxedBernoulli, batch_shape, _instance, "probs", "logits")
        new.temperature, new._param = self.temperature, self._param.expand(Size(batch_shape))
        return new

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(tenfold.rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value.mul(self.temperature)
        return self.temperature.log() + difference - 2 * tenfold.logaddexp(difference, difference.new_zeros(()))


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1 that tend to a Bernoulli variate as the temperature falls, with gradients at any temperature.

    Source: C. Maddison, A. Mnih, Y. W. Teh, "The concrete distribution" (2017); E. Jang, S. Gu, B. Poole, "Categorical
    reparametrization with Gumbel-softmax" (2017).

    >>> from tenfold.distributions import RelaxedBernoulli
    >>> RelaxedBernoulli(tenfold.tensor(2.0), tenfold.tensor([0.3])).sample().shape
    tenfold.Size([1])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    base_dist: LogitRelaxedBernoulli

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(RelaxedBernoulli, _instance))

    @property
    def temperature(self) -> Tensor:
        """How far from a Bernoulli variate."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The log odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probability of 1."""
        return self.base_dist.probs
