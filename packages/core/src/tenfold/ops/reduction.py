"""Reductions: sums, means, extremes, logical reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.meta import Meta
from tenfold.operators import composite, primitive
from tenfold.ops.rules import reduced_shape, wrap_dims
from tenfold.tensor import Tensor


@primitive("reduction", out=True)
def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum of all elements, or over dimensions; integers and bool add up in int64.

    >>> import tenfold
    >>> tenfold.sum(tenfold.tensor([[1, 2], [3, 4]]), dim=0)
    tensor([4, 6])
    """


@sum.lower(dtype=None)
def _(input: Tensor, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    return sum(input.to(dtype), dim, keepdim)


@sum.rule
def _(input: Any, dim: Any, keepdim: bool) -> Meta:
    dims = wrap_dims(dim, len(input.shape), "sum")
    return Meta(reduced_shape(input.shape, dims, keepdim), np.int64 if input.dtype.kind in "biu" else input.dtype)


@composite("reduction", out=True)
def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Arithmetic mean of all elements, or over dimensions, of a floating or complex tensor.

    >>> import tenfold
    >>> tenfold.mean(tenfold.tensor([1.0, 2.0]))
    tensor(1.5000)
    """
    if dtype is not None:
        input = input.to(dtype)
    if input.dtype.category < 2:
        raise RuntimeError(
            f"mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {input.dtype.name}"
        )
    total = sum(input, dim, keepdim)
    return total / (input.numel() / total.numel()) if total.numel() else total
