"""Reductions of the elements that count: each is PyTorch's `torch.masked` function of the same name.

`mask` broadcasts to the input and is true where an element counts; without one all do. Where nothing counts, a result is
what the operator makes of no elements, and `tenfold.masked._output_mask` is false.
"""

from __future__ import annotations

from math import inf
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.masked.masks import Dims, dims_of, filled, input_mask
from tenfold.masked.taking import takes_masked_tensors

_SMALL = (tenfold.bool, tenfold.uint8, tenfold.int8, tenfold.int16, tenfold.int32)


def _wide(dtype: Any, input: Tensor) -> Any:
    """The dtype of a sum or product: int64 for integers, unless one is asked for."""
    return dtype or (tenfold.int64 if input.dtype in _SMALL else input.dtype)


@takes_masked_tensors
def sum(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Sum of the elements that count, 0 where none does.

    >>> import tenfold
    >>> tenfold.masked.sum(tenfold.tensor([1, 2, 4]), mask=tenfold.tensor([True, False, True]))
    tensor(5)
    """
    x = filled("sum", input, mask)
    return tenfold.sum(x, dims_of(dim, x.ndim), bool(keepdim), dtype=_wide(dtype, input))


@takes_masked_tensors
def prod(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Product of the elements that count, 1 where none does."""
    x, dtype = filled("prod", input, mask), _wide(dtype, input)
    x = x if x.ndim else x.to(dtype)
    for d in reversed(dims_of(dim, x.ndim)):
        x = tenfold.prod(x, d, bool(keepdim), dtype=dtype)
    return x


@takes_masked_tensors
def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Sums of the elements that count, up to each."""
    return tenfold.cumsum(filled("cumsum", input, mask), dims_of(dim, input.ndim)[0], dtype=_wide(dtype, input))


@takes_masked_tensors
def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Products of the elements that count, up to each."""
    return tenfold.cumprod(filled("cumprod", input, mask), dims_of(dim, input.ndim)[0], dtype=_wide(dtype, input))


@takes_masked_tensors
def amax(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Largest of the elements that count; where none does, the smallest number of the dtype."""
    x = filled("amax", input, mask)
    return tenfold.amax(x, dims_of(dim, x.ndim), bool(keepdim)).to(dtype or input.dtype)


@takes_masked_tensors
def amin(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Smallest of the elements that count; where none does, the largest number of the dtype."""
    x = filled("amin", input, mask)
    return tenfold.amin(x, dims_of(dim, x.ndim), bool(keepdim)).to(dtype or input.dtype)


@takes_masked_tensors
def argmax(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Where the largest element that counts is; the place has the input's dtype, as in PyTorch, unless one is given."""
    return tenfold.argmax(filled("argmax", input, mask), dim, bool(keepdim)).to(dtype or input.dtype)


@takes_masked_tensors
def argmin(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Where the smallest element that counts is; the place has the input's dtype, as in PyTorch, unless one is given."""
    return tenfold.argmin(filled("argmin", input, mask), dim, bool(keepdim)).to(dtype or input.dtype)


def _count(input: Tensor, dims: tuple[int, ...], keepdim: bool, mask: Tensor | None) -> Tensor:
    """How many elements count, as int64."""
    counts = input_mask(input, mask=mask) if mask is not None else tenfold.ones_like(input, dtype=tenfold.bool)
    return tenfold.sum(counts, dims, keepdim)


@takes_masked_tensors
def mean(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Mean of the elements that count, nan where none does.

    >>> import tenfold
    >>> tenfold.masked.mean(tenfold.tensor([[1.0, 2.0], [4.0, 8.0]]), 1, mask=tenfold.tensor([[True, False], [True, True]]))
    tensor([1., 6.])
    """
    dtype = dtype or input.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {dtype}"
        )
    dims, keepdim = dims_of(dim, input.ndim), bool(keepdim)
    if mask is None:
        return tenfold.mean(input, dims, keepdim, dtype=dtype)
    return tenfold.sum(filled("mean", input, mask), dims, keepdim, dtype=dtype) / _count(input, dims, keepdim, mask)


@takes_masked_tensors
def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Median of the elements that count, the lower of two in the middle; nan where none does.

    Raises:
        ValueError: a line of integers in which no element counts.
    """
    dtype, (d,) = dtype or input.dtype, dims_of(dim, input.ndim)[:1] or (0,)
    if mask is None:
        middle: Tensor = tenfold.median(input, d, bool(keepdim)).values
        return middle.to(dtype)
    if not input.dtype.is_floating_point and not input_mask(input, mask=mask).any(d).all():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    x = filled("median", input if input.dtype.is_floating_point else input.to(tenfold.float64), mask)
    found: Tensor = tenfold.nanmedian(x, d, bool(keepdim)).values
    return found.to(dtype)


@takes_masked_tensors
def logsumexp(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Logarithm of the sum of the exponentials of what counts, minus infinity where nothing does."""
    x = filled("logsumexp", input, mask)
    return tenfold.logsumexp(x, dims_of(dim, x.ndim), bool(keepdim)).to(dtype or input.dtype)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Any = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """Logarithm of the sum of two exponentials, of those that count."""
    a, b = filled("logaddexp", input, input_mask), filled("logaddexp", other, other_mask)
    return tenfold.logaddexp(a, b).to(dtype or input.dtype)


@takes_masked_tensors
def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Vector norm of the elements that count."""
    x = filled("amin" if ord == -inf else "norm", input, mask)
    return tenfold.vector_norm(x, 2.0 if ord is None else ord, dims_of(dim, x.ndim), bool(keepdim), dtype=dtype or input.dtype)


def _moment(
    input: Tensor, dim: Dims, unbiased: bool | None, correction: float | None, keepdim: bool, dtype: Any, mask: Any, root: bool
) -> Tensor:
    """Variance, or its square root: squares of distances from the mean, over the count less the correction, at least 0.

    Of complex numbers the result is complex, as in PyTorch.
    """
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    less = correction if correction is not None else 0 if unbiased is False else 1
    dtype = dtype or (input.dtype if input.dtype.is_floating_point or input.dtype.is_complex else tenfold.float32)
    dims = dims_of(dim, input.ndim)
    counts = _count(input, dims, True, mask)
    x = input.to(dtype if dtype.is_floating_point or dtype.is_complex else tenfold.float32)
    mean = tenfold.sum(filled("mean", x, mask), dims, True) / counts
    away = filled("var", x - mean, mask)
    squares = away * away.conj()
    result = tenfold.sum(squares, dims, bool(keepdim))
    counts = counts if keepdim else _count(input, dims, False, mask)
    result = result / (counts - less).clamp(min=0)
    return (result.sqrt() if root else result).to(dtype)


@takes_masked_tensors
def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Variance of the elements that count."""
    return _moment(input, dim, unbiased, correction, keepdim, dtype, mask, root=False)


@takes_masked_tensors
def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Standard deviation of the elements that count."""
    return _moment(input, dim, unbiased, correction, keepdim, dtype, mask, root=True)
