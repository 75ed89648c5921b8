"""Special functions and powers of tenfold-scientific: formulas, one launch each."""

from __future__ import annotations

from math import factorial, inf
from operator import index
from typing import Any

import numpy as np

from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import formulas_special
from tenfold.cuda.kernels.elementwise import elementwise, run
from tenfold.cuda.kernels.handwritten import F32, F64
from tenfold.cuda.kernels.pointwise import refuses
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op

# Formulas that are not an operator's, or are so for some of its operands.
PARTS = ("mantissa", "exponent", "polar_real", "polar_imag", "ldexp", "special_ndtr")

for _name in (*formulas_special.UNARY, *formulas_special.BINARY):
    if _name not in PARTS:
        kernel(getattr(op, _name), device="cuda", into=True, chooses_device=True)(elementwise(_name, refuses(_name)))


@kernel(op.polygamma, device="cuda", into=True)
def polygamma(input: Any, n: Any, out: Any = None) -> Any:
    order = index(n)
    if order < 0:
        raise TypeError("polygamma of a negative order")
    if order == 0:
        return run("digamma", input, out=out)
    size = float(factorial(order)) if order <= 170 else inf
    return run("polygamma", input, float(order), size if order % 2 else -size, out=out)


@kernel(op.mantissa_exponent, device="cuda")
def mantissa_exponent(input: Any) -> Any:
    mantissa = run("mantissa", input)
    return NotImplemented if mantissa is NotImplemented else (mantissa, run("exponent", input, dtype=np.dtype(np.int32)))


@kernel(op.special_ndtr, device="cuda")
def special_ndtr(input: Any) -> Any:
    return run("special_ndtr", input)


@kernel(op.mvlgamma, device="cuda")
def mvlgamma(input: Any, p: Any) -> Any:
    return run("mvlgamma", input, float(p)) if type(p) is int and p > 0 else NotImplemented


@kernel(op.ldexp, device="cuda")
def ldexp(input: Any, other: Any) -> Any:
    """Of one precision; half rounds the power of two, too, as the body does."""
    return run("ldexp", input, other) if input.dtype == other.dtype and input.dtype in (F32, F64) else NotImplemented


@kernel(op.polar, device="cuda")
def polar(abs: Any, angle: Any) -> Any:
    if abs.dtype != angle.dtype or abs.dtype not in (F32, F64):
        return NotImplemented
    out = xp.empty(np.broadcast_shapes(abs.shape, angle.shape), np.result_type(abs.dtype, np.complex64))
    run("polar_real", abs, angle, out=out.real)
    run("polar_imag", abs, angle, out=out.imag)
    return out
