"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.distributions import constraints
from tenfold.distributions.distribution import Distribution
from tenfold.distributions.utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def _batch_mv(bmat: Tensor, bvec: Tensor) -> Tensor:
    """Products of matrices and vectors, batched. Shape: (..., N, M), (..., M) -> (..., N)."""
    return tenfold.matmul(bmat, bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL: Tensor, bx: Tensor) -> Tensor:
    """x^T (L L^T)^-1 x for lower triangular L. Shape: (..., N, N), (..., N) -> (...), broadcast."""
    if bL.dim() == 2:  # one matrix: all vectors are columns of one right-hand side
        columns = tenfold.linalg.solve_triangular(bL, bx.reshape(-1, bx.shape[-1]).T, upper=False)
        return columns.pow(2).sum(0).reshape(bx.shape[:-1])
    return tenfold.linalg.solve_triangular(bL, bx.unsqueeze(-1), upper=False).pow(2).sum((-2, -1))


def _precision_to_scale_tril(P: Tensor) -> Tensor:
    """The Cholesky factor of P^-1: of a matrix with rows and columns reversed, the factor reversed is an upper one."""
    upper = tenfold.linalg.cholesky(tenfold.flip(P, (-2, -1)))
    inverse = tenfold.transpose(tenfold.flip(upper, (-2, -1)), -2, -1)
    return tenfold.linalg.solve_triangular(inverse, tenfold.eye(P.shape[-1], dtype=P.dtype, device=P.device), upper=False)


class MultivariateNormal(Distribution):
    """Normal vectors with mean `loc`, by one of covariance matrix, its inverse, or its Cholesky factor `scale_tril`.

    The factor is what it computes with. Shape: (..., N) and (..., N, N), batches broadcast.

    >>> from tenfold.distributions import MultivariateNormal
    >>> MultivariateNormal(tenfold.zeros(2), tenfold.eye(2)).log_prob(tenfold.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _unbroadcasted_scale_tril: Tensor

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        name, matrix = _only(given)
        if matrix.dim() < 2:
            what = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{what} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = tenfold.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.__dict__[name] = matrix.expand((*batch_shape, -1, -1))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = _FACTORS[name](matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        n = self.event_shape[0]
        matrices = dict.fromkeys(("covariance_matrix", "scale_tril", "precision_matrix"), (n, n))
        new = self._expanded(MultivariateNormal, batch_shape, _instance, event_shape=self.event_shape, loc=(n,), **matrices)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    def _batched(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance matrix."""
        return self._batched(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        return self._batched(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return self._batched(tenfold.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariance matrix."""
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        eps = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det

    @property
    def _half_log_det(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def entropy(self) -> Tensor:
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


def _only(given: dict[str, Tensor | None]) -> tuple[str, Tensor]:
    """The name and value of the one that is given."""
    found = [(name, value) for name, value in given.items() if value is not None]
    if len(found) != 1:
        raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    return found[0]


def _same(factor: Tensor) -> Tensor:
    return factor


def _cholesky(matrix: Tensor) -> Tensor:
    return tenfold.linalg.cholesky(matrix)


# How each parametrisation gives the Cholesky factor of the covariance matrix.
_FACTORS = {"covariance_matrix": _cholesky, "precision_matrix": _precision_to_scale_tril, "scale_tril": _same}
