"""The half-Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.distributions.cauchy import Cauchy
from tenfold.distributions.half import Half
from tenfold.distributions.transforms import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """|x| for x of the Cauchy distribution around 0 with this scale. Its mean and variance are infinite.

    >>> from tenfold.distributions import HalfCauchy
    >>> HalfCauchy(1.0).cdf(tenfold.tensor([1.0]))
    tensor([0.5000])
    """

    base_dist: Cauchy

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(HalfCauchy, _instance))

    @property
    def mean(self) -> Tensor:
        return tenfold.full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return super().log_prob(tenfold.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device))
