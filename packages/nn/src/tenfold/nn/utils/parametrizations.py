"""Ready parametrizations: weight and spectral normalization."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.module import Module
from tenfold.nn.utils.parametrize import register_parametrization

__all__ = ["spectral_norm", "weight_norm"]


def _norm_except(v: Tensor, dim: int) -> Tensor:
    """The 2-norm over all dimensions but `dim` (-1: over all), dimensions kept."""
    if dim == -1:
        return tenfold.norm(v)
    others = [d for d in range(v.dim()) if d != dim % v.dim()]
    return tenfold.norm(v, dim=others, keepdim=True) if others else v.abs()


class _WeightNorm(Module):
    """g v / |v|, the norm taken over all dimensions but `dim`."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / _norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return _norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Splits a weight into its length `original0` and direction `original1`: g v / |v|, |v| per index of `dim` (None:
    overall).

    Source: Salimans and Kingma 2016.

    >>> from tenfold.nn import Linear
    >>> list(weight_norm(Linear(3, 2)).parametrizations.weight.original0.shape)
    [2, 1]
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    return module


class _SpectralNorm(Module):
    """weight / sigma, sigma its largest singular value, followed by power iteration in training."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.dim() <= dim < weight.dim():
            raise IndexError(f"spectral_norm: dim out of range, got {dim} for a tensor of {weight.dim()} dimensions")
        if n_power_iterations <= 0:
            raise ValueError(f"spectral_norm: Expected n_power_iterations to be positive, but got {n_power_iterations}")
        self.dim, self.eps, self.n_power_iterations = dim % weight.dim(), eps, n_power_iterations
        if weight.dim() > 1:
            matrix = self._as_matrix(weight.detach())
            rows, columns = matrix.shape
            for vector, size in (("_u", rows), ("_v", columns)):
                drawn = matrix.new_empty(size).normal_(0, 1)
                self.register_buffer(vector, F.normalize(drawn, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _as_matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    @tenfold.no_grad()
    def _iterate(self, matrix: Tensor, times: int) -> None:
        for _ in range(times):
            self._u = F.normalize(matrix.mv(self._v), dim=0, eps=self.eps)
            self._v = F.normalize(matrix.mT.mv(self._u), dim=0, eps=self.eps)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        sigma = self._u.clone().dot(matrix.mv(self._v.clone()))
        return weight / sigma

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divides a weight by its largest singular value, seen as a matrix with `dim` (0; 1 for transposed convolutions) as rows.

    Raises ValueError where the module has no such tensor. Source: Miyato et al. 2018.
    """
    weight: Any = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if getattr(module, "transposed", False) else 0
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
