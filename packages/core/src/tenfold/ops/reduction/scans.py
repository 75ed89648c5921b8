"""Scans along one dimension: cumulative sums, products and extremes, and differences."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, primitive
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.ops.reduction.reductions import refuse_whole_gradients, whole_sum
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import bool_


def _refuse_bools(input: Tensor, dim: int, dtype: Any, name: str) -> None:
    """Of several elements there is no scan in bool."""
    wrap_dim(dim, input.dim(), name)
    if dtype is bool_ and input.dim() and input.numel():
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'; leave dtype away for int64")


@primitive("reduction", out="computed", inplace=True)
def cumsum(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Cumulative sum along a dimension; integers and bool add up in int64.

    >>> import tenfold
    >>> tenfold.cumsum(tenfold.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """


@cumsum.lower(dtype=None)
def _(input: Tensor, dim: int, dtype: Any) -> Tensor:
    refuse_whole_gradients(input, dtype)
    _refuse_bools(input, dim, dtype, "cumsum")
    return cumsum(input.to(dtype), dim).to(dtype)


@primitive("reduction", out="computed", inplace=True)
def cumprod(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Cumulative product along a dimension; integers and bool multiply in int64.

    >>> import tenfold
    >>> tenfold.cumprod(tenfold.tensor([1, 2, 3]), 0)
    tensor([1, 2, 6])
    """


@cumprod.lower(dtype=None)
def _(input: Tensor, dim: int, dtype: Any) -> Tensor:
    refuse_whole_gradients(input, dtype)
    _refuse_bools(input, dim, dtype, "cumprod")
    return cumprod(input.to(dtype), dim).to(dtype)


@cumsum.rule
@cumprod.rule
def _(input: Any, dim: int) -> Meta:
    wrap_dim(dim, len(input.shape), "cumulative sum or product")
    return Meta(input.shape, whole_sum(input.dtype))


def _in_bools(input: Any, dim: Any, dtype: Any) -> Any:
    """Written into bools, where int64 has no place, the scan of one element or none is as it was."""
    if not isinstance(input, Tensor) or input.dtype is not bool_ or (input.dim() and input.numel()):
        return NotImplemented
    wrap_dim(dim, input.dim(), "cumulative sum or product")
    return OPERATORS["copy_"].fn(input, input)


OPERATORS["cumsum_"].overload_body = OPERATORS["cumprod_"].overload_body = _in_bools
