"""Elementwise operators of several arguments: arithmetic, powers, selection. Functions of one variable, comparisons,
rounding, complex parts and filling are in the modules beside this one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, Number, composite, primitive
from tenfold.dispatch.shape_rules import (
    broadcast,
    pointwise,
)
from tenfold.ops.creation.factories import full
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import (
    bfloat16,
    bool_,
    c_name,
    int64,
    uint8,
)  # fmt: skip
from tenfold.types.numbers import require_value
from tenfold.types.numeric_limits import representable
from tenfold.types.promotion import of_values, promote_types

_BINARY: dict[str, Any] = {"promote": "common", "inplace": True, "out": True, "rule": pointwise}
_EXACT: dict[str, Any] = {"exact_numbers": ("other",)}
_CONDITION = "{name} expected condition to be a boolean tensor, but got a tensor with dtype {dtype}"
_NOT_BOOL = Only(
    "integer floating complex", RuntimeError,
    "Subtraction, the `-` operator, with two bool tensors is not supported. "
    "Use the `^` or `logical_xor()` operator instead.",
)  # fmt: skip
_REAL: dict[str, Any] = {**_BINARY, "accepts": "integer floating"}
_FLOAT: dict[str, Any] = {**_BINARY, "promote": "float"}
_FLOAT_REAL: dict[str, Any] = {**_FLOAT, "accepts": "floating"}
_FLOATING: dict[str, Any] = {**_BINARY, "accepts": "floating"}


@primitive("pointwise", old=("input alpha other",), **_BINARY)
def add(input: Tensor, other: Tensor | Number, *, alpha: Any = 1) -> Tensor:
    """Sum: input + alpha * other, broadcast and promoted.

    >>> import tenfold
    >>> tenfold.add(tenfold.tensor([1.0, 2.0]), 10, alpha=2)
    tensor([21., 22.])
    """


def number_first(function: Any) -> None:
    """Let an operator take a number for its first argument: a 0-d tensor in the dtype of the result."""

    def wrapped(input: Any, other: Any, **options: Any) -> Any:
        if not isinstance(input, (int, float, complex)) or not isinstance(other, (Tensor, int, float, complex)):
            return NotImplemented
        given = {name: value for name, value in options.items() if value is not None}
        if not isinstance(other, Tensor):
            return function(full((), input), other, **given)
        dtype = of_values((input, other))
        if dtype.category == 1 and isinstance(input, int) and -(2**63) <= input < 2**63:
            return function(full((), input, dtype=int64, device=other.device).to(dtype), other, **given)
        return function(full((), input, dtype=dtype, device=other.device), other, **given)

    function.overload(wrapped)


number_first(add)


@composite("pointwise", method=None, inplace=True, promote="common")
def add_scaled(input: Tensor, other: Tensor | Number, alpha: Any) -> Tensor:
    """Sum with a multiple: input + alpha * other, what `add(alpha=)` runs and an optimizer's step is made of.

    >>> import tenfold
    >>> tenfold.add_scaled(tenfold.tensor([1.0]), tenfold.tensor([2.0]), 0.5)
    tensor([2.])
    """
    return _with_multiple(add, input, other, alpha)


@add.lower(alpha=1)
def _(input: Tensor, other: Any, alpha: Any) -> Tensor:
    return _with_multiple(add, input, other, alpha)


def _with_multiple(combine: Any, input: Tensor, other: Any, alpha: Any) -> Tensor:
    """input + alpha * other or input - alpha * other; of half precision rounded once."""
    dtype = of_values((input, other))
    if alpha == 1:
        _check_alpha(input, other, alpha, combine.__name__)
        return combine(input, other)
    if not dtype.is_half:
        return combine(input, _scaled(input, other, alpha, combine.__name__))
    wide = other.float() if isinstance(other, Tensor) else other
    return combine(input.float(), _scaled(input.float(), wide, alpha, combine.__name__)).to(dtype)


add.op.lower_inplace = OPERATORS["add_scaled_"].fn


def _check_alpha(input: Any, other: Any, alpha: Any, name: str) -> Any:
    """The dtype of a sum with a multiple; RuntimeError for a multiplier that it has no place for."""
    dtype = of_values((input, other))
    if isinstance(alpha, bool) and dtype.category:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    whole = isinstance(alpha, int) or not isinstance(alpha, (float, complex))
    if not whole and dtype.category < 2:
        raise RuntimeError(f"{name}: For integral input tensors, argument alpha must not be a floating point number.")
    return dtype


def _scaled(input: Tensor, other: Any, alpha: Any, name: str) -> Any:
    dtype = _check_alpha(input, other, alpha, name)
    if isinstance(other, Tensor) and other.dtype is not dtype:
        other = other.to(dtype)  # before the product, which a narrower type would round
    return other & bool(alpha) if dtype.category == 0 else other * representable(alpha, dtype)


@primitive("pointwise", accepts=_NOT_BOOL, aliases=("subtract",), old=("input alpha other",), **_BINARY)
def sub(input: Tensor, other: Tensor | Number, *, alpha: Any = 1) -> Tensor:
    """Difference: input - alpha * other, broadcast and promoted; bool tensors have none.

    >>> import tenfold
    >>> tenfold.sub(tenfold.tensor([3.0]), 1)
    tensor([2.])
    """


@sub.lower(alpha=1)
def _(input: Tensor, other: Any, alpha: Any) -> Tensor:
    return _with_multiple(sub, input, other, alpha)


def _subtract_scaled(input: Tensor, other: Any, alpha: Any) -> Tensor:
    if alpha == 1 or isinstance(other, bool) or bool_ in (input.dtype, getattr(other, "dtype", None)):  # which is refused there
        return input.sub_(other)
    return OPERATORS["add_scaled_"].fn(input, other, -alpha)


sub.op.lower_inplace = _subtract_scaled


def _refuse_bools(input: Any, other: Any, **options: Any) -> Any:
    """Bool tensors have no difference; they come here before promotion makes integers of them."""
    bools = [isinstance(x, bool) or getattr(x, "dtype", None) is bool_ for x in (input, other)]
    if all(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if any(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return _wrapped(input, other, **options)


number_first(sub)
_wrapped = sub.op.overload_body
sub.overload(_refuse_bools)


@primitive("pointwise", aliases=("multiply",), **_BINARY, **_EXACT)
def mul(input: Tensor, other: Tensor | Number) -> Tensor:
    """Product, broadcast and promoted.

    >>> import tenfold
    >>> tenfold.mul(tenfold.tensor([1, 2]), 3)
    tensor([3, 6])
    """


@primitive("pointwise", aliases=("divide", "true_divide"), **_FLOAT, **_EXACT)
def div(input: Tensor, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
    """Quotient: true division; rounding_mode "floor" or "trunc" rounds it and keeps integers.

    >>> import tenfold
    >>> tenfold.div(tenfold.tensor([7, -7]), 2, rounding_mode="floor")
    tensor([ 3, -4])
    """


number_first(mul)
number_first(div)


@div.lower(rounding_mode=None)
def _(input: Tensor, other: Any, rounding_mode: str) -> Tensor:
    if rounding_mode == "floor":
        return _floored_quotient(input, other)
    if rounding_mode == "trunc":
        return _truncated_quotient(input, other)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}")


@primitive("pointwise", no_derivative='it is a step; div(rounding_mode="floor") has derivative 0', **_REAL, **_EXACT)
def floor_divide(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Quotient rounded towards minus infinity.

    >>> import tenfold
    >>> tenfold.floor_divide(tenfold.tensor([-7.0]), 2)
    tensor([-4.])
    """


@floor_divide.overload
def _(input: Any, other: Any, **options: Any) -> Any:
    if not isinstance(input, (int, float)) or not isinstance(other, (int, float)):
        return NotImplemented
    if not other and isinstance(input, int) and isinstance(other, int):
        raise RuntimeError("floor_divide: ZeroDivisionError: an integer has no quotient by 0")
    return floor_divide(full((), input), other, **{name: value for name, value in options.items() if value is not None})


@primitive(
    "pointwise", promote="common", accepts="integer floating", name="floored_quotient", method=None, rule=pointwise,
    exact_numbers=("other",),
)  # fmt: skip
def _floored_quotient(input: Tensor, other: Tensor | Number) -> Tensor:
    """Quotient rounded towards minus infinity, with derivative 0: div with rounding_mode="floor".

    >>> import tenfold
    >>> tenfold.op.floored_quotient(tenfold.tensor([-7, 7]), 2)
    tensor([-4,  3])
    """


@primitive(
    "pointwise", promote="common", accepts="integer floating", name="truncated_quotient", method=None, rule=pointwise,
    exact_numbers=("other",),
)  # fmt: skip
def _truncated_quotient(input: Tensor, other: Tensor | Number) -> Tensor:
    """Quotient rounded towards zero: div with rounding_mode="trunc".

    >>> import tenfold
    >>> tenfold.op.truncated_quotient(tenfold.tensor([-7, 7]), 2)
    tensor([-3,  3])
    """


@primitive("pointwise", **_BINARY)
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
    for value in (input, other):
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise OverflowError("int too big to convert")
    if hasattr(condition, "_array") and condition.dtype is uint8:
        return where(condition.to(bool_), input, other, out=out)
    return NotImplemented


def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """`tenfold.where(condition, self, other)`."""
    return where(condition, self, other)


Tensor.where = _where_method  # type: ignore[method-assign, assignment] # declared in operator_methods.pyi


@composite("pointwise", promote="common")
def rsub(input: Tensor, other: Tensor | Number, *, alpha: Any = 1) -> Tensor:
    """Reversed difference: other - alpha * input.

    >>> import tenfold
    >>> tenfold.rsub(tenfold.tensor([1.0]), 3)
    tensor([2.])
    """
    _refuse_bools(input, other)
    return add(mul(input, -alpha), other)


rsub.overload(_refuse_bools)


@rsub.lower(alpha=1)
def _(input: Tensor, other: Any, alpha: Any) -> Tensor:
    _check_alpha(input, other, alpha, "rsub")
    return add(mul(input, -alpha), other)


@primitive("pointwise", **_REAL)
def remainder(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Remainder of floor division, with the sign of other: input - other * floor(input / other).

    >>> import tenfold
    >>> tenfold.remainder(tenfold.tensor([-7, 7]), 3)
    tensor([2, 1])
    """


@primitive("pointwise", **_REAL)
def fmod(input: Tensor, other: Tensor | Number) -> Tensor:
    """Remainder of truncated division, with the sign of input.

    >>> import tenfold
    >>> tenfold.fmod(tenfold.tensor([-7, 7]), 3)
    tensor([-1,  1])
    """


@primitive("pointwise", **_FLOAT_REAL, aliases=("arctan2",))
def atan2(input: Tensor, other: Tensor) -> Tensor:
    """The angle of the point (other, input), in radians from -pi to pi.

    >>> import tenfold
    >>> tenfold.atan2(tenfold.tensor([1.0]), tenfold.tensor([-1.0]))
    tensor([2.3562])
    """


@primitive("pointwise", **_FLOATING)
def hypot(input: Tensor, other: Tensor) -> Tensor:
    """Hypotenuse: sqrt(input^2 + other^2), without overflow.

    >>> import tenfold
    >>> tenfold.hypot(tenfold.tensor([3.0]), tenfold.tensor([4.0]))
    tensor([5.])
    """


@primitive("pointwise", **_FLOAT_REAL)
def copysign(input: Tensor, other: Tensor | Number) -> Tensor:
    """The size of input with the sign of other.

    >>> import tenfold
    >>> tenfold.copysign(tenfold.tensor([1.0, -2.0]), -1)
    tensor([-1., -2.])
    """


@primitive("pointwise", **_FLOATING)
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


@primitive("pointwise", **_FLOAT_REAL)
def xlogy(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Product with a logarithm: input * log(other), 0 where input is 0 and other is not nan.

    >>> import tenfold
    >>> tenfold.xlogy(tenfold.tensor([0.0, 2.0]), tenfold.tensor([0.0, 1.0]))
    tensor([0., 0.])
    """


@primitive("pointwise", accepts="floating complex", exact_numbers=("weight",), **_BINARY)
def lerp(input: Tensor, end: Tensor, weight: Tensor | Number) -> Tensor:
    """Linear interpolation: input + weight * (end - input), exactly `end` at weight 1.

    >>> import tenfold
    >>> tenfold.lerp(tenfold.tensor([0.0]), tenfold.tensor([10.0]), 0.3)
    tensor([3.])
    """


@lerp.overload
def _(input: Any, end: Any, weight: Any, **_: Any) -> Any:
    if hasattr(input, "_array"):  # refused as it came: a fractional weight would promote it
        OPERATORS["lerp"].accepts["input"].check("lerp", input.dtype)
    if isinstance(weight, Tensor) and not weight.dim() and isinstance(input, Tensor) and weight.dtype is not input.dtype:
        kind = promote_types(input.dtype, weight.dtype) if weight.dtype.category == 3 else input.dtype
        return lerp(input.to(kind), end.to(kind), weight.to(kind), **_)  # a number, whatever its dtype
    for name, value in (("end", end), ("weight", weight)):
        if hasattr(value, "_array") and value.dtype is not getattr(input, "dtype", value.dtype):
            raise RuntimeError(f"expected dtype {c_name(input.dtype)} for `{name}` but got dtype {c_name(value.dtype)}")
    return NotImplemented


@primitive(
    "pointwise",
    accepts="integer floating complex",
    promote="common",
    inplace=True,
    out=True,
    old=("input value tensor1 tensor2",),
)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """Sum with a product: input + value * tensor1 * tensor2.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0, 2.0])
    >>> tenfold.addcmul(x, x, x, value=10)
    tensor([11., 42.])
    """


@addcmul.rule
def _(input: Any, tensor1: Any, tensor2: Any, value: Any) -> Meta:
    return pointwise(input, tensor1, tensor2)


@primitive(
    "pointwise", promote="common", inplace=True, out=True, old=("input value tensor1 tensor2",),
    accepts=Only(
        "floating complex", RuntimeError,
        "Integer division with addcdiv is no longer supported; use input + value * trunc(tensor1 / tensor2)",
    ),
)  # fmt: skip
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """Sum with a quotient: input + value * tensor1 / tensor2, of floating point or complex tensors.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0, 2.0])
    >>> tenfold.addcdiv(x, x, x, value=10)
    tensor([11., 12.])
    """


@addcdiv.rule
def _(input: Any, tensor1: Any, tensor2: Any, value: Any) -> Meta:
    return pointwise(input, tensor1, tensor2)
