"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

import tenfold
from tenfold import Size, Tensor
from tenfold.distributions import constraints
from tenfold.distributions.bernoulli import binary_log_loss
from tenfold.distributions.exp_family import ExponentialFamily
from tenfold.distributions.odds import ByOdds, given_of
from tenfold.distributions.utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ByOdds, ExponentialFamily):
    """Numbers between 0 and 1: p(x) is proportional to probs^x (1 - probs)^(1 - x).

    Where `probs` lies between `lims`, around 1/2, series stand in for formulas of the form 0 / 0.
    Source: G. Loaiza-Ganem, J. P. Cunningham, "The continuous Bernoulli: fixing a pervasive error in variational
    autoencoders" (2019).

    >>> from tenfold.distributions import ContinuousBernoulli
    >>> ContinuousBernoulli(tenfold.tensor([0.5])).mean
    tensor([0.5000])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    _mean_carrier_measure = 0
    has_rsample = True

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501), validate_args: bool | None = None
    ) -> None:
        given = given_of(probs, logits)
        (param,) = broadcast_all(given)
        if probs is not None:
            if validate_args is not None and not self.arg_constraints["probs"].check(param).all():
                raise ValueError("The parameter probs has invalid values")
            param = self.probs = clamp_probs(param)
        else:
            self.logits = param
        self._param, self._lims = param, lims
        super().__init__(Size() if isinstance(given, Number) else param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(ContinuousBernoulli, batch_shape, _instance, "probs", "logits")
        new._lims, new._param = self._lims, self._param.expand(Size(batch_shape))
        return new

    def _outside_unstable_region(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        """The probabilities, with one outside the region in place of those inside, whose formulas are not used."""
        return tenfold.where(self._outside_unstable_region(), self.probs, self._lims[0])

    def _cont_bern_log_norm(self) -> Tensor:
        """log(2 atanh(1 - 2 p) / (1 - 2 p)), near 1/2 by its series."""
        p = self._cut_probs()
        far = tenfold.log(((-p).log1p() - p.log()).abs()) - tenfold.log((1 - 2 * p).abs())
        square = (self.probs - 0.5).pow(2)
        near = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * square) * square
        return tenfold.where(self._outside_unstable_region(), far, near)

    @property
    def mean(self) -> Tensor:
        p = self._cut_probs()
        far = p / (2 * p - 1) + 1 / ((-p).log1p() - p.log())
        x = self.probs - 0.5
        near = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x
        return tenfold.where(self._outside_unstable_region(), far, near)

    @property
    def stddev(self) -> Tensor:
        return tenfold.sqrt(self.variance)

    @property
    def variance(self) -> Tensor:
        p = self._cut_probs()
        far = p * (p - 1) / (1 - 2 * p).pow(2) + 1 / ((-p).log1p() - p.log()).pow(2)
        square = (self.probs - 0.5).pow(2)
        near = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * square) * square
        return tenfold.where(self._outside_unstable_region(), far, near)

    @lazy_property
    def probs(self) -> Tensor:
        """The parameter between 0 and 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(tenfold.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_log_loss(logits, value) + self._cont_bern_log_norm()

    def cdf(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        p = self._cut_probs()
        far = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        inside = tenfold.where(self._outside_unstable_region(), far, value)  # near 1/2 it is uniform
        return tenfold.where(value <= 0, 0.0, tenfold.where(value >= 1, 1.0, inside))

    def icdf(self, value: Any) -> Tensor:
        p = self._cut_probs()
        far = ((-p + value * (2 * p - 1)).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return tenfold.where(self._outside_unstable_region(), far, value)

    def entropy(self) -> Tensor:
        log0, log1 = (-self.probs).log1p(), self.probs.log()
        return self.mean * (log0 - log1) - self._cont_bern_log_norm() - log0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Tensor:
        """log((exp(x) - 1) / x), near 0 by its series."""
        far = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = tenfold.where(far, x, self._lims[0] - 0.5)
        log_norm = tenfold.log(tenfold.abs(tenfold.special.expm1(cut))) - tenfold.log(tenfold.abs(cut))
        series = 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0
        return tenfold.where(far, log_norm, series)
