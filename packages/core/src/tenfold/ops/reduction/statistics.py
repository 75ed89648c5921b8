"""Statistics: variance, norms, counts."""

from __future__ import annotations

import warnings
from math import inf, prod as product
from operator import index
from typing import Any

import numpy as np

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import DataDependent, Meta
from tenfold.dispatch.operators import composite, op, primitive
from tenfold.dispatch.shape_rules import wrap_dims
from tenfold.ops.pointwise.several import where
from tenfold.ops.reduction.reductions import count_over, mean, reduced, sum
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import type_name
from tenfold.types.promotion import promote_types


def spread_arguments(dim: Any, unbiased: Any, correction: Any) -> tuple[Any, Any]:
    """(dim, correction) of PyTorch's overloads: var(x, unbiased), var(x, dim, unbiased), var(x, dim, correction=c)."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if isinstance(dim, Tensor):
        dim = index(dim)
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    return dim, correction


def check_spread(input: Tensor, name: str) -> None:
    if input.dtype.category < 2:
        raise RuntimeError(
            f"{name} only supports floating point and complex dtypes, got {input.dtype.name}; convert with .float()"
        )


@composite("reduction", out=True, rounded_once=True)
def var(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: float | None = None
) -> Tensor:
    """Variance over all elements or dimensions.

    Formula: sum(|x - mean|^2) / max(0, n - correction).

    >>> import tenfold
    >>> tenfold.var(tenfold.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """
    check_spread(input, "var")
    dim, correction = spread_arguments(dim, unbiased, correction)
    warn_of_freedom("var", input, dim, correction)
    return variance_over(input, dim, keepdim, correction)


def variance_over(input: Tensor, dim: Any, keepdim: bool, correction: Any) -> Tensor:
    dims = wrap_dims(dim, input.dim(), "var")
    deviation = input - mean(input, dims, True)
    count = count_over(input.shape, dim) - correction
    other = deviation
    if not count or (dim is None and count < 0):
        count = 0
        deviation = (deviation.abs() if dim is None else deviation).detach()
        other = deviation + input - input.detach()
    x = sum((deviation * other.conj()).real, dims, keepdim)
    # A count below 0 counts as 0 in the value, and as it is in the slope.
    return (x - x.detach()) / count + x.detach() / 0 if count < 0 else x / count


def warn_of_freedom(name: str, input: Tensor, dim: Any, correction: Any) -> bool:
    """Whether `correction` leaves numbers to average; a warning if not."""
    wrap_dims(dim, input.dim(), name)
    if count_over(input.shape, dim) > correction and input.numel():
        return True
    if not input.is_meta:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel "
            "divided by output numel).",
            stacklevel=4,
        )
    return False


@composite("reduction", out=True, rounded_once=True)
def std(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: float | None = None
) -> Tensor:
    """Standard deviation: the square root of the variance, with gradient 0 where it is 0.

    >>> import tenfold
    >>> tenfold.std(tenfold.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """
    check_spread(input, "std")
    dim, correction = spread_arguments(dim, unbiased, correction)
    free = warn_of_freedom("std", input, dim, correction)
    variance = var(input, dim, None, keepdim, correction=correction) if free else variance_over(input, dim, keepdim, correction)
    zero = variance == 0
    return where(zero, 0, where(zero, 1, variance).sqrt())


# Norms


_NORMED = Only(
    "floating complex", RuntimeError, "norm(): input dtype should be either floating point or complex. Got {dtype} instead.", True
)


@primitive("reduction", accepts=_NORMED, method=None, name="vector_norm", out="same")
def _vector_norm(input: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm over all elements or dimensions: sum(|x|^p)^(1/p); inf and -inf are extremes, 0 counts.
    What `norm` and `linalg.vector_norm` run.

    >>> import tenfold
    >>> tenfold.vector_norm(tenfold.tensor([3.0, 4.0]))
    tensor(5.)
    """


@_vector_norm.lower(dtype=None)
def _(input: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    return _vector_norm(_as_wide(input, dtype), ord, dim, keepdim)


def _as_wide(input: Tensor, dtype: Any) -> Tensor:
    """The numbers in a dtype that holds them."""
    given = input.dtype
    if given.category < 2 or dtype.category - given.category or promote_types(given, dtype) is not dtype:
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor and a dtype that holds it without narrowing, "
            f"got {type_name(given)} and {type_name(dtype)}"
        )
    return input.to(dtype)


@_vector_norm.rule
def _(input: Any, ord: Any, dim: Any, keepdim: bool) -> Meta:
    if product(input.shape) == 0 and (ord < 0 or ord == inf):
        dims = wrap_dims(dim, len(input.shape), "norm")
        empty = [d for d in dims if input.shape[d] == 0]
        if empty:
            where = (
                "an empty tensor because the"
                if dim is None
                else f"the dimension {empty[0]} because this dimension is empty and the"
            )
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {ord:g} norm on {where} operation does not have an identity"
            )
    real = np.dtype(f"f{input.dtype.itemsize // 2}") if input.dtype.kind == "c" else input.dtype
    return reduced(input, dim, keepdim, "norm", real)


@composite("reduction", out="same")
def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """Vector norm of all elements or over dimensions; p: a number, inf, -inf, "fro" (2) or "nuc" (of matrices).

    >>> import tenfold
    >>> tenfold.norm(tenfold.tensor([3.0, -4.0]), 1)
    tensor(7.)
    """
    if p == "nuc":
        return op.linalg_matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm: only valid string values are 'fro' and 'nuc', found: {p}")
    if p == "fro" and isinstance(dim, (tuple, list)) and len(dim) > 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    if dtype is not None:
        input = _as_wide(input, dtype)
    return _vector_norm(input, 2 if p is None or p == "fro" else p, dim, keepdim)


# Counts


@primitive("reduction", accepts={"input": "integer"}, nondifferentiable="its result is a count")
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each non-negative integer occurs, or the sum of its weights. Shape: (N) -> (max(input) + 1).

    >>> import tenfold
    >>> tenfold.bincount(tenfold.tensor([1, 1, 3]))
    tensor([0, 2, 0, 1])
    """


@bincount.rule
def _(input: Any, weights: Any, minlength: int) -> Meta:
    if len(input.shape) != 1:
        raise RuntimeError(
            f"bincount only supports 1-d non-negative integral inputs, got {input.dtype} of shape {list(input.shape)}"
        )
    if weights is not None and tuple(weights.shape) != tuple(input.shape):
        raise RuntimeError("bincount: weights should be 1-d and have the same length as input")
    if minlength < 0:
        raise RuntimeError("bincount: minlength should be >= 0")
    raise DataDependent("bincount: the result's length depends on the data, which a meta tensor does not have")
