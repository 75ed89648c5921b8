"""Reductions, sums up to each element, differences."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.array_api.data_types import SIGNED, UNSIGNED, together


def _axes(x: Tensor, axis: Any) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)


def _wide(x: Tensor, dtype: Any) -> Any:
    """The dtype of sums: integers in the widest of their kind."""
    if dtype is not None:
        return dtype
    return tenfold.uint64 if x.dtype in UNSIGNED else tenfold.int64 if x.dtype in (*SIGNED, tenfold.bool) else x.dtype


def sum(x: Tensor, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Sum along axes."""
    x, axes = x.to(_wide(x, dtype)), _axes(x, axis)
    return tenfold.sum(x, axes, keepdims, dtype=x.dtype) if axes else x


def prod(x: Tensor, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Product along axes."""
    x = x.to(_wide(x, dtype))
    for a in sorted((a % x.ndim for a in _axes(x, axis)), reverse=True):
        x = tenfold.prod(x, a, keepdims, dtype=x.dtype)
    return x


def max(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Largest element along axes."""
    axes = _axes(x, axis)
    return tenfold.amax(x, axes, keepdims) if axes else x


def min(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Smallest element along axes."""
    axes = _axes(x, axis)
    return tenfold.amin(x, axes, keepdims) if axes else x


def mean(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Mean along axes."""
    axes = _axes(x, axis)
    return tenfold.mean(x, axes, keepdims) if axes else x


def var(x: Tensor, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Variance along axes: squares over the count less the correction."""
    axes = _axes(x, axis)
    return tenfold.var(x, axes, correction=correction, keepdim=keepdims) if axes else x - x


def std(x: Tensor, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Standard deviation along axes."""
    return tenfold.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def all(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along axes are true."""
    axes = _axes(x, axis)
    return tenfold.all(x.to(tenfold.bool), axes, keepdims) if axes else x.to(tenfold.bool)


def any(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether an element along axes is true."""
    axes = _axes(x, axis)
    return tenfold.any(x.to(tenfold.bool), axes, keepdims) if axes else x.to(tenfold.bool)


def count_nonzero(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """How many elements along axes are not 0."""
    return sum((x != 0), axis=axis, keepdims=keepdims)


def _cumulative(x: Tensor, axis: int | None, dtype: Any, include_initial: bool, first: int, function: Any) -> Tensor:
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"cumulative_{function.__name__[3:]}: an array of {x.ndim} dimensions needs an axis")
        axis = 0
    x = x.reshape(1) if x.ndim == 0 else x
    made: Tensor = function(x.to(_wide(x, dtype)), axis, dtype=_wide(x, dtype))
    if not include_initial:
        return made
    size = list(made.shape)
    size[axis] = 1
    return tenfold.cat([made.new_full(size, first), made], axis)


def cumulative_sum(x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Tensor:
    """Sums up to each element."""
    return _cumulative(x, axis, dtype, include_initial, 0, tenfold.cumsum)


def cumulative_prod(x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Tensor:
    """Products up to each element."""
    return _cumulative(x, axis, dtype, include_initial, 1, tenfold.cumprod)


def diff(x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along an axis, n times."""
    given = [v for v in (prepend, x, append) if v is not None]
    return tenfold.diff(tenfold.cat(together(*given), axis) if len(given) > 1 else x, n, axis)
