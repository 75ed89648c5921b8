"""The geometric distribution."""

from __future__ import annotations

from numbers import Number
from typing import Any

import tenfold
from tenfold import Size, Tensor
from tenfold.distributions import constraints
from tenfold.distributions.bernoulli import binary_log_loss
from tenfold.distributions.distribution import Distribution
from tenfold.distributions.odds import ByOdds, given_of
from tenfold.distributions.utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(ByOdds, Distribution):
    """The number of failures before the first success: P(k) = (1 - probs)^k probs, k = 0, 1, ...

    `Tensor.geometric_` counts the trials, which are one more.

    >>> from tenfold.distributions import Geometric
    >>> Geometric(tenfold.tensor([0.25])).mean
    tensor([3.])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        given = given_of(probs, logits)
        (param,) = broadcast_all(given)
        self._keep_odds(param, probs)
        super().__init__(Size() if isinstance(given, Number) else param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None:
            self._check_positive()

    def _check_positive(self) -> None:
        """The constraint of `probs` includes zero; the distribution does not."""
        value = self.probs
        valid = value > 0
        if not valid.all():
            raise ValueError(
                f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to be "
                f"positive but found invalid values:\n{value[~valid]}"
            )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Geometric, batch_shape, _instance, "probs", "logits")

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return tenfold.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with tenfold.no_grad():
            # u > 0, whose logarithm is finite
            u = self.probs.new_empty(shape).uniform_(tenfold.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        certain = (probs == 1) & (value == 0)  # 0 * log(0)
        return value * (-tenfold.where(certain, 0, probs)).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return binary_log_loss(self.logits, self.probs) / self.probs
