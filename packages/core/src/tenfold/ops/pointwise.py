"""Elementwise operators: arithmetic, powers, exponentials, comparisons, selection."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from tenfold.meta import Meta
from tenfold.operators import composite, primitive
from tenfold.ops.rules import broadcast, pointwise, pointwise_bool
from tenfold.tensor import Tensor


@primitive("pointwise", promote="common", inplace=True, out=True, rule=pointwise)
def add(input: Tensor, other: Tensor | Number, *, alpha: Any = 1) -> Tensor:
    """Sum: input + alpha * other, broadcast and promoted.

    >>> import tenfold
    >>> tenfold.add(tenfold.tensor([1.0, 2.0]), 10, alpha=2)
    tensor([21., 22.])
    """


@add.lower(alpha=1)
def _(input: Tensor, other: Any, alpha: Any) -> Tensor:
    return add(input, _scaled(input, other, alpha, "add"))


def _scaled(input: Tensor, other: Any, alpha: Any, name: str) -> Any:
    whole = isinstance(alpha, int) or not isinstance(alpha, (float, complex))
    if not whole and input.dtype.category < 2 and not (isinstance(other, Tensor) and other.dtype.category >= 2):
        raise RuntimeError(f"{name}: For integral input tensors, argument alpha must not be a floating point number.")
    return other * alpha


@primitive("pointwise", promote="common", inplace=True, out=True)
def sub(input: Tensor, other: Tensor | Number, *, alpha: Any = 1) -> Tensor:
    """Difference: input - alpha * other, broadcast and promoted; bool tensors have none.

    >>> import tenfold
    >>> tenfold.sub(tenfold.tensor([3.0]), 1)
    tensor([2.])
    """


@sub.lower(alpha=1)
def _(input: Tensor, other: Any, alpha: Any) -> Tensor:
    return sub(input, _scaled(input, other, alpha, "sub"))


@sub.rule
def _(input: Any, other: Any) -> Meta:
    if input.dtype == np.bool_ and getattr(other, "dtype", input.dtype) == np.bool_:
        raise RuntimeError(
            "sub: Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    return pointwise(input, other)


@primitive("pointwise", promote="common", inplace=True, out=True, rule=pointwise)
def mul(input: Tensor, other: Tensor | Number) -> Tensor:
    """Product, broadcast and promoted.

    >>> import tenfold
    >>> tenfold.mul(tenfold.tensor([1, 2]), 3)
    tensor([3, 6])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def div(input: Tensor, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
    """Quotient: true division; rounding_mode "floor" or "trunc" rounds it and keeps integers.

    >>> import tenfold
    >>> tenfold.div(tenfold.tensor([7, -7]), 2, rounding_mode="floor")
    tensor([ 3, -4])
    """


@div.lower(rounding_mode=None)
def _(input: Tensor, other: Any, rounding_mode: str) -> Tensor:
    if rounding_mode == "floor":
        return floor_divide(input, other)
    if rounding_mode == "trunc":
        return _truncated_quotient(input, other)
    raise RuntimeError(
        f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}"
    )


@primitive("pointwise", promote="common", inplace=True, out=True, rule=pointwise,
           nondifferentiable="its derivative is zero almost everywhere and PyTorch defines none")  # fmt: skip
def floor_divide(input: Tensor, other: Tensor | Number) -> Tensor:
    """Quotient rounded towards minus infinity.

    >>> import tenfold
    >>> tenfold.floor_divide(tenfold.tensor([-7.0]), 2)
    tensor([-4.])
    """


@primitive("pointwise", promote="common", name="truncated_quotient", method=None, rule=pointwise)
def _truncated_quotient(input: Tensor, other: Tensor | Number) -> Tensor:
    """Quotient rounded towards zero: div with rounding_mode="trunc"."""


@primitive("pointwise", promote="common", inplace=True, out=True, rule=pointwise)
def pow(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """Power: input ** exponent, broadcast and promoted.

    >>> import tenfold
    >>> tenfold.pow(2, tenfold.tensor([1.0, 3.0]))
    tensor([2., 8.])
    """


@primitive("pointwise", inplace=True, out=True, rule=pointwise)
def neg(input: Tensor) -> Tensor:
    """Negative: -input.

    >>> import tenfold
    >>> tenfold.neg(tenfold.tensor([1, -2]))
    tensor([-1,  2])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def exp(input: Tensor) -> Tensor:
    """Exponential: e ** input.

    >>> import tenfold
    >>> tenfold.exp(tenfold.tensor([0, 1]))
    tensor([1.0000, 2.7183])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def log(input: Tensor) -> Tensor:
    """Natural logarithm: -inf at 0, nan below.

    >>> import tenfold
    >>> tenfold.log(tenfold.tensor([1.0]))
    tensor([0.])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def sqrt(input: Tensor) -> Tensor:
    """Square root: nan below 0.

    >>> import tenfold
    >>> tenfold.sqrt(tenfold.tensor([9.0]))
    tensor([3.])
    """


@primitive("pointwise", promote="common", promoted=("input", "other"), rule=None)
def where(condition: Tensor, input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Selection: input where condition holds, other elsewhere, broadcast and promoted.

    >>> import tenfold
    >>> tenfold.where(tenfold.tensor([True, False]), 1.0, 2.0)
    tensor([1., 2.])
    """


@where.rule
def _(condition: Any, input: Any, other: Any) -> Meta:
    if condition.dtype != np.bool_:
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}")
    arrays = [a for a in (input, other) if isinstance(a, Meta)]
    dtype = arrays[0].dtype if arrays else np.asarray(input).dtype
    return Meta(broadcast("where", condition, *arrays), dtype)


@primitive("pointwise", promote="common", inplace=True, out=True, rule=pointwise_bool, nondifferentiable="its result is bool")
def gt(input: Tensor, other: Tensor | Number) -> Tensor:
    """Whether input > other.

    >>> import tenfold
    >>> tenfold.gt(tenfold.tensor([1, 3]), 2)
    tensor([False,  True])
    """


@primitive("pointwise", promote="common", inplace=True, out=True, rule=pointwise_bool, nondifferentiable="its result is bool")
def eq(input: Tensor, other: Tensor | Number) -> Tensor:
    """Whether input == other.

    >>> import tenfold
    >>> tenfold.eq(tenfold.tensor([1, 3]), 3)
    tensor([False,  True])
    """


@composite("pointwise", promote="common")
def rsub(input: Tensor, other: Tensor | Number, *, alpha: Any = 1) -> Tensor:
    """Reversed difference: other - alpha * input.

    >>> import tenfold
    >>> tenfold.rsub(tenfold.tensor([1.0]), 3)
    tensor([2.])
    """
    return add(mul(input, -alpha), other)
