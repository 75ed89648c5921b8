"""Functions of several variables: powers, angles, logarithms of sums, interpolation, selection; of one: elementary.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, Number, primitive
from tenfold.dispatch.shape_rules import broadcast, pointwise
from tenfold.ops.pointwise.arithmetic import BINARY, FLOAT_REAL, FLOATING
from tenfold.settings.warnings import warn_once
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import (
    bfloat16,
    bool_,
    c_name,
    uint8,
)  # fmt: skip
from tenfold.types.numbers import factor, require_value
from tenfold.types.promotion import promote_types

_CONDITION = "{name} expected condition to be a boolean tensor, but got a tensor with dtype {dtype}"


@primitive("pointwise", exact_numbers=None, **BINARY)
def pow(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """Power: input ** exponent, broadcast and promoted.

    >>> import tenfold
    >>> tenfold.pow(2, tenfold.tensor([1.0, 3.0]))
    tensor([2., 8.])
    """


@pow.overload
def _(input: Any, exponent: Any, **options: Any) -> Any:
    """Whole numbers of every size have no negative powers; said before the exponent becomes an element of theirs."""
    if isinstance(exponent, int) and exponent < 0 and isinstance(input, Tensor) and input.dtype.category < 2:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if type(exponent) is int and isinstance(input, Tensor) and input.dtype.category == 1:
        require_value(exponent, input.dtype)
    if isinstance(exponent, (int, float)) and isinstance(input, Tensor) and input.dtype.is_half:
        require_value(exponent, input.dtype)
        if input.dtype is bfloat16 and exponent in (0.5, -0.5) and options.get("out") is None:
            return pow(input.float(), exponent).to(bfloat16)  # roots, which float16 has not
    return NotImplemented


@pow.rule
def _(input: Any, exponent: Any) -> Meta:
    result = pointwise(input, exponent)
    if result.dtype.kind == "b" and getattr(exponent, "shape", ()):  # x ** True and x ** False need no power
        raise NotImplementedError("pow is not implemented for bool; convert to an integer dtype")
    if result.dtype.kind in "iu" and not isinstance(exponent, Meta) and exponent < 0:
        raise RuntimeError("pow: Integers to negative integer powers are not allowed.")
    return result


@primitive(
    "pointwise", promote="common", promoted=("input", "other"), method=None, out="same",
    accepts={"condition": Only("bool", RuntimeError, _CONDITION)},
)  # fmt: skip
def where(condition: Tensor, input: Tensor | Number = None, other: Tensor | Number = None) -> Tensor:  # type: ignore[assignment]
    """Selection: input where condition holds, other elsewhere, broadcast and promoted.

    With a condition alone, the positions where it holds, as `nonzero(condition, as_tuple=True)` gives them.

    >>> import tenfold
    >>> tenfold.where(tenfold.tensor([True, False]), 1.0, 2.0)
    tensor([1., 2.])
    """


@where.rule
def _(condition: Any, input: Any, other: Any) -> Meta:
    arrays = [a for a in (input, other) if isinstance(a, Meta)]
    dtype = arrays[0].dtype if arrays else np.asarray(input).dtype
    return Meta(broadcast("where", condition, *arrays), dtype)


where.op.numbers_fit = True


@where.overload
def _(condition: Any, input: Any, other: Any, out: Any) -> Any:
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    for name, value in (("input", input), ("other", other)):
        if out is not None and not hasattr(value, "_array"):
            raise TypeError(f"where(): argument '{name}' must be Tensor, not {type(value).__name__}")
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise OverflowError("int too big to convert")
    if hasattr(condition, "_array") and condition.dtype is uint8:
        warn_once("where", "where received a uint8 condition tensor, which is deprecated: use a bool condition instead", 4)
        return where(condition.to(bool_), input, other, out=out)
    return NotImplemented


def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """`tenfold.where(condition, self, other)`."""
    return where(condition, self, other)


Tensor.where = _where_method  # type: ignore[method-assign, assignment]


@primitive("pointwise", **FLOAT_REAL, aliases=("arctan2",))
def atan2(input: Tensor, other: Tensor) -> Tensor:
    """The angle of the point (other, input), in radians from -pi to pi.

    >>> import tenfold
    >>> tenfold.atan2(tenfold.tensor([1.0]), tenfold.tensor([-1.0]))
    tensor([2.3562])
    """


@primitive("pointwise", **FLOATING)
def hypot(input: Tensor, other: Tensor) -> Tensor:
    """Hypotenuse: sqrt(input^2 + other^2), without overflow.

    >>> import tenfold
    >>> tenfold.hypot(tenfold.tensor([3.0]), tenfold.tensor([4.0]))
    tensor([5.])
    """


@primitive("pointwise", **FLOAT_REAL)
def copysign(input: Tensor, other: Tensor | Number) -> Tensor:
    """The size of input with the sign of other.

    >>> import tenfold
    >>> tenfold.copysign(tenfold.tensor([1.0, -2.0]), -1)
    tensor([-1., -2.])
    """


@primitive("pointwise", **FLOATING)
def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """The next number that the dtype has, in the direction of other.

    >>> import tenfold
    >>> tenfold.nextafter(tenfold.tensor([1.0]), tenfold.tensor([2.0])) > 1
    tensor([True])
    """


@primitive(
    "pointwise", promote="same", inplace=True, out="same", rule=pointwise, no_derivative="it is a step",
    accepts=Only("bool integer floating", RuntimeError, "{name} is not yet implemented for complex tensors."),
)  # fmt: skip
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """The step function: 0 below 0, 1 above, `values` at 0.

    >>> import tenfold
    >>> tenfold.heaviside(tenfold.tensor([-1.0, 0.0, 2.0]), tenfold.tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])
    """


@primitive("pointwise", accepts="floating complex", promote="common", out=True, rule=pointwise)
def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """Logarithm of a sum of exponentials: log(exp(input) + exp(other)), without overflow.

    >>> import tenfold
    >>> tenfold.logaddexp(tenfold.tensor([1000.0]), tenfold.tensor([1000.0]))
    tensor([1000.6932])
    """


@primitive("pointwise", accepts="floating", promote="common", out=True, rule=pointwise)
def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """Logarithm of a sum of powers of two: log2(2^input + 2^other), without overflow.

    >>> import tenfold
    >>> tenfold.logaddexp2(tenfold.tensor([1000.0]), tenfold.tensor([1000.0]))
    tensor([1001.])
    """


@primitive("pointwise", **FLOAT_REAL)
def xlogy(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Product with a logarithm: input * log(other), 0 where input is 0 and other is not nan.

    >>> import tenfold
    >>> tenfold.xlogy(tenfold.tensor([0.0, 2.0]), tenfold.tensor([0.0, 1.0]))
    tensor([0., 0.])
    """


@primitive("pointwise", accepts="floating complex", exact_numbers=True, **BINARY)
def lerp(input: Tensor, end: Tensor, weight: Tensor | Number) -> Tensor:
    """Linear interpolation: input + weight * (end - input), exactly `end` at weight 1.

    >>> import tenfold
    >>> tenfold.lerp(tenfold.tensor([0.0]), tenfold.tensor([10.0]), 0.3)
    tensor([3.])
    """


@lerp.overload
def _(input: Any, end: Any, weight: Any, **_: Any) -> Any:
    if hasattr(input, "_array"):  # refused before the weight promotes it
        OPERATORS["lerp"].accepts["input"].check("lerp", input.dtype)
        if isinstance(weight, (int, float, complex)):
            real = factor(weight, input.dtype)
            if real is not weight:
                return lerp(input, end, real, **_)
    if isinstance(weight, Tensor) and not weight.dim() and isinstance(input, Tensor) and weight.dtype is not input.dtype:
        kind = promote_types(input.dtype, weight.dtype) if weight.dtype.category == 3 else input.dtype
        return lerp(input.to(kind), end.to(kind), weight.to(kind), **_)  # a number, whatever its dtype
    out: Any = _.get("out") if isinstance(weight, Tensor) else None  # which a number as weight converts to
    for name, value in (("end", end), ("weight", weight), ("out", out)):
        if hasattr(value, "_array") and value.dtype is not getattr(input, "dtype", value.dtype):
            raise RuntimeError(f"expected dtype {c_name(input.dtype)} for `{name}` but got dtype {c_name(value.dtype)}")
    return NotImplemented
