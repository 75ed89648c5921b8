"""The multivariate normal distribution whose covariance matrix is a diagonal one and one of low rank."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.distributions import constraints
from tenfold.distributions.distribution import Distribution
from tenfold.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv
from tenfold.distributions.utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def _batch_capacitance_tril(W: Tensor, D: Tensor) -> Tensor:
    """The Cholesky factor of I + W^T D^-1 W."""
    capacitance = (W.mT / D.unsqueeze(-2)) @ W
    return tenfold.linalg.cholesky(capacitance + tenfold.eye(W.shape[-1], dtype=W.dtype, device=W.device))


def _batch_lowrank_logdet(W: Tensor, D: Tensor, capacitance_tril: Tensor) -> Tensor:
    """log det(W W^T + D), by the matrix determinant lemma."""
    return 2 * capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) + D.log().sum(-1)


def _batch_lowrank_mahalanobis(W: Tensor, D: Tensor, x: Tensor, capacitance_tril: Tensor) -> Tensor:
    """x^T (W W^T + D)^-1 x, by Woodbury's identity."""
    projected = _batch_mv(W.mT / D.unsqueeze(-2), x)
    return (x.pow(2) / D).sum(-1) - _batch_mahalanobis(capacitance_tril, projected)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with covariance cov_factor cov_factor^T + diag(cov_diag).

    Nothing larger than the factor's number of columns is factorised.
    Shape: (..., N), (..., N, M) and (..., N), batches broadcast.

    >>> from tenfold.distributions import LowRankMultivariateNormal
    >>> LowRankMultivariateNormal(tenfold.zeros(2), tenfold.ones(2, 1), tenfold.ones(2)).covariance_matrix
    tensor([[2., 1.],
            [1., 2.]])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    cov_factor: Tensor

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        batch_shape = tenfold.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc = loc.expand((*batch_shape, -1))
        self.cov_diag = cov_diag.expand((*batch_shape, -1))
        self.cov_factor = cov_factor.expand((*batch_shape, -1, -1))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        event, rank = self.event_shape, self.cov_factor.shape[-1:]
        new = self._expanded(
            LowRankMultivariateNormal,
            batch_shape,
            _instance,
            event_shape=event,
            loc=event,
            cov_diag=event,
            cov_factor=event + rank,
        )
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))
        return new

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The diagonal of the covariance matrix."""
        variance = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._batch_shape + self._event_shape)

    def _batched(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance matrix, from that of D^-1/2 (W W^T + D) D^-1/2, which is far from singular."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        n = self._event_shape[0]
        identity = tenfold.eye(n, dtype=scaled.dtype, device=scaled.device)
        return self._batched(root * tenfold.linalg.cholesky(scaled @ scaled.mT + identity))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_cov_factor
        return self._batched(factor @ factor.mT + tenfold.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix, by Woodbury's identity."""
        diag = self._unbroadcasted_cov_diag
        projected = self._unbroadcasted_cov_factor.mT / diag.unsqueeze(-2)
        half = tenfold.linalg.solve_triangular(self._capacitance_tril, projected, upper=False)
        return self._batched(tenfold.diag_embed(diag.reciprocal()) - half.mT @ half)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        options: dict[str, Any] = {"dtype": self.loc.dtype, "device": self.loc.device}
        eps_factor = _standard_normal((*shape[:-1], self.cov_factor.shape[-1]), **options)
        eps_diag = _standard_normal(shape, **options)
        along = _batch_mv(self._unbroadcasted_cov_factor, eps_factor)
        return self.loc + along + self._unbroadcasted_cov_diag.sqrt() * eps_diag

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        W, D, L = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, self._capacitance_tril
        distance = _batch_lowrank_mahalanobis(W, D, value - self.loc, L)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + _batch_lowrank_logdet(W, D, L) + distance)

    def entropy(self) -> Tensor:
        W, D, L = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, self._capacitance_tril
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + _batch_lowrank_logdet(W, D, L))
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy
