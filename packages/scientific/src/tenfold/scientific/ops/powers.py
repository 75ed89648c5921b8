"""Powers in double precision, products with powers of two, complex numbers by their length and angle."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.operators import OPERATORS, Number, composite, op
from tenfold.ops.pointwise.elementary import exp2
from tenfold.ops.pointwise.several import pow
from tenfold.scientific.ops.outs import require_dtype
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import complex128, dtype, float32, float64, get_default_dtype, type_name
from tenfold.types.promotion import of_values, promote_types


@composite("powers", inplace=True, out="same")
def float_power(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """Power computed in float64 (complex128 for complex arguments).

    >>> import tenfold
    >>> tenfold.float_power(tenfold.tensor([2]), 0.5)
    tensor([1.4142], dtype=tenfold.float64)
    """
    wide = _widest(input, exponent)
    return pow(*[x.to(wide) if isinstance(x, Tensor) else +x for x in (input, exponent)])  # True counts as the number 1


@float_power.overload
def _(input: Any, exponent: Any, out: Any = None, **options: Any) -> Any:
    text = "the output given to float_power has dtype {given} but the operation's result requires dtype {wanted}"
    require_dtype(text, out, _widest(input, exponent))
    return NotImplemented


OPERATORS["float_power_"].refuses_narrowing = True


@OPERATORS["float_power_"].overload
def _(input: Any, exponent: Any, **options: Any) -> Any:
    wide = _widest(input, exponent)
    if input.dtype is not wide:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {type_name(input.dtype)} but the operation's result requires dtype "
            f"{type_name(wide)}"
        )
    return NotImplemented


def _widest(input: Any, exponent: Any) -> dtype:
    return complex128 if any(_is_complex(x) for x in (input, exponent)) else float64


def _is_complex(x: Any) -> bool:
    return x.dtype.is_complex if isinstance(x, Tensor) else isinstance(x, complex)


@composite("powers", inplace=True, out=True)
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """Product with a power of two: input * 2^other.

    >>> import tenfold
    >>> tenfold.ldexp(tenfold.tensor([1.5]), tenfold.tensor([3]))
    tensor([12.])
    """
    if input.dtype.is_half and other.dtype.category < 2:
        return ldexp(input.float(), other).to(input.dtype)
    if other.dtype.category > 1:
        if input.dtype is not other.dtype and other.dtype.category == 2 and of_values((input, other)) is other.dtype:
            return ldexp(input.to(other.dtype), other)
        if not other.dim() and input.dtype.category == 2 and input.dtype is not float32:
            other = other.to(promote_types(input.dtype, other.dtype))  # PyTorch's power of two has both dtypes, but for float32's
        # the power of two that multiplies complex numbers is not rounded to the exponent's half precision
        return input * exp2(other.float() if other.dtype.is_half and input.dtype.is_complex else other)  # keeps its result alone
    dtype = of_values((input, other))
    dtype = dtype if dtype.category > 1 else get_default_dtype()
    power = other.to(dtype)
    if input.dtype.category != 2:
        return input.to(dtype) * pow(2.0, power)
    limit = 400 if dtype.itemsize == 4 else 2200  # more than lies between the least and the largest
    result, rest = input.to(dtype), power.clamp(-limit, limit)
    for steps in (4, 3, 2, 1):  # none of which overflows where the result does not
        step = (rest / steps).floor()
        result, rest = result * pow(2.0, step), rest - step
    return result


@composite("powers", method=None, out=True)
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Complex numbers of given modulus and angle: abs (cos(angle) + i sin(angle)).

    >>> import tenfold
    >>> tenfold.polar(tenfold.tensor([2.0]), tenfold.tensor([0.0]))
    tensor([2.+0.j])
    """
    if abs.dtype.category != 2 or angle.dtype.category != 2:
        raise RuntimeError(
            f"polar: Expected both inputs to be Half, Float or Double tensors but got {type_name(abs.dtype)} and "
            f"{type_name(angle.dtype)}"
        )
    if abs.dtype is not angle.dtype:
        raise RuntimeError(
            f"polar: Expected object of scalar type {type_name(abs.dtype)} but got scalar type {type_name(angle.dtype)} for "
            f"second argument"
        )
    return op.complex(abs * angle.cos(), abs * angle.sin())
