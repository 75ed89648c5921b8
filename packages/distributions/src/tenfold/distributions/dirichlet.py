"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor, op
from tenfold.distributions import constraints
from tenfold.distributions.exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


def _Dirichlet_backward(x: Tensor, concentration: Tensor, grad_output: Tensor) -> Tensor:
    """The gradient of samples x of Dirichlet(concentration) with respect to the concentration."""
    total = concentration.sum(-1, True).expand_as(concentration)
    return op._dirichlet_grad(x, concentration, total) * (grad_output - (x * grad_output).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """Probability vectors: p(x) is proportional to the product of x_k^(concentration_k - 1).

    Gradients of samples are pathwise.
    Source: M. Jankowiak, F. Obermeyer, "Pathwise derivatives beyond the reparameterization trick" (2018).

    >>> from tenfold.distributions import Dirichlet
    >>> Dirichlet(tenfold.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        event = self.event_shape
        return self._expanded(Dirichlet, batch_shape, _instance, event_shape=event, concentration=event)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return op._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return tenfold.xlogy(a - 1.0, value).sum(-1) + tenfold.lgamma(a.sum(-1)) - tenfold.lgamma(a).sum(-1)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """Where no concentration is below 1, concentration - 1 as shares; else, by convention, the corner of the greatest."""
        excess = (self.concentration - 1).clamp(min=0.0)
        mode = excess / excess.sum(-1, True)
        at_edge = (self.concentration < 1).all(dim=-1)
        if not at_edge.any():
            return mode
        corner = (tenfold.arange(mode.shape[-1], device=mode.device) == mode.argmax(-1, True)).to(mode.dtype)
        return tenfold.where(at_edge.unsqueeze(-1), corner, mode)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        total = a.sum(-1, True)
        return a * (total - a) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        a = self.concentration
        k, total = a.size(-1), a.sum(-1)
        return (
            tenfold.lgamma(a).sum(-1)
            - tenfold.lgamma(total)
            - (k - total) * tenfold.digamma(total)
            - ((a - 1.0) * tenfold.digamma(a)).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Tensor:
        return x.lgamma().sum(-1) - tenfold.lgamma(x.sum(-1))
