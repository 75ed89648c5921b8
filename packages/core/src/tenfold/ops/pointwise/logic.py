"""Elementwise comparisons, tests, logical and bitwise operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.operators import Number, composite, primitive
from tenfold.dispatch.shape_rules import pointwise, pointwise_bool
from tenfold.ops.pointwise.arithmetic import number_first
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import get_default_dtype

_BOOL: dict[str, Any] = {"rule": pointwise_bool, "nondifferentiable": "its result is bool"}
_COMPARE: dict[str, Any] = {"promote": "common", "inplace": True, "out": True, **_BOOL}


_ORDER: dict[str, Any] = {**_COMPARE, "accepts": "bool integer floating"}


_REAL = Only("bool integer floating", RuntimeError, "{name} does not support complex inputs.")
_BITS: dict[str, Any] = {
    "promote": "common", "inplace": True, "out": True, "rule": pointwise, "accepts": "bool integer",
    "no_derivative": "its result is integer",
}  # fmt: skip
_WHOLE: dict[str, Any] = {**_BITS, "accepts": "integer"}


@primitive("pointwise", **_COMPARE)
def eq(input: Tensor, other: Tensor | Number) -> Tensor:
    """Whether input == other.

    >>> import tenfold
    >>> tenfold.eq(tenfold.tensor([1, 2, 3]), 2)
    tensor([False,  True, False])
    """


@primitive("pointwise", **_COMPARE, aliases=("not_equal",))
def ne(input: Tensor, other: Tensor | Number) -> Tensor:
    """Whether input != other.

    >>> import tenfold
    >>> tenfold.ne(tenfold.tensor([1, 2, 3]), 2)
    tensor([ True, False,  True])
    """


@primitive("pointwise", **_ORDER, aliases=("less",))
def lt(input: Tensor, other: Tensor | Number) -> Tensor:
    """Whether input < other.

    >>> import tenfold
    >>> tenfold.lt(tenfold.tensor([1, 2, 3]), 2)
    tensor([ True, False, False])
    """


@primitive("pointwise", **_ORDER, aliases=("less_equal",))
def le(input: Tensor, other: Tensor | Number) -> Tensor:
    """Whether input <= other.

    >>> import tenfold
    >>> tenfold.le(tenfold.tensor([1, 2, 3]), 2)
    tensor([ True,  True, False])
    """


@primitive("pointwise", **_ORDER, aliases=("greater",))
def gt(input: Tensor, other: Tensor | Number) -> Tensor:
    """Whether input > other.

    >>> import tenfold
    >>> tenfold.gt(tenfold.tensor([1, 2, 3]), 2)
    tensor([False, False,  True])
    """


@primitive("pointwise", **_ORDER, aliases=("greater_equal",))
def ge(input: Tensor, other: Tensor | Number) -> Tensor:
    """Whether input >= other.

    >>> import tenfold
    >>> tenfold.ge(tenfold.tensor([1, 2, 3]), 2)
    tensor([False,  True,  True])
    """


@primitive("pointwise", **_COMPARE)
def logical_and(input: Tensor, other: Tensor) -> Tensor:
    """Whether both are true (not 0).

    >>> import tenfold
    >>> tenfold.logical_and(tenfold.tensor([True, False]), tenfold.tensor([True, False]))
    tensor([ True, False])
    """


@primitive("pointwise", **_COMPARE)
def logical_or(input: Tensor, other: Tensor) -> Tensor:
    """Whether either is true (not 0).

    >>> import tenfold
    >>> tenfold.logical_or(tenfold.tensor([True, False]), tenfold.tensor([False, False]))
    tensor([ True, False])
    """


@primitive("pointwise", **_COMPARE)
def logical_xor(input: Tensor, other: Tensor) -> Tensor:
    """Whether exactly one is true (not 0).

    >>> import tenfold
    >>> tenfold.logical_xor(tenfold.tensor([True, False]), tenfold.tensor([True, True]))
    tensor([False,  True])
    """


@primitive("pointwise", inplace=True, out="converted", **_BOOL)
def logical_not(input: Tensor) -> Tensor:
    """Whether input is false (0).

    >>> import tenfold
    >>> tenfold.logical_not(tenfold.tensor([0.0, 2.0]))
    tensor([ True, False])
    """


@primitive("pointwise", **_BITS)
def bitwise_and(input: Tensor, other: Tensor | Number) -> Tensor:
    """The bits that both have set; of bool tensors the logical operator.

    >>> import tenfold
    >>> tenfold.bitwise_and(tenfold.tensor([6]), tenfold.tensor([3]))
    tensor([2])
    """


@primitive("pointwise", **_BITS)
def bitwise_or(input: Tensor, other: Tensor | Number) -> Tensor:
    """The bits that either has set; of bool tensors the logical operator.

    >>> import tenfold
    >>> tenfold.bitwise_or(tenfold.tensor([6]), tenfold.tensor([3]))
    tensor([7])
    """


@primitive("pointwise", **_BITS)
def bitwise_xor(input: Tensor, other: Tensor | Number) -> Tensor:
    """The bits that exactly one has set; of bool tensors the logical operator.

    >>> import tenfold
    >>> tenfold.bitwise_xor(tenfold.tensor([6]), tenfold.tensor([3]))
    tensor([5])
    """


@primitive("pointwise", **{**_BITS, "out": "same"})
def bitwise_not(input: Tensor) -> Tensor:
    """All bits inverted; of bool tensors the logical operator.

    >>> import tenfold
    >>> tenfold.bitwise_not(tenfold.tensor([0, 5]))
    tensor([-1, -6])
    """


@primitive("pointwise", **_WHOLE)
def bitwise_left_shift(input: Tensor, other: Tensor | Number) -> Tensor:
    """Bits moved up: input * 2 ** other.

    >>> import tenfold
    >>> tenfold.bitwise_left_shift(tenfold.tensor([3]), tenfold.tensor([2]))
    tensor([12])
    """


@primitive("pointwise", **_WHOLE)
def bitwise_right_shift(input: Tensor, other: Tensor | Number) -> Tensor:
    """Bits moved down: floor(input / 2 ** other).

    >>> import tenfold
    >>> tenfold.bitwise_right_shift(tenfold.tensor([13]), tenfold.tensor([2]))
    tensor([3])
    """


for _function in (bitwise_and, bitwise_or, bitwise_xor, bitwise_left_shift, bitwise_right_shift):
    number_first(_function)


@primitive("pointwise", **_WHOLE)
def gcd(input: Tensor, other: Tensor) -> Tensor:
    """Greatest common divisor.

    >>> import tenfold
    >>> tenfold.gcd(tenfold.tensor([12]), tenfold.tensor([18]))
    tensor([6])
    """


@primitive("pointwise", **_WHOLE)
def lcm(input: Tensor, other: Tensor) -> Tensor:
    """Least common multiple.

    >>> import tenfold
    >>> tenfold.lcm(tenfold.tensor([4]), tenfold.tensor([6]))
    tensor([12])
    """


@primitive("pointwise", **_BOOL)
def isnan(input: Tensor) -> Tensor:
    """Whether input is not a number.

    >>> import tenfold
    >>> tenfold.isnan(tenfold.tensor([1.0, float("inf"), float("nan")]))
    tensor([False, False,  True])
    """


@primitive("pointwise", **_BOOL)
def isinf(input: Tensor) -> Tensor:
    """Whether input is infinite.

    >>> import tenfold
    >>> tenfold.isinf(tenfold.tensor([1.0, float("inf"), float("nan")]))
    tensor([False,  True, False])
    """


@primitive("pointwise", **_BOOL)
def isfinite(input: Tensor) -> Tensor:
    """Whether input is neither infinite nor nan.

    >>> import tenfold
    >>> tenfold.isfinite(tenfold.tensor([1.0, float("inf"), float("nan")]))
    tensor([ True, False, False])
    """


@composite("pointwise", accepts=_REAL, out="bool")
def isposinf(input: Tensor) -> Tensor:
    """Whether input is infinity.

    >>> import tenfold
    >>> tenfold.isposinf(tenfold.tensor([1.0, float("inf")]))
    tensor([False,  True])
    """
    return input == np.inf


@composite("pointwise", accepts=_REAL, out="bool")
def isneginf(input: Tensor) -> Tensor:
    """Whether input is minus infinity.

    >>> import tenfold
    >>> tenfold.isneginf(tenfold.tensor([1.0, float("-inf")]))
    tensor([False,  True])
    """
    return input == -np.inf


@primitive("pointwise", accepts="bool integer floating", out="bool", rule=pointwise_bool, nondifferentiable="its result is bool")
def signbit(input: Tensor) -> Tensor:
    """Whether the sign bit is set: below 0, and -0.0.

    >>> import tenfold
    >>> tenfold.signbit(tenfold.tensor([1.0, -0.0]))
    tensor([False,  True])
    """


def refuse_other_outputs(function: Any) -> None:
    """Make an operator refuse `out=` of another dtype than bool."""

    def check(out: Any = None, **_: Any) -> Any:
        if out is not None and out.dtype.category:
            raise RuntimeError(f"{function.op.name} does not support non-boolean outputs.")
        return NotImplemented

    function.overload(check)


refuse_other_outputs(isposinf)
refuse_other_outputs(isneginf)
refuse_other_outputs(signbit)


@composite("pointwise", nondifferentiable="its result is bool")
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether |input - other| <= atol + rtol |other|; infinities only match themselves.

    >>> import tenfold
    >>> tenfold.isclose(tenfold.tensor([1.0, 1.1]), tenfold.tensor([1.0, 1.0]))
    tensor([ True, False])
    """
    if input.dtype is not other.dtype:
        raise RuntimeError(f"isclose: {input.dtype} did not match {other.dtype}; convert one of them")
    if not (rtol >= 0 and atol >= 0):
        raise RuntimeError(f"isclose: rtol and atol must be greater than or equal to zero, but got {rtol} and {atol}")
    close = eq(input, other)
    if equal_nan and input.dtype.category >= 2:
        close = close | (isnan(input) & isnan(other))
    if (rtol == 0 and atol == 0) or input.dtype.category == 0:
        return close
    if input.dtype.category == 1:
        other = other.to(get_default_dtype())  # the least integer has no absolute value
    error, allowed = (input - other).abs(), atol + (rtol * other).abs()
    return close | (isfinite(error) & (error <= allowed))


@composite("pointwise", nondifferentiable="its result is a Python bool")
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether `isclose` holds everywhere.

    >>> import tenfold
    >>> tenfold.allclose(tenfold.tensor([1.0]), tenfold.tensor([1.0 + 1e-7]))
    True
    """
    return not isclose(input, other, rtol, atol, equal_nan).logical_not().sum().item()


@composite("pointwise", nondifferentiable="its result is a Python bool")
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape and the same elements.

    >>> import tenfold
    >>> tenfold.equal(tenfold.tensor([1, 2]), tenfold.tensor([1, 2]))
    True
    """
    return input.shape == other.shape and not ne(input, other).sum().item()
