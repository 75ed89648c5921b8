"""The Gumbel distribution."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.distributions import constraints
from tenfold.distributions.transformed_distribution import TransformedDistribution
from tenfold.distributions.transforms import AffineTransform, ExpTransform, Transform
from tenfold.distributions.uniform import Uniform
from tenfold.distributions.utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """loc - scale log(-log(u)) for u uniform: the limit of maxima of many.

    >>> from tenfold.distributions import Gumbel
    >>> Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        finfo = tenfold.finfo(self.loc.dtype)
        if isinstance(loc, Number) and isinstance(scale, Number):
            base = Uniform(finfo.tiny, 1 - finfo.eps, validate_args=validate_args)
        else:
            low, high = tenfold.full_like(self.loc, finfo.tiny), tenfold.full_like(self.loc, 1 - finfo.eps)
            base = Uniform(low, high, validate_args=validate_args)
        super().__init__(base, self._chain(), validate_args=validate_args)

    def _chain(self) -> list[Transform]:
        turned = AffineTransform(loc=0, scale=-tenfold.ones_like(self.scale))
        return [ExpTransform().inv, turned, ExpTransform().inv, AffineTransform(loc=self.loc, scale=-self.scale)]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Gumbel, _instance)
        new.loc, new.scale = self.loc.expand(batch_shape), self.scale.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
