"""Divergences between multivariate normal distributions, with full and with low-rank covariance matrices.

KL = (log det(Sq) - log det(Sp) + trace(Sq^-1 Sp) + (mq - mp)^T Sq^-1 (mq - mp) - N) / 2.
"""

from __future__ import annotations

import tenfold
from tenfold import Tensor
from tenfold.distributions.kl.registry import register_kl
from tenfold.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from tenfold.distributions.multivariate_normal import MultivariateNormal, _batch_mahalanobis


def _check_events(p: MultivariateNormal | LowRankMultivariateNormal, q: MultivariateNormal | LowRankMultivariateNormal) -> None:
    if p.event_shape == q.event_shape:
        return
    low = [isinstance(d, LowRankMultivariateNormal) for d in (p, q)]
    if all(low):
        kinds = "two Low Rank Multivariate Normals"
    elif any(low):
        kinds = (
            "a Multivariate Normal and a Low Rank Multivariate Normal"
            if low[1]
            else "a Low Rank Multivariate Normal and a Multivariate Normal"
        )
    else:
        kinds = "two Multivariate Normals"
    raise ValueError(f"KL-divergence between {kinds} with different event shapes cannot be computed")


def _log_det(d: MultivariateNormal | LowRankMultivariateNormal) -> Tensor:
    if isinstance(d, LowRankMultivariateNormal):
        return _batch_lowrank_logdet(d._unbroadcasted_cov_factor, d._unbroadcasted_cov_diag, d._capacitance_tril)
    return 2 * d._half_log_det


def _distance(q: MultivariateNormal | LowRankMultivariateNormal, x: Tensor) -> Tensor:
    if isinstance(q, LowRankMultivariateNormal):
        return _batch_lowrank_mahalanobis(q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, x, q._capacitance_tril)
    return _batch_mahalanobis(q._unbroadcasted_scale_tril, x)


def _root(p: MultivariateNormal | LowRankMultivariateNormal) -> Tensor:
    """A matrix R with R R^T the covariance matrix: the Cholesky factor, or the factor beside the diagonal's root."""
    if isinstance(p, LowRankMultivariateNormal):
        diagonal = p._unbroadcasted_cov_diag.sqrt().diag_embed()
        factor = p._unbroadcasted_cov_factor
        batch = tenfold.broadcast_shapes(factor.shape[:-2], diagonal.shape[:-2])
        return tenfold.cat([factor.expand((*batch, -1, -1)), diagonal.expand((*batch, -1, -1))], -1)
    return p._unbroadcasted_scale_tril


def _trace(p: MultivariateNormal | LowRankMultivariateNormal, q: MultivariateNormal | LowRankMultivariateNormal) -> Tensor:
    """trace(Sq^-1 Sp): the squares of a triangular solution; by Woodbury's identity where q has low rank."""
    root = _root(p)
    if isinstance(q, MultivariateNormal):
        return _squares(q._unbroadcasted_scale_tril, root)
    diag = q._unbroadcasted_cov_diag
    scaled = root / diag.sqrt().unsqueeze(-1)
    projected = (q._unbroadcasted_cov_factor.mT / diag.unsqueeze(-2)) @ root
    return scaled.pow(2).sum((-2, -1)) - _squares(q._capacitance_tril, projected)


def _squares(factor: Tensor, matrix: Tensor) -> Tensor:
    """The sum of the squares of factor^-1 matrix. Shape: (..., N, N), (..., N, M) -> (...)."""
    batch = tenfold.broadcast_shapes(factor.shape[:-2], matrix.shape[:-2])
    solution = tenfold.linalg.solve_triangular(factor.expand((*batch, -1, -1)), matrix.expand((*batch, -1, -1)), upper=False)
    return solution.pow(2).sum((-2, -1))


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normal(
    p: MultivariateNormal | LowRankMultivariateNormal, q: MultivariateNormal | LowRankMultivariateNormal
) -> Tensor:
    _check_events(p, q)
    log_dets = _log_det(q) - _log_det(p)
    return 0.5 * (log_dets + _trace(p, q) + _distance(q, q.loc - p.loc) - p.event_shape[0])
