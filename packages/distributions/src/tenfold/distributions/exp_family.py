"""Exponential families: densities exp(<natural parameters, statistics> - log normalizer + carrier measure)."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A family whose entropy, and divergence within it, follow from its log normalizer.

    p(x; theta) = h(x) exp(<theta, t(x)> - F(theta)). Subclasses give the natural parameters theta as a tuple, F as
    `_log_normalizer(*theta)` and the mean of log h(x).
    Source: F. Nielsen, R. Nock, "Entropies and cross-entropies of exponential families" (2010).
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """F(theta) - <theta, grad F(theta)> less the mean of log h."""
        params = [p.detach().requires_grad_() for p in self._natural_params]
        with tenfold.enable_grad():
            log_normalizer = self._log_normalizer(*params)
            gradients = tenfold.autograd.grad(log_normalizer.sum(), params, create_graph=True)
        result = log_normalizer - self._mean_carrier_measure
        for parameter, gradient in zip(params, gradients):
            product = parameter * gradient
            result = result - product.reshape((*self._batch_shape, -1)).sum(-1)
        return result
