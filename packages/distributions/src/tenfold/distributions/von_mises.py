"""The von Mises distribution."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold import Size, Tensor
from tenfold.distributions import constraints
from tenfold.distributions.distribution import Distribution
from tenfold.distributions.utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Angles in [-pi, pi) around `loc`: p(x) = exp(concentration cos(x - loc)) / (2 pi I0(concentration)).

    >>> from tenfold.distributions import VonMises
    >>> VonMises(tenfold.tensor([0.0]), tenfold.tensor([1.0])).log_prob(tenfold.tensor([0.0]))
    tensor([-1.0738])
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args=validate_args)

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        # I0 = exp(concentration) i0e, which together overflow
        peak = self.concentration * (tenfold.cos(value - self.loc) - 1)
        return peak - math.log(2 * math.pi) - tenfold.special.i0e(self.concentration).log()

    @lazy_property
    def _loc(self) -> Tensor:
        return self.loc.to(tenfold.double)

    @lazy_property
    def _concentration(self) -> Tensor:
        return self.concentration.to(tenfold.double)

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The wrapped Cauchy distribution's parameter that fits best; near concentration 0 by its series."""
        kappa = self._concentration
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return tenfold.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """By rejection from a wrapped Cauchy distribution, in float64.

        Source: D. J. Best, N. I. Fisher, "Efficient simulation of the von Mises distribution" (1979).
        """
        shape = self._extended_shape(sample_shape)
        with tenfold.no_grad():
            x = tenfold.zeros(shape, dtype=tenfold.double, device=self.loc.device)
            open_ = tenfold.ones(shape, dtype=tenfold.bool, device=self.loc.device)
            while open_.any():
                angle, accepted = self._proposal(shape)
                x = tenfold.where(accepted, angle, x)  # later proposals may replace earlier ones: each is a sample
                open_ = open_ & ~accepted
            around = (x + math.pi + self._loc) % (2 * math.pi) - math.pi
            return around.to(self.loc.dtype)

    def _proposal(self, shape: Size) -> tuple[Tensor, Tensor]:
        u1, u2, u3 = tenfold.rand((3, *shape), dtype=tenfold.double, device=self.loc.device).unbind()
        z, r = tenfold.cos(math.pi * u1), self._proposal_r
        cosine = (1 + r * z) / (r + z)
        c = self._concentration * (r - cosine)
        accepted = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
        return (u3 - 0.5).sign() * cosine.acos(), accepted

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(VonMises, batch_shape, _instance, "loc", "concentration")

    @property
    def mean(self) -> Tensor:
        """The circular mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance, 1 - I1 / I0."""
        return 1 - tenfold.special.i1e(self.concentration) / tenfold.special.i0e(self.concentration)
