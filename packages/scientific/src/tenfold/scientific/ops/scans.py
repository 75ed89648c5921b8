"""Scans along one dimension: running extremes, logarithms of running sums of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold import return_types
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, op, primitive
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.ops.reduction.reductions import ordered
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import int64


@primitive("scans", accepts="floating complex", out="scalar type")
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """Logarithm of the cumulative sum of exponentials along a dimension, without overflow.

    >>> import tenfold
    >>> tenfold.logcumsumexp(tenfold.tensor([0.0, 0.0]), 0)
    tensor([0.0000, 0.6931])
    """


@logcumsumexp.rule
def _(input: Any, dim: int) -> Meta:
    wrap_dim(dim, len(input.shape), "logcumsumexp")
    return Meta(input.shape, input.dtype)


@primitive("scans", accepts=ordered("cummax"), method=None, name="cummax_pair")
def _cummax(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Running maximum along a dimension and where it is: what `cummax` runs.

    >>> import tenfold
    >>> tenfold.op.cummax_pair(tenfold.tensor([1, 5, 2]), 0)
    (tensor([1, 5, 5]), tensor([0, 1, 1]))
    """


@primitive("scans", accepts=ordered("cummin"), method=None, name="cummin_pair")
def _cummin(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Running minimum along a dimension and where it is: what `cummin` runs.

    >>> import tenfold
    >>> tenfold.op.cummin_pair(tenfold.tensor([4, 5, 2]), 0)
    (tensor([4, 4, 2]), tensor([0, 0, 2]))
    """


@_cummax.rule
@_cummin.rule
def _(input: Any, dim: int) -> tuple[Meta, Meta]:
    wrap_dim(dim, len(input.shape), "cumulative extreme")
    return Meta(input.shape, input.dtype), Meta(input.shape, np.int64)


def _unordered(input: Tensor, dim: int, name: str) -> Any:
    """What of complex numbers, which have no order, needs none: a single one, or none."""
    dim = wrap_dim(dim, input.dim(), name)
    return input.dtype.is_complex and not (input.dim() and input.numel()), dim


@composite("scans", out="scalar type")
def cummax(input: Tensor, dim: int) -> Any:
    """Running maximum along a dimension, as (values, indices); among equals the last index.

    >>> import tenfold
    >>> tenfold.cummax(tenfold.tensor([1, 3, 2]), 0).values
    tensor([1, 3, 3])
    """
    alone, dim = _unordered(input, dim, "cummax")
    return return_types.cummax(*((input.clone(), op.zeros_like(input, dtype=int64)) if alone else _cummax(input, dim)))


@composite("scans", out="scalar type")
def cummin(input: Tensor, dim: int) -> Any:
    """Running minimum along a dimension, as (values, indices); among equals the last index.

    >>> import tenfold
    >>> tenfold.cummin(tenfold.tensor([2, 3, 1]), 0).values
    tensor([2, 2, 1])
    """
    alone, dim = _unordered(input, dim, "cummin")
    return return_types.cummin(*((input.clone(), op.zeros_like(input, dtype=int64)) if alone else _cummin(input, dim)))
