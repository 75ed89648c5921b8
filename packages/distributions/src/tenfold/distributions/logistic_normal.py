"""The logistic-normal distribution."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.distributions import constraints
from tenfold.distributions.independent import Independent
from tenfold.distributions.normal import Normal
from tenfold.distributions.transformed_distribution import TransformedDistribution
from tenfold.distributions.transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Probability vectors of K + 1 shares: K normals through `StickBreakingTransform`.

    >>> import tenfold
    >>> from tenfold.distributions import LogisticNormal
    >>> LogisticNormal(tenfold.zeros(3), tenfold.ones(3)).event_shape
    tenfold.Size([4])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    base_dist: Independent

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(LogisticNormal, _instance))

    @property
    def loc(self) -> Tensor:
        """The normals' means."""
        return self.base_dist.base_dist.loc  # type: ignore[attr-defined]  # it is normal

    @property
    def scale(self) -> Tensor:
        """The normals' standard deviations."""
        return self.base_dist.base_dist.scale  # type: ignore[attr-defined]  # it is normal
