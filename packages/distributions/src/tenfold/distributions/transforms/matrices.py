"""Transforms onto matrices: Cholesky factors, of correlation matrices or not, and positive definite matrices."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold.distributions import constraints
from tenfold.distributions.transforms.base import Transform
from tenfold.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix


class CorrCholeskyTransform(Transform):
    """D (D - 1) / 2 numbers to the Cholesky factor of a D x D correlation matrix.

    tanh makes partial correlations r of the numbers, row by row below the diagonal; an entry is r times the root of what the
    entries left of it leave of the row's length, 1. Shape: (..., D (D - 1) / 2) -> (..., D, D).
    Source: D. Lewandowski, D. Kurowicka, H. Joe, "Generating random correlation matrices based on vines and extended onion
    method" (2009); Stan reference manual, "Cholesky factors of correlation matrices".

    >>> from tenfold.distributions import CorrCholeskyTransform
    >>> CorrCholeskyTransform()(tenfold.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = tenfold.finfo(x.dtype).eps
        r = vec_to_tril_matrix(tenfold.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r * r).sqrt().cumprod(-1)
        r = r + tenfold.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * tenfold.cat([left.new_ones((*left.shape[:-1], 1)), left[..., :-1]], -1)

    def _inverse(self, y: Any) -> Any:
        # what the entries up to each leave of the row's length
        left = 1 - tenfold.cumsum(y * y, dim=-1)
        before = tenfold.cat([left.new_ones((*left.shape[:-1], 1)), left[..., :-1]], -1)
        y_vec = tril_matrix_to_vec(y, diag=-1)
        r = y_vec / tril_matrix_to_vec(before, diag=-1).sqrt()
        return (r.log1p() - r.neg().log1p()) / 2  # atanh

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        # an entry moves with its own r by the root of what is left before it; dr / dx = 1 - tanh(x)^2
        left = 1 - (y * y).cumsum(dim=-1)
        stretch = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1) if y.shape[-1] > 2 else 0.0
        slope = -2 * (x + tenfold.logaddexp(-2 * x, x.new_zeros(())) - math.log(2.0)).sum(-1)
        return stretch + slope

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        size = shape[-1]
        return (*shape[:-2], size * (size - 1) // 2)


class LowerCholeskyTransform(Transform):
    """A square matrix to a Cholesky factor: the part above the diagonal is cut off, the diagonal goes through exp.

    >>> from tenfold.distributions import LowerCholeskyTransform
    >>> LowerCholeskyTransform()(tenfold.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """A square matrix to a positive definite one: the product of its `LowerCholeskyTransform` with its transpose.

    >>> from tenfold.distributions import PositiveDefiniteTransform
    >>> PositiveDefiniteTransform()(tenfold.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(tenfold.linalg.cholesky(y))
