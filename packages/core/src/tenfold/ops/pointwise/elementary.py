"""Elementwise functions of one variable: exponentials, logarithms, roots, trigonometry, error functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, composite, primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.tensor.tensor import Tensor


def _squared(input: Any) -> Meta:
    return Meta(input.shape, np.int64 if input.dtype == np.bool_ else input.dtype)


def _magnitude(input: Any) -> Meta:
    """A complex number's size is real."""
    real = np.float16 if input.dtype.names else input.dtype.type(0).real.dtype if input.dtype.kind == "c" else input.dtype
    return Meta(input.shape, real)


def _refuse_complex(input: Any) -> Any:
    if isinstance(input, Tensor) and input.dtype.is_complex:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return NotImplemented


@primitive("pointwise", accepts="integer floating complex", inplace=True, out=True, rule=_magnitude, aliases=("absolute",))
def abs(input: Tensor) -> Tensor:
    """Absolute value; of a complex number its modulus, which is real.

    >>> import tenfold
    >>> tenfold.abs(tenfold.tensor([1, -2]))
    tensor([1, 2])
    """


OPERATORS["abs_"].overload(_refuse_complex)
OPERATORS["abs_"].refuses_narrowing = True


@primitive(
    "pointwise", inplace=True, out=True, rule=pointwise,
    accepts=Only("bool integer floating", words="{name}: complex numbers have no sign; use sgn(), which gives x / |x|"),
)  # fmt: skip
def sign(input: Tensor) -> Tensor:
    """Sign: -1, 0 or 1.

    >>> import tenfold
    >>> tenfold.sign(tenfold.tensor([-3.0, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
    """


@primitive("pointwise", inplace=True, out=True, rule=pointwise)
def sgn(input: Tensor) -> Tensor:
    """Sign; of a complex number the number of modulus 1 with its angle, 0 for 0.

    >>> import tenfold
    >>> tenfold.sgn(tenfold.tensor([-3.0, 0.0]))
    tensor([-1.,  0.])
    """


@primitive("pointwise", inplace=True, out="converted", rule=_squared)
def square(input: Tensor) -> Tensor:
    """Square: input ** 2.

    >>> import tenfold
    >>> tenfold.square(tenfold.tensor([3.0]))
    tensor([9.])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def exp(input: Tensor) -> Tensor:
    """Exponential: e ** input.

    >>> import tenfold
    >>> tenfold.exp(tenfold.tensor([0, 1]))
    tensor([1.0000, 2.7183])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def exp2(input: Tensor) -> Tensor:
    """Power of two: 2 ** input.

    >>> import tenfold
    >>> tenfold.exp2(tenfold.tensor([0.0, 3.0]))
    tensor([1., 8.])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def expm1(input: Tensor) -> Tensor:
    """Exponential less one: e ** input - 1, exact near 0.

    >>> import tenfold
    >>> tenfold.expm1(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 1.7183])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def log(input: Tensor) -> Tensor:
    """Natural logarithm: -inf at 0, nan below.

    >>> import tenfold
    >>> tenfold.log(tenfold.tensor([1.0]))
    tensor([0.])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def log2(input: Tensor) -> Tensor:
    """Logarithm to base 2.

    >>> import tenfold
    >>> tenfold.log2(tenfold.tensor([8.0]))
    tensor([3.])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def log10(input: Tensor) -> Tensor:
    """Logarithm to base 10.

    >>> import tenfold
    >>> tenfold.log10(tenfold.tensor([1000.0]))
    tensor([3.])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def log1p(input: Tensor) -> Tensor:
    """Logarithm of one more: log(1 + input), exact near 0.

    >>> import tenfold
    >>> tenfold.log1p(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 0.6931])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def sqrt(input: Tensor) -> Tensor:
    """Square root: nan below 0.

    >>> import tenfold
    >>> tenfold.sqrt(tenfold.tensor([9.0]))
    tensor([3.])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def rsqrt(input: Tensor) -> Tensor:
    """Reciprocal square root: 1 / sqrt(input).

    >>> import tenfold
    >>> tenfold.rsqrt(tenfold.tensor([4.0]))
    tensor([0.5000])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def reciprocal(input: Tensor) -> Tensor:
    """Reciprocal: 1 / input.

    >>> import tenfold
    >>> tenfold.reciprocal(tenfold.tensor([4.0]))
    tensor([0.2500])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def sin(input: Tensor) -> Tensor:
    """Sine of an angle in radians.

    >>> import tenfold
    >>> tenfold.sin(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8415])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def cos(input: Tensor) -> Tensor:
    """Cosine of an angle in radians.

    >>> import tenfold
    >>> tenfold.cos(tenfold.tensor([0.0, 1.0]))
    tensor([1.0000, 0.5403])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def tan(input: Tensor) -> Tensor:
    """Tangent of an angle in radians.

    >>> import tenfold
    >>> tenfold.tan(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5574])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise, aliases=("arcsin",))
def asin(input: Tensor) -> Tensor:
    """Inverse sine, in radians; nan outside [-1, 1].

    >>> import tenfold
    >>> tenfold.asin(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5708])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise, aliases=("arccos",))
def acos(input: Tensor) -> Tensor:
    """Inverse cosine, in radians; nan outside [-1, 1].

    >>> import tenfold
    >>> tenfold.acos(tenfold.tensor([1.0, 0.0]))
    tensor([0.0000, 1.5708])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise, aliases=("arctan",))
def atan(input: Tensor) -> Tensor:
    """Inverse tangent, in radians.

    >>> import tenfold
    >>> tenfold.atan(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7854])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def sinh(input: Tensor) -> Tensor:
    """Hyperbolic sine.

    >>> import tenfold
    >>> tenfold.sinh(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 1.1752])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def cosh(input: Tensor) -> Tensor:
    """Hyperbolic cosine.

    >>> import tenfold
    >>> tenfold.cosh(tenfold.tensor([0.0, 1.0]))
    tensor([1.0000, 1.5431])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent.

    >>> import tenfold
    >>> tenfold.tanh(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise, aliases=("arcsinh",))
def asinh(input: Tensor) -> Tensor:
    """Inverse hyperbolic sine.

    >>> import tenfold
    >>> tenfold.asinh(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8814])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise, aliases=("arccosh",))
def acosh(input: Tensor) -> Tensor:
    """Inverse hyperbolic cosine; nan below 1.

    >>> import tenfold
    >>> tenfold.acosh(tenfold.tensor([1.0, 2.0]))
    tensor([0.0000, 1.3170])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise, aliases=("arctanh",))
def atanh(input: Tensor) -> Tensor:
    """Inverse hyperbolic tangent; nan outside [-1, 1].

    >>> import tenfold
    >>> tenfold.atanh(tenfold.tensor([0.0, 0.5]))
    tensor([0.0000, 0.5493])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def sinc(input: Tensor) -> Tensor:
    """Normalised sinc: sin(pi input) / (pi input), 1 at 0.

    >>> import tenfold
    >>> tenfold.sinc(tenfold.tensor([0.0, 0.5]))
    tensor([1.0000, 0.6366])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, accepts="floating", rule=pointwise)
def erf(input: Tensor) -> Tensor:
    """Error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to input.

    >>> import tenfold
    >>> tenfold.erf(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8427])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, accepts="floating", rule=pointwise)
def erfc(input: Tensor) -> Tensor:
    """Complementary error function: 1 - erf(input), exact for large inputs.

    >>> import tenfold
    >>> tenfold.erfc(tenfold.tensor([0.0, 1.0]))
    tensor([1.0000, 0.1573])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, accepts="floating", rule=pointwise)
def erfinv(input: Tensor) -> Tensor:
    """Inverse error function: infinite at -1 and 1, nan beyond.

    >>> import tenfold
    >>> tenfold.erfinv(tenfold.tensor([0.0, 0.5]))
    tensor([0.0000, 0.4769])
    """


@primitive("pointwise", promote="float", inplace=True, out=True, rule=pointwise)
def sigmoid(input: Tensor) -> Tensor:
    """Logistic function: 1 / (1 + exp(-input)).

    >>> import tenfold
    >>> tenfold.sigmoid(tenfold.tensor([0.0, 1.0]))
    tensor([0.5000, 0.7311])
    """


@composite("pointwise", accepts="floating", promote="float", inplace=True, out=True)
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """Inverse of the logistic function: log(input / (1 - input)), input first cut to [eps, 1 - eps] if eps is given.

    >>> import tenfold
    >>> tenfold.logit(tenfold.tensor([0.5, 0.75]))
    tensor([0.0000, 1.0986])
    """
    if eps is not None:
        input = input.clamp(eps, 1 - eps)
    return log(input / (1 - input))


_REAL = Only("bool integer floating", RuntimeError, "{name} is not supported for complex tensors")


@composite("pointwise", accepts=_REAL, inplace=True, out="converted")
def deg2rad(input: Tensor) -> Tensor:
    """Degrees to radians: input pi / 180.

    >>> import tenfold
    >>> tenfold.deg2rad(tenfold.tensor([180.0]))
    tensor([3.1416])
    """
    return input * (np.pi / 180)


@composite("pointwise", accepts=_REAL, inplace=True, out="converted")
def rad2deg(input: Tensor) -> Tensor:
    """Radians to degrees: input 180 / pi.

    >>> import tenfold
    >>> tenfold.rad2deg(tenfold.tensor([1.0]))
    tensor([57.2958])
    """
    return input * (180 / np.pi)
