"""Deviations, medians, modes, quantiles, covariance, correlation; sums and means without NaN; the first dimension sorted."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tenfold import return_types
from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, op, primitive
from tenfold.dispatch.shape_rules import wrap_dim, wrap_dims
from tenfold.ops.pointwise.several import where
from tenfold.ops.reduction.ordering import sort
from tenfold.ops.reduction.reductions import located_rule, mean, ordered, sum
from tenfold.ops.reduction.statistics import check_spread, spread_arguments, std, var, variance_over, warn_of_freedom
from tenfold.ops.view.shapes import of_a_copy
from tenfold.scientific.ops.outs import outs_like_input
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import float32, float64, int64, type_name


@composite("statistics", method=None)
def var_mean(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[Tensor, Tensor]:
    """Variance and mean.

    >>> import tenfold
    >>> tenfold.var_mean(tenfold.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    check_spread(input, "var_mean")
    dim, correction = spread_arguments(dim, unbiased, correction)
    free = warn_of_freedom("var_mean", input, dim, correction)
    variance = var(input, dim, None, keepdim, correction=correction) if free else variance_over(input, dim, keepdim, correction)
    return variance, mean(input, dim, keepdim)


@composite("statistics", method=None)
def std_mean(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean.

    >>> import tenfold
    >>> tenfold.std_mean(tenfold.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    check_spread(input, "std_mean")
    dim, correction = spread_arguments(dim, unbiased, correction)
    free = warn_of_freedom("std_mean", input, dim, correction)
    spread = (
        std(input, dim, None, keepdim, correction=correction) if free else variance_over(input, dim, keepdim, correction).sqrt()
    )
    return spread, mean(input, dim, keepdim)


@primitive("statistics", accepts=ordered("median", bools=False), method=None, name="median_value")
def _median_value(input: Tensor, skip_nan: bool) -> Tensor:
    """The lower median of all elements: what `median(input)` and `nanmedian(input)` run.

    >>> import tenfold
    >>> tenfold.op.median_value(tenfold.tensor([3.0, 1.0, 2.0, 4.0]), False)
    tensor(2.)
    """


@_median_value.rule
def _(input: Any, skip_nan: bool) -> Meta:
    return Meta((), input.dtype)


@primitive("statistics", accepts=ordered("median", bools=False), method=None, name="median_dim")
def _median_dim(input: Tensor, dim: int, keepdim: bool, skip_nan: bool) -> tuple[Tensor, Tensor]:
    """The lower median over a dimension and where it is: what `median` and `nanmedian` run,
    given a dimension.

    >>> import tenfold
    >>> tenfold.op.median_dim(tenfold.tensor([[3.0, 1.0, 2.0]]), 1, False, False)
    (tensor([2.]), tensor([2]))
    """


@_median_dim.rule
def _(input: Any, dim: int, keepdim: bool, skip_nan: bool) -> tuple[Meta, Meta]:
    return located_rule("median")(input, dim, keepdim)


@composite("statistics", out="same")
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Median, the lower of two: of all elements, or with a dimension (values, indices) over it; NaN wins.

    >>> import tenfold
    >>> tenfold.median(tenfold.tensor([3.0, 1.0, 2.0, 4.0]))
    tensor(2.)
    """
    if dim is None:
        return _median_value(input, False)
    return return_types.median(*_median_dim(input, wrap_dim(dim, input.dim(), "median"), keepdim, False))


@composite("statistics", out="same")
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Median of the elements that are not NaN, as `median`.

    >>> import tenfold
    >>> tenfold.nanmedian(tenfold.tensor([3.0, float("nan"), 2.0]))
    tensor(2.)
    """
    if dim is None:
        return _median_value(input, True)
    return return_types.nanmedian(*_median_dim(input, wrap_dim(dim, input.dim(), "nanmedian"), keepdim, True))


@primitive("statistics", accepts=ordered("mode"), method=None, name="mode_pair")
def _mode(input: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The most frequent element over a dimension and its last position: what `mode` runs.

    >>> import tenfold
    >>> tenfold.op.mode_pair(tenfold.tensor([3, 1, 3]), 0, False)
    (tensor(3), tensor(2))
    """


_mode.rule(located_rule("mode"))


@composite("statistics", out="same")
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element over a dimension (the least of several), as (values, indices of a last occurrence).

    >>> import tenfold
    >>> tenfold.mode(tenfold.tensor([1, 2, 2])).values
    tensor(2)
    """
    return return_types.mode(*_mode(input, wrap_dim(dim, input.dim(), "mode"), keepdim))


_MODE = "expected scalar type '{wanted}' but got '{given}' for "
mode.overload(outs_like_input(_MODE + "values output", _MODE + "indices output"))


_QUANTILE = {"input": Only("floating", RuntimeError, "{name}() input tensor must be either float or double dtype")}


@composite("statistics", accepts=_QUANTILE, out="same")
def quantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear") -> Tensor:
    """The q-quantiles of all elements or over a dimension; a dimension for q comes first when q has one.

    >>> import tenfold
    >>> tenfold.quantile(tenfold.tensor([0.0, 1.0, 4.0]), 0.75)
    tensor(2.5000)
    """
    if isinstance(q, (int, float)) and 0 <= q <= 1 and input.numel():
        return _at_one_rank(input, q, dim, keepdim, interpolation)
    return _quantiles(input, q, dim, keepdim, interpolation, False)


@composite("statistics", accepts=_QUANTILE, out="same")
def nanquantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear") -> Tensor:
    """The q-quantiles of the elements that are not NaN, as `quantile`.

    >>> import tenfold
    >>> tenfold.nanquantile(tenfold.tensor([0.0, float("nan"), 4.0]), 0.5)
    tensor(2.)
    """
    return _quantiles(input, q, dim, keepdim, interpolation, True)


for _operator in (quantile, nanquantile):
    _operator.overload(
        outs_like_input("quantile() out tensor must be same dtype as the input tensor, but got {c_given} and {c_wanted}")
    )


def _check_quantiles(input: Tensor, interpolation: str) -> None:
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if input.dtype not in (float32, float64):
        raise RuntimeError(f"quantile() input tensor must be either float or double dtype, got {input.dtype.name}")


def _quantiles(input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip_nan: bool) -> Tensor:
    _check_quantiles(input, interpolation)
    if not isinstance(q, Tensor):
        if isinstance(q, (int, float)) and not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        q = op.scalar_tensor(q, dtype=input.dtype, device=input.device)
    if q.dim() > 1:
        raise RuntimeError(f"quantile() q must be a scalar or 1D tensor, got {q.dim()} dimensions")
    if input.dtype is not q.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if q._key.device.type != "cuda" and not bool(((q >= 0) & (q <= 1)).all()):  # there it would wait, as PyTorch's does not
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    dim = None if dim is None else wrap_dim(dim, input.dim(), "quantile")
    if input.numel() == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    rows = input.reshape(-1) if dim is None or not input.dim() else input.unsqueeze(-1).transpose(dim, -1).contiguous()
    rising = sort(rows, -1).values
    last = (rising == rising).sum(-1, True) - 1 if skip_nan else rising.shape[-1] - 1
    ranks = q.reshape(-1) * last  # (..., number of q)
    if skip_nan:
        ranks = where(ranks < 0, 0, ranks)
    else:
        ranks = where((rising != rising).any(-1, True), rising.shape[-1] - 1.0, ranks)
    ranks = ranks.expand(*rising.shape[:-1], ranks.shape[-1])
    if interpolation in ("lower", "higher", "nearest"):
        ranks = getattr(ranks, {"lower": "floor", "higher": "ceil", "nearest": "round"}[interpolation])()
    low = ranks.floor()
    result = rising.gather(-1, low.to(int64))
    if interpolation in ("linear", "midpoint"):
        weight = 0.5 * op.ones_like(ranks) if interpolation == "midpoint" else ranks - low
        result = result.lerp(rising.gather(-1, ranks.ceil().to(int64)), weight)
    result = result.movedim(-1, 0) if q.dim() else result.squeeze(-1)
    if dim is None or not input.dim():
        return of_a_copy(result.reshape([*q.shape, *([1] * input.dim() if keepdim else [])]))
    return of_a_copy(result if keepdim else result.squeeze(dim + q.dim()))


def _at_one_rank(input: Tensor, q: float, dim: int | None, keepdim: bool, interpolation: str) -> Tensor:
    """The same for a number: which elements in order it lies between is known, but for rows with NaN, whose quantile is that."""
    _check_quantiles(input, interpolation)
    dim = None if dim is None else wrap_dim(dim, input.dim(), "quantile")
    rows = input.reshape(-1) if dim is None or not input.dim() else input.unsqueeze(-1).transpose(dim, -1).contiguous()
    rising = sort(rows, -1).values
    number = input.dtype.numpy.type
    rank = number(q) * number(rising.shape[-1] - 1)  # rounded as a tensor's would be
    rounding: dict[str, Any] = {"lower": np.floor, "higher": np.ceil, "nearest": np.round}
    if interpolation in rounding:
        rank = rounding[interpolation](rank)
    low, high, last = (rising.narrow(-1, place, 1) for place in (int(rank), int(np.ceil(rank)), rising.shape[-1] - 1))
    if interpolation in ("linear", "midpoint"):
        low = low.lerp(high, 0.5 if interpolation == "midpoint" else float(rank - np.floor(rank)))
    result = where(last.isnan(), last, low).squeeze(-1)  # in order NaN come last
    if dim is None or not input.dim():
        return of_a_copy(result.reshape([1] * input.dim() if keepdim else []))
    return of_a_copy(result if keepdim else result.squeeze(dim))


def _check_weights(name: str, weights: Tensor | None, rows: Tensor, wanted: tuple[str, int]) -> None:
    """Refuse weights of observations of another kind, count or sign."""
    if weights is None:
        return
    kind, category = wanted
    if weights.dim() > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.dim()} dimensions"
        )
    if weights.dtype.category != category:
        got = type_name(weights.dtype)
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {name} with {got} dtype")
    if weights.numel() != rows.shape[1]:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got {weights.numel()} != "
            f"{rows.shape[1]}"
        )
    if weights._key.device.type != "meta" and weights._key.level is None and not bool((weights >= 0).all()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


@composite("statistics")
def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """Covariance matrix of variables in rows, observations in columns.

    >>> import tenfold
    >>> tenfold.cov(tenfold.tensor([[0.0, 2.0], [2.0, 0.0]]))
    tensor([[ 2., -2.],
            [-2.,  2.]])
    """
    if input.dim() > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions"
        )
    if input.dtype.category == 0:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    _check_weights("fweights", fweights, rows, ("integral", 1))
    _check_weights("aweights", aweights, rows, ("floating point", 2))
    weights = fweights
    if aweights is not None:
        weights = aweights if weights is None else weights * aweights
    count: Any
    if weights is None:
        count = rows.shape[1]
        average = mean(rows, 1, True) if rows.dtype.category > 1 else sum(rows, 1, True) / count
        scale = count - correction
    else:
        count = sum(weights)
        average = sum(rows * weights, 1, True) / count
        lost = correction if aweights is None else correction * sum(weights * aweights) / count
        scale = count - lost
    rows = rows - average
    other = rows if weights is None else rows * weights
    if isinstance(scale, Tensor):
        scale = where(scale < 0, 0, scale)
    else:
        if scale <= 0 and input._key.device.type != "meta":
            warnings.warn(
                "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
                UserWarning,
                stacklevel=4,
            )
        scale = max(0, scale)
    result = rows.mm(other.transpose(0, 1).conj()) / scale
    return result.reshape(()) if rows.shape[0] == 1 else result


@composite("statistics")
def corrcoef(input: Tensor) -> Tensor:
    """Correlation coefficients of variables in rows, clipped to [-1, 1].

    >>> import tenfold
    >>> tenfold.corrcoef(tenfold.tensor([[0.0, 2.0], [2.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    if input.dim() > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions"
        )
    c = cov(input)
    if c.dim() == 0:
        return c / c
    d = c.diagonal()
    spread = (d.real if c.dtype.is_complex else d).sqrt()
    c = c / spread.unsqueeze(-1) / spread.unsqueeze(0)
    if c.dtype.is_complex:
        return op.complex(c.real.clamp(-1, 1), c.imag.clamp(-1, 1))
    return c.clamp(-1, 1)


@composite("statistics", out="computed")
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum with NaN counted as zero.

    >>> import tenfold
    >>> tenfold.nansum(tenfold.tensor([1.0, float("nan")]))
    tensor(1.)
    """
    if input.dtype.category == 3:
        wrap_dims(dim, input.dim(), "nansum")
        raise RuntimeError("nansum does not support complex inputs")
    if input.dtype.category < 2:
        return sum(input, dim, keepdim, dtype=dtype)
    return sum(where(input.isnan(), 0, input), dim, keepdim, dtype=dtype)


@composite("statistics", out="computed")
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Mean of the elements that are not NaN.

    >>> import tenfold
    >>> tenfold.nanmean(tenfold.tensor([1.0, float("nan"), 3.0]))
    tensor(2.)
    """
    if input.dtype.category < 2:
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype.name}")
    return nansum(input, dim, keepdim, dtype=dtype) / sum(op.eq(input, input), dim, keepdim)  # nan is not itself


@composite("statistics", out="same")
def msort(input: Tensor) -> Tensor:
    """Elements in order along the first dimension.

    >>> import tenfold
    >>> tenfold.msort(tenfold.tensor([2, 1]))
    tensor([1, 2])
    """
    return op.sort_pair(input, 0, False)[0]
