"""Normalizations of lines whose elements count in part; an element that does not gets what the function gives infinity or 0."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.masked.masks import dims_of, filled
from tenfold.masked.reductions import norm
from tenfold.masked.taking import takes_masked_tensors


@takes_masked_tensors
def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Softmax over the elements that count: the others get 0, and lines in which none counts are nan.

    >>> import tenfold
    >>> tenfold.masked.softmax(tenfold.tensor([1.0, 2.0, 1.0]), 0, mask=tenfold.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    return tenfold.softmax(filled("softmax", input, mask), dims_of(dim, input.ndim)[0] if input.ndim else 0, dtype or input.dtype)


@takes_masked_tensors
def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of `softmax`."""
    x = filled("log_softmax", input, mask)
    return tenfold.log_softmax(x, dims_of(dim, input.ndim)[0] if input.ndim else 0, dtype or input.dtype)


@takes_masked_tensors
def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Softmax of the negated elements that count."""
    x = filled("softmin", input, mask)
    return tenfold.softmax(-x, dims_of(dim, input.ndim)[0] if input.ndim else 0, dtype or input.dtype)


@takes_masked_tensors
def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Elements over the norm of those that count along `dim`, which is at least `eps`; the others are 0."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    x = filled("normalize", input if dtype is None else input.to(dtype), mask)
    return x / length.clamp(min=eps)
