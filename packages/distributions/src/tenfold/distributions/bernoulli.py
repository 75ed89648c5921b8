"""The Bernoulli distribution."""

from __future__ import annotations

from numbers import Number
from typing import Any

import tenfold
from tenfold import Size, Tensor
from tenfold.distributions import constraints
from tenfold.distributions.exp_family import ExponentialFamily
from tenfold.distributions.odds import ByOdds, given_of
from tenfold.distributions.utils import broadcast_all

__all__ = ["Bernoulli"]


def binary_log_loss(logits: Tensor, value: Any) -> Tensor:
    """-log of the probability of a value between 0 and 1 under these log odds: softplus(logits) - value * logits."""
    negative = -logits
    return (1 - value) * logits + tenfold.logaddexp(negative, negative.new_zeros(()))


class Bernoulli(ByOdds, ExponentialFamily):
    """1 with probability `probs`, else 0; `logits` are the log odds. One of the two is given.

    >>> from tenfold.distributions import Bernoulli
    >>> Bernoulli(tenfold.tensor([0.25])).variance
    tensor([0.1875])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        given = given_of(probs, logits)
        (param,) = broadcast_all(given)
        self._keep_odds(param, probs)
        super().__init__(Size() if isinstance(given, Number) else self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(Bernoulli, batch_shape, _instance, "probs", "logits")
        new._param = self._param.expand(Size(batch_shape))
        return new

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The more probable of the two, undefined at 1 / 2."""
        mode = (self.probs >= 0.5).to(self.probs)
        return tenfold.where(self.probs == 0.5, tenfold.nan, mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with tenfold.no_grad():
            return tenfold.bernoulli(self.probs.expand(shape))

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_log_loss(logits, value)

    def entropy(self) -> Tensor:
        return binary_log_loss(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = tenfold.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (tenfold.logit(self.probs),)

    def _log_normalizer(self, x: Any) -> Tensor:
        return tenfold.log1p(tenfold.exp(x))
