"""The distribution of Lewandowski, Kurowicka and Joe over correlation matrices, as Cholesky factors."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold import Size, Tensor
from tenfold.distributions import constraints
from tenfold.distributions.beta import Beta
from tenfold.distributions.distribution import Distribution
from tenfold.distributions.utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors L of correlation matrices of size `dim` whose density is proportional to det(L L^T)^(concentration - 1).

    Concentration 1 is uniform over correlation matrices; a greater one prefers the identity.
    Source: D. Lewandowski, D. Kurowicka, H. Joe, "Generating random correlation matrices based on vines and extended onion
    method" (2009), section 3.

    >>> from tenfold.distributions import LKJCholesky
    >>> LKJCholesky(3, 0.5).sample().shape
    tenfold.Size([3, 3])
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        batch_shape, event_shape = self.concentration.size(), Size((dim, dim))
        # the squared length of a row left of the diagonal, row by row
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = tenfold.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        offset = tenfold.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(LKJCholesky, batch_shape, _instance, "concentration", event_shape=self.event_shape)
        new.dim = self.dim
        new._beta = self._beta.expand((*Size(batch_shape), self.dim))
        return new

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """By the onion method: a row has a uniform direction and a length whose square is a beta variate."""
        with tenfold.no_grad():
            length = self._beta.sample(sample_shape).unsqueeze(-1)
            like: dict[str, Any] = {"dtype": length.dtype, "device": length.device}
            normals = tenfold.randn(self._extended_shape(sample_shape), **like).tril(-1)
            direction = normals / normals.norm(dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0  # the first row has nothing left of its diagonal
            rows = tenfold.sqrt(length) * direction
            rest = tenfold.clamp(1 - tenfold.sum(rows**2, dim=-1), min=tenfold.finfo(rows.dtype).tiny)
            return rows + tenfold.diag_embed(rest.sqrt())

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = tenfold.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        return tenfold.sum(order * diagonal.log(), dim=-1) - self._log_normalizer()

    def _log_normalizer(self) -> Tensor:
        """The logarithm of the volume, as a product of beta functions: theorem 5 of the source, in multivariate gammas."""
        rest = self.dim - 1
        alpha = self.concentration + 0.5 * rest
        return 0.5 * rest * math.log(math.pi) + tenfold.mvlgamma(alpha - 0.5, p=rest) - tenfold.lgamma(alpha) * rest
