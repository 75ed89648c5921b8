"""The gamma distribution."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor, op
from tenfold.distributions import constraints
from tenfold.distributions.exp_family import ExponentialFamily
from tenfold.distributions.utils import broadcast_all

__all__ = ["Gamma"]


def _standard_gamma(concentration: Tensor) -> Tensor:
    return op._standard_gamma(concentration)


class Gamma(ExponentialFamily):
    """The gamma distribution: p(x) = rate^a x^(a - 1) exp(-rate x) / Gamma(a), a the concentration.

    Gradients of samples by the concentration are implicit ones.
    Source: M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients" (2018).

    >>> from tenfold.distributions import Gamma
    >>> Gamma(2.0, 4.0).mean
    tensor(0.5000)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Gamma, batch_shape, _instance, "concentration", "rate")

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=tenfold.finfo(value.dtype).tiny)  # zero has no logarithm; the gradient stays
        return value

    def log_prob(self, value: Any) -> Tensor:
        value = tenfold.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        return (
            tenfold.xlogy(self.concentration, self.rate)
            + tenfold.xlogy(self.concentration - 1, value)
            - self.rate * value
            - tenfold.lgamma(self.concentration)
        )

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - tenfold.log(self.rate) + tenfold.lgamma(a) + (1.0 - a) * tenfold.digamma(a)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Tensor:
        return tenfold.lgamma(x + 1) + (x + 1) * tenfold.log(-y.reciprocal())

    def cdf(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return tenfold.special.gammainc(self.concentration, self.rate * value)
