"""Elementwise rounding, limits and extremes of two."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.operators import OPERATORS, Number, composite, primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import float64
from tenfold.types.numbers import require_value
from tenfold.types.numeric_limits import finfo
from tenfold.types.promotion import of_values

_UNORDERED = "{name}: not supported for complex tensors, which have no order"
_EXTREME: dict[str, Any] = {
    "promote": "common", "out": True, "rule": pointwise,
    "accepts": Only("bool integer floating", RuntimeError, "{name}: not implemented for complex tensors, which have no order"),
}  # fmt: skip
_LIMIT: dict[str, Any] = {**_EXTREME, "accepts": Only("bool integer floating", words=_UNORDERED)}


@primitive("pointwise", accepts="integer floating", inplace=True, out=True, rule=pointwise)
def floor(input: Tensor) -> Tensor:
    """The largest whole number that is not above input.

    >>> import tenfold
    >>> tenfold.floor(tenfold.tensor([1.7, -1.2]))
    tensor([ 1., -2.])
    """


@primitive("pointwise", accepts="integer floating", inplace=True, out=True, rule=pointwise)
def ceil(input: Tensor) -> Tensor:
    """The smallest whole number that is not below input.

    >>> import tenfold
    >>> tenfold.ceil(tenfold.tensor([1.2, -1.7]))
    tensor([ 2., -1.])
    """


@primitive("pointwise", accepts="integer floating", inplace=True, out=True, rule=pointwise, aliases=("fix",))
def trunc(input: Tensor) -> Tensor:
    """The whole part: input rounded towards 0.

    >>> import tenfold
    >>> tenfold.trunc(tenfold.tensor([1.7, -1.7]))
    tensor([ 1., -1.])
    """


@primitive("pointwise", accepts="integer floating", inplace=True, out=True, rule=pointwise)
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest whole number, halves to the even one; or the nearest multiple of 10 ** -decimals.

    >>> import tenfold
    >>> tenfold.round(tenfold.tensor([0.5, 1.5, -1.2]))
    tensor([ 0.,  2., -1.])
    """


@round.lower(decimals=0)
def _(input: Tensor, decimals: int) -> Tensor:
    if not input.dtype.is_floating_point:
        raise RuntimeError(f"round: decimals is only for floating point tensors, got {input.dtype}")
    scale = 10.0 ** abs(decimals)
    if input.dtype.is_half:
        return round(input.float(), decimals=decimals).to(input.dtype)
    return round(input * scale) / scale if decimals > 0 else round(input / scale) * scale


@composite("pointwise", accepts="floating", inplace=True, out=True)
def frac(input: Tensor) -> Tensor:
    """The part behind the point: input - trunc(input).

    >>> import tenfold
    >>> tenfold.frac(tenfold.tensor([1.5, -1.25]))
    tensor([ 0.5000, -0.2500])
    """
    return input - trunc(input)


@primitive("pointwise", **_EXTREME)
def maximum(input: Tensor, other: Tensor) -> Tensor:
    """The larger of two, nan where either is nan.

    >>> import tenfold
    >>> tenfold.maximum(tenfold.tensor([1, 5]), tenfold.tensor([3, 2]))
    tensor([3, 5])
    """


@primitive("pointwise", **_EXTREME)
def minimum(input: Tensor, other: Tensor) -> Tensor:
    """The smaller of two, nan where either is nan.

    >>> import tenfold
    >>> tenfold.minimum(tenfold.tensor([1, 5]), tenfold.tensor([3, 2]))
    tensor([1, 2])
    """


@primitive("pointwise", **_EXTREME)
def fmax(input: Tensor, other: Tensor) -> Tensor:
    """The larger of two; of a number and nan the number.

    >>> import tenfold
    >>> tenfold.fmax(tenfold.tensor([1.0, float("nan")]), tenfold.tensor([3.0, 2.0]))
    tensor([3., 2.])
    """


@primitive("pointwise", **_EXTREME)
def fmin(input: Tensor, other: Tensor) -> Tensor:
    """The smaller of two; of a number and nan the number.

    >>> import tenfold
    >>> tenfold.fmin(tenfold.tensor([1.0, float("nan")]), tenfold.tensor([3.0, 2.0]))
    tensor([1., 2.])
    """


@primitive("pointwise", inplace=True, **_LIMIT)
def clamp_min(input: Tensor, min: Tensor | Number) -> Tensor:
    """Raised to a lower limit: max(input, min).

    >>> import tenfold
    >>> tenfold.clamp_min(tenfold.tensor([-1.0, 2.0]), 0)
    tensor([0., 2.])
    """


@primitive("pointwise", inplace=True, **_LIMIT)
def clamp_max(input: Tensor, max: Tensor | Number) -> Tensor:
    """Cut to an upper limit: min(input, max).

    >>> import tenfold
    >>> tenfold.clamp_max(tenfold.tensor([-1.0, 2.0]), 0)
    tensor([-1.,  0.])
    """


def _check_limits(input: Any, *limits: Any) -> Any:
    dtype = of_values([x for x in (input, *limits) if x is not None])
    for limit in limits:
        if isinstance(limit, (int, float)):
            if dtype.category == 0:
                raise NotImplementedError("\"clamp_scalar_cpu\" not implemented for 'Bool'; convert to an integer dtype")
            require_value(limit, dtype)
    return NotImplemented


for _limiting in (clamp_min, clamp_max):
    for _form in (_limiting.op, OPERATORS[_limiting.op.name + "_"]):
        _form.overload(lambda input, out=None, **limits: _check_limits(input, *limits.values()))


def _number(limit: Any, input: Any) -> Any:
    """A limit as a number; a complex one of floats by its real part, if it has no other."""
    number = limit.item() if isinstance(limit, Tensor) else limit
    return number.real if input.is_floating_point() and not number.imag else number


def _is_mixed(min: Any, max: Any) -> bool:
    return min is not None and max is not None and isinstance(min, Tensor) is not isinstance(max, Tensor)


def _is_single(*limits: Any) -> bool:
    """Whether each limit that is a tensor could stand for a number."""
    return all(not limit.dim() and not limit.requires_grad for limit in limits if isinstance(limit, Tensor))


def _refuse_mixture(min: Any, max: Any) -> None:
    """A number and a tensor that is none are no limits."""
    if _is_mixed(min, max) and not _is_single(min, max):
        kinds = f"min={type(min).__name__}, max={type(max).__name__}"
        raise TypeError(
            f"clamp() received an invalid combination of arguments - got {kinds}, but both are tensors or both numbers"
        )


@composite("pointwise", inplace=True, out=True, aliases=("clip",))
def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Limited to a range: min(max(input, min), max); the limits are numbers or tensors, and one may be missing.

    >>> import tenfold
    >>> tenfold.clamp(tenfold.tensor([-2.0, 0.5, 3.0]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("clamp: At least one of 'min' or 'max' must not be None")
    _refuse_mixture(min, max)
    if complex in (type(min), type(max)) or _is_mixed(min, max):
        min, max = (
            limit if limit is None or (isinstance(limit, Tensor) and limit.is_meta) else _number(limit, input)
            for limit in (min, max)
        )
    _check_limits(input, min, max)
    if min is None:
        return clamp_max(input, max)
    if max is None:
        return clamp_min(input, min)
    dtype = of_values((input, min, max))  # of all three at once: a 0-d limit alone could win over the tensor's dtype
    input, min, max = (v.to(dtype) if isinstance(v, Tensor) else v for v in (input, min, max))
    if isinstance(min, Tensor) and isinstance(max, Tensor) and min.requires_grad:  # which decides nothing where they are equal
        min = OPERATORS["where"].fn(min == max, min.detach(), min)
    return clamp_max(clamp_min(input, min), max)


@OPERATORS["clamp_"].overload
def _(input: Any, min: Any = None, max: Any = None) -> Any:
    """A 0-d tensor beside a number is one, wherever it lies."""
    _refuse_mixture(min, max)
    if not _is_mixed(min, max):
        return NotImplemented
    return input.clamp_(_number(min, input), _number(max, input))


@composite("pointwise", inplace=True, out=True)
def nan_to_num(input: Tensor, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """Numbers for nan and the infinities: by default 0 and the dtype's largest and smallest.

    >>> import tenfold
    >>> tenfold.nan_to_num(tenfold.tensor([float("nan"), float("inf")]), posinf=9.0)
    tensor([0., 9.])
    """
    if input.dtype.is_complex:
        parts = [nan_to_num(part, nan, posinf, neginf) for part in (input.real, input.imag)]
        return parts[0] + parts[1] * 1j
    if not input.dtype.is_floating_point:
        return input.clone()
    most = finfo(input.dtype).max
    for spot, x, default in ((input.isneginf(), neginf, -most), (input.isposinf(), posinf, most), (input.isnan(), nan, 0.0)):
        x = float(default if x is None else x)
        input = input.masked_fill(spot, x if abs(x) <= most else input.new_full((), x, dtype=float64).to(input))
    return input
