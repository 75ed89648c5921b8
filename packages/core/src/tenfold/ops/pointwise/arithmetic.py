"""Elementwise arithmetic: sums, products, quotients, remainders, signs turned. Other functions of one variable, comparisons,
rounding, complex parts and filling are in the modules beside this one."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, Number, composite, primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.ops.creation.factories import full
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import bool_, complex128, float64, int64
from tenfold.types.numbers import element, factor, require_fit, require_value
from tenfold.types.promotion import of_values

BINARY: dict[str, Any] = {"promote": "common", "inplace": True, "out": True, "rule": pointwise}
_EXACT: dict[str, Any] = {"exact_numbers": ("other",)}
_NOT_BOOL = Only(
    "integer floating complex", RuntimeError,
    "Subtraction, the `-` operator, with two bool tensors is not supported. "
    "Use the `^` or `logical_xor()` operator instead.",
)  # fmt: skip
_REAL: dict[str, Any] = {**BINARY, "accepts": "integer floating"}
_FLOAT: dict[str, Any] = {**BINARY, "promote": "float"}
FLOAT_REAL: dict[str, Any] = {**_FLOAT, "accepts": "floating"}
FLOATING: dict[str, Any] = {**BINARY, "accepts": "floating"}


@primitive("pointwise", old=("input alpha other",), **BINARY)
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
        quotient = function is div and "rounding_mode" not in given  # of integers, which has a floating dtype
        dtype = of_values((input, other, *[1.0] * quotient))
        wide = (int64, int64, float64, complex128)[dtype.category]  # what the dtype cannot hold wraps, or is infinite
        return function(full((), input, dtype=wide, device=other.device).to(dtype), other, **given)

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
    return add_scaled(input, other, alpha) if _of_floats(input, other, alpha, "add") else _with_multiple(add, input, other, alpha)


def _of_floats(input: Tensor, other: Any, alpha: Any, name: str) -> bool:
    """Whether a sum with a multiple is `add_scaled`'s, for which a backend may have a kernel."""
    floats = _check_alpha(input, other, alpha, name).category == 2
    return floats and isinstance(other, Tensor) and not isinstance(alpha, Tensor)


def _with_multiple(combine: Any, input: Tensor, other: Any, alpha: Any) -> Tensor:
    """input + alpha * other or input - alpha * other; of half precision, as which alpha is rounded, rounded once."""
    dtype = _check_alpha(input, other, alpha, combine.__name__)
    if alpha == 1:
        return combine(input, other)
    require_value(alpha, dtype)
    if dtype.is_half:
        wide = other.float() if isinstance(other, Tensor) else other
        return _with_multiple(combine, input.float(), wide, element(alpha, dtype).item()).to(dtype)
    if isinstance(other, Tensor) and other.dtype is not dtype:
        other = other.to(dtype)  # before the product, which a narrower type would round
    return combine(input, other * factor(alpha, dtype) if dtype.category else other & bool(alpha))


add.op.in_place = OPERATORS["add_scaled_"].fn


def _check_alpha(input: Any, other: Any, alpha: Any, name: str) -> Any:
    """The dtype of a sum with a multiple; RuntimeError for a multiplier that it has no place for."""
    dtype = of_values((input, other))
    require_fit(alpha, bool_)
    if isinstance(alpha, bool) and dtype.category:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    whole = isinstance(alpha, int) or not isinstance(alpha, (float, complex))
    if not whole and dtype.category < 2:
        raise RuntimeError(f"{name}: For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and dtype.category < 3:
        raise RuntimeError(f"{name}: For non-complex input tensors, argument alpha must not be a complex number.")
    return dtype


@primitive("pointwise", accepts=_NOT_BOOL, aliases=("subtract",), old=("input alpha other",), **BINARY)
def sub(input: Tensor, other: Tensor | Number, *, alpha: Any = 1) -> Tensor:
    """Difference: input - alpha * other, broadcast and promoted; bool tensors have none.

    >>> import tenfold
    >>> tenfold.sub(tenfold.tensor([3.0]), 1)
    tensor([2.])
    """


@sub.lower(alpha=1)
def _(input: Tensor, other: Any, alpha: Any) -> Tensor:
    if _of_floats(input, other, alpha, "sub"):
        return _subtracted(input, other, -alpha)
    return _with_multiple(sub, input, other, alpha)


@composite("pointwise", name="sub_scaled", method=None, inplace=True, promote="common")
def _subtracted(input: Tensor, other: Tensor, alpha: Any) -> Tensor:
    """`add_scaled` under the name that a difference has in the graph.

    >>> import tenfold
    >>> tenfold.op.sub_scaled(tenfold.tensor([1.0]), tenfold.tensor([2.0]), 0.5)
    tensor([2.])
    """
    return add_scaled(input, other, alpha)


def _subtract_scaled(input: Tensor, other: Any, alpha: Any) -> Tensor:
    refused = isinstance(other, bool) or bool_ in (input.dtype, getattr(other, "dtype", None))
    if refused or (_check_alpha(input, other, alpha, "sub") and alpha == 1):
        return input.sub_(other)
    return OPERATORS["add_scaled_"].fn(input, other, -alpha)


sub.op.in_place = _subtract_scaled


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


@primitive("pointwise", aliases=("multiply",), **BINARY, **_EXACT)
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


@composite("pointwise", promote="common")
def rsub(input: Tensor, other: Tensor | Number, *, alpha: Any = 1) -> Tensor:
    """Reversed difference: other - alpha * input.

    >>> import tenfold
    >>> tenfold.rsub(tenfold.tensor([1.0]), 3)
    tensor([2.])
    """
    _refuse_bools(input, other)
    return sub(other, input, alpha=alpha)


rsub.overload(_refuse_bools)
rsub.lower(alpha=1)(rsub.op.body)


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


@primitive(
    "pointwise", inplace=True, out=True, rule=pointwise, aliases=("negative",),
    accepts=Only(
        "integer floating complex", RuntimeError, "{name}: not supported on a bool tensor; use logical_not() or convert it"
    ),
)  # fmt: skip
def neg(input: Tensor) -> Tensor:
    """Negative: -input.

    >>> import tenfold
    >>> tenfold.neg(tenfold.tensor([1, -2]))
    tensor([-1,  2])
    """


@composite(
    "pointwise",
    accepts=Only("integer floating complex", RuntimeError, "{name}: The `+` operator, on a bool tensor is not supported."),
)
def positive(input: Tensor) -> Tensor:
    """The tensor itself; bool tensors are refused.

    >>> import tenfold
    >>> tenfold.positive(tenfold.tensor([-1]))
    tensor([-1])
    """
    return input


@primitive(
    "pointwise",
    accepts="integer floating complex",
    promote="common",
    inplace=True,
    out=True,
    old=("input value tensor1 tensor2",),
)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: complex = 1) -> Tensor:
    """Sum with a product: input + value * tensor1 * tensor2.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0, 2.0])
    >>> tenfold.addcmul(x, x, x, value=10)
    tensor([11., 42.])
    """


@addcmul.rule
def _(input: Any, tensor1: Any, tensor2: Any, value: Any) -> Meta:
    return pointwise(input, tensor1, tensor2)


_WHOLE = "Integer division with addcdiv is no longer supported; use input + value * trunc(tensor1 / tensor2)"


@primitive(
    "pointwise", promote="common", inplace=True, out=True, old=("input value tensor1 tensor2",),
    accepts=Only("floating complex", RuntimeError, _WHOLE),
)  # fmt: skip
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: complex = 1) -> Tensor:
    """Sum with a quotient: input + value * tensor1 / tensor2, of floating point or complex tensors.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0, 2.0])
    >>> tenfold.addcdiv(x, x, x, value=10)
    tensor([11., 12.])
    """


@addcdiv.overload
def _(tensor1: Any, tensor2: Any, **_: Any) -> Any:
    if all(hasattr(t, "_array") and t.dtype.category < 2 for t in (tensor1, tensor2)):  # whatever the input is
        raise RuntimeError(_WHOLE)
    return NotImplemented


@addcdiv.rule
def _(input: Any, tensor1: Any, tensor2: Any, value: Any) -> Meta:
    return pointwise(input, tensor1, tensor2)
