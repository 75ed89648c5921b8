"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.distributions import constraints
from tenfold.distributions.chi2 import Chi2
from tenfold.distributions.distribution import Distribution
from tenfold.distributions.utils import _standard_normal, broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """loc + scale z / sqrt(c / df), for z standard normal and c chi-squared with df degrees of freedom.

    >>> from tenfold.distributions import StudentT
    >>> StudentT(4.0).variance
    tensor(2.)
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """loc, undefined up to one degree of freedom."""
        return tenfold.where(self.df > 1, self.loc, tenfold.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """scale^2 df / (df - 2), infinite up to two degrees of freedom and undefined up to one."""
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return tenfold.where(self.df > 2, finite, tenfold.where(self.df > 1, math.inf, self.df.new_full((), math.nan)))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(StudentT, batch_shape, _instance, "df", "loc", "scale")
        new._chi2 = self._chi2.expand(batch_shape)
        return new

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        z = _standard_normal(shape, dtype=self.df.dtype, device=self.df.device)
        return self.loc + self.scale * (z * tenfold.rsqrt(self._chi2.rsample(sample_shape) / self.df))

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + tenfold.lgamma(0.5 * self.df)
            - tenfold.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * tenfold.log1p(y**2.0 / self.df) - normalizer

    def entropy(self) -> Tensor:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = tenfold.lgamma(half) + math.lgamma(0.5) - tenfold.lgamma(more)
        return self.scale.log() + more * (tenfold.digamma(more) - tenfold.digamma(half)) + 0.5 * self.df.log() + log_beta
