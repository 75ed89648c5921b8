"""The Wishart distribution."""

from __future__ import annotations

import math
import warnings
from numbers import Number
from typing import Any

import tenfold
from tenfold import Size, Tensor
from tenfold.distributions import constraints
from tenfold.distributions.chi2 import Chi2
from tenfold.distributions.exp_family import ExponentialFamily
from tenfold.distributions.multivariate_normal import _FACTORS
from tenfold.distributions.utils import lazy_property

__all__ = ["Wishart"]


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of `mvlgamma`."""
    steps = tenfold.arange(p, dtype=x.dtype, device=x.device) / 2
    return tenfold.digamma(x.unsqueeze(-1) - steps).sum(-1)


def _above_eps(x: Tensor) -> Tensor:
    return x.clamp(min=tenfold.finfo(x.dtype).eps)


class Wishart(ExponentialFamily):
    """The scatter matrix of `df` normal vectors with a covariance matrix, its inverse or its Cholesky factor; df > N - 1.

    p(X) is proportional to det(X)^((df - N - 1) / 2) exp(-trace(V^-1 X) / 2).
    Source: S. Sawyer, "Wishart distributions and inverse-Wishart sampling" (2007); M. S. Bartlett's decomposition (1933).

    >>> from tenfold.distributions import Wishart
    >>> Wishart(tenfold.tensor(3.0), tenfold.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        found = [(name, value) for name, value in given.items() if value is not None]
        if len(found) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        name, matrix = found[0]
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, Number):
            batch_shape = Size(matrix.shape[:-2])
            self.df = tenfold.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch_shape = Size(tenfold.broadcast_shapes(matrix.shape[:-2], df.shape))
            self.df = df.expand(batch_shape)
        event_shape = matrix.shape[-2:]
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}.")
        self.__dict__[name] = matrix.expand((*batch_shape, -1, -1))
        if self.df.lt(event_shape[-1]).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.", stacklevel=2
            )
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._unbroadcasted_scale_tril = _FACTORS[name](matrix)
        self._dist_chi2 = self._chi_squares()

    def _chi_squares(self) -> Chi2:
        """The squared diagonal of Bartlett's factor: chi-squared with df, df - 1, ... degrees of freedom."""
        steps = tenfold.arange(self._event_shape[-1], dtype=self.df.dtype, device=self.df.device)
        return Chi2(df=self.df.unsqueeze(-1) - steps.expand((*self._batch_shape, -1)))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        event = self.event_shape
        matrices = dict.fromkeys(("covariance_matrix", "scale_tril", "precision_matrix"), tuple(event))
        new = self._expanded(Wishart, batch_shape, _instance, "df", event_shape=event, **matrices)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        new._dist_chi2 = new._chi_squares()
        return new

    def _batched(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance matrix."""
        return self._batched(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix of the vectors."""
        return self._batched(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return self._batched(tenfold.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Tensor:
        return self.df.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """(df - N - 1) V, undefined up to df = N + 1."""
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = tenfold.where(factor > 0, factor, tenfold.nan)
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        V = self.covariance_matrix
        diagonal = V.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view((*self._batch_shape, 1, 1)) * (V.pow(2) + products)

    def _bartlett_sampling(self, sample_shape: Any = ()) -> Tensor:
        p = self._event_shape[-1]
        roots = _above_eps(self._dist_chi2.rsample(sample_shape).sqrt())
        noise = roots.diag_embed(dim1=-2, dim2=-1)
        rows, columns = tenfold.tril_indices(p, p, offset=-1)
        entries = tenfold.randn((*sample_shape, *self._batch_shape, p * (p - 1) // 2), dtype=noise.dtype, device=noise.device)
        noise[..., rows, columns] = entries
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Tensor:
        """Samples by Bartlett's decomposition. Those that rounding made singular are drawn again a few times, with a warning."""
        tries = 10 if max_try_correction is None else max_try_correction
        sample_shape = Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        singular = ~self.support.check(sample)
        if not singular.any():
            return sample
        warnings.warn("Singular sample detected.", stacklevel=2)
        for _ in range(tries):
            sample = tenfold.where(singular[..., None, None], self._bartlett_sampling(sample_shape), sample)
            singular = ~self.support.check(sample)
            if not singular.any():
                break
        return sample

    @property
    def _log_scale(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        trace = tenfold.cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (
            -nu * (p * math.log(2.0) / 2 + self._log_scale)
            - tenfold.mvlgamma(nu / 2, p)
            + (nu - p - 1) / 2 * tenfold.linalg.slogdet(value).logabsdet
            - trace / 2
        )

    def entropy(self) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        return (
            (p + 1) * (p * math.log(2.0) / 2 + self._log_scale)
            + tenfold.mvlgamma(nu / 2, p)
            - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p)
            + nu * p / 2
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Tensor:
        p = self._event_shape[-1]
        half_df = y + (p + 1) / 2
        return half_df * (-tenfold.linalg.slogdet(-2 * x).logabsdet + math.log(2.0) * p) + tenfold.mvlgamma(half_df, p)
