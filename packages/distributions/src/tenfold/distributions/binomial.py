"""The binomial distribution."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Size, Tensor
from tenfold.distributions import constraints
from tenfold.distributions.distribution import Distribution
from tenfold.distributions.odds import ByOdds, given_of
from tenfold.distributions.utils import broadcast_all

__all__ = ["Binomial"]


class Binomial(ByOdds, Distribution):
    """The number of successes in `total_count` trials, each with probability `probs`; `logits` are the log odds.

    >>> from tenfold.distributions import Binomial
    >>> Binomial(10, tenfold.tensor([0.25])).mean
    tensor([2.5000])
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self.total_count, param = broadcast_all(total_count, given_of(probs, logits))
        self.total_count = self.total_count.type_as(param)
        self._keep_odds(param, probs)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(Binomial, batch_shape, _instance, "total_count", "probs", "logits")
        new._param = self._param.expand(Size(batch_shape))
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with tenfold.no_grad():
            return tenfold.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n, x = self.total_count, self.logits
        choices = tenfold.lgamma(n + 1) - tenfold.lgamma(value + 1) - tenfold.lgamma(n - value + 1)
        return value * x + choices - n * tenfold.logaddexp(x, x.new_zeros(()))

    def entropy(self) -> Tensor:
        """The sum over all values; all trials counts have to be the same."""
        n = int(self.total_count.max())
        if not self.total_count.min() == n:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(tenfold.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = int(self.total_count.max())
        if not self.total_count.min() == n:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = tenfold.arange(1 + n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
