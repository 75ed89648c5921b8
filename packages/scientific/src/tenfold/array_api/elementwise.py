"""Functions of each element, or of two arrays element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.array_api.data_types import together

# The standard's name, and Tenfold's where it is another.
UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_invert=bitwise_not ceil conj=conj_physical cos cosh exp floor imag "
    "isfinite isinf isnan log log10 log1p log2 logical_not negative positive real reciprocal round signbit sin sinh "
    "sqrt square tan tanh trunc"
).split()
BINARY = (
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal=eq "
    "greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply nextafter "
    "not_equal=ne pow subtract"
).split()


def _unary(name: str, function: Any) -> Callable[..., Tensor]:
    def run(x: Tensor, /) -> Tensor:
        return function(x)  # type: ignore[no-any-return]

    run.__name__ = run.__qualname__ = name
    run.__doc__ = f"`tenfold.{function.__name__}` of each element."
    return run


def _binary(name: str, function: Any) -> Callable[..., Tensor]:
    def run(x1: Any, x2: Any, /) -> Tensor:
        return function(*together(x1, x2))  # type: ignore[no-any-return]

    run.__name__ = run.__qualname__ = name
    run.__doc__ = f"`tenfold.{function.__name__}` of the elements of two arrays, broadcast."
    return run


def _named(names: list[str], make: Any) -> dict[str, Callable[..., Tensor]]:
    pairs = [name.split("=") for name in names]
    return {pair[0]: make(pair[0], getattr(tenfold, pair[-1])) for pair in pairs}


def floor_divide(x1: Any, x2: Any, /) -> Tensor:
    """The largest whole number up to the quotient; of infinities as their quotient, while `tenfold.floor_divide` gives nan."""
    a, b = together(x1, x2)
    whole = tenfold.floor_divide(a, b)
    if not a.dtype.is_floating_point:
        return whole
    quotient = tenfold.floor(a / b)
    return tenfold.where(tenfold.isfinite(a) & tenfold.isfinite(b) & (b != 0), whole, quotient)


def remainder(x1: Any, x2: Any, /) -> Tensor:
    """What is left by `floor_divide`, with the divisor's sign, of zeros too."""
    a, b = together(x1, x2)
    left = tenfold.remainder(a, b)
    return tenfold.where(left == 0, tenfold.copysign(left, b), left) if a.dtype.is_floating_point else left


def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1; of complex numbers the one on the unit circle; nan of nan."""
    return tenfold.where(tenfold.isnan(x), x, tenfold.sgn(x)) if x.dtype.is_floating_point else tenfold.sgn(x)


def expm1(x: Tensor, /) -> Tensor:
    """exp(x) - 1, exact near 0; of complex numbers by its real form, which has the limits at infinity and the signs of zeros."""
    if not x.dtype.is_complex:
        return tenfold.expm1(x)
    a, b = x.real, x.imag
    real = tenfold.expm1(a) * tenfold.cos(b) - 2 * tenfold.square(tenfold.sin(b / 2))
    made = tenfold.complex(real, tenfold.exp(a) * tenfold.sin(b))
    edge = ~(tenfold.isfinite(a) & tenfold.isfinite(b)) | (b == 0)
    return tenfold.where(edge, _at_the_edge(a, b), made)


def _at_the_edge(a: Tensor, b: Tensor) -> Tensor:
    """expm1 of infinities, nan, and real numbers: C's limits of the exponential, less 1."""
    e, zero = tenfold.exp(a), tenfold.zeros_like(a)
    wild = ~tenfold.isfinite(b)
    gone, up = tenfold.isneginf(a), tenfold.isposinf(a)
    imag = tenfold.where(b == 0, b, tenfold.where(wild, tenfold.where(gone, zero, b - b), e * tenfold.sin(b)))
    imag = tenfold.where(gone & ~wild & (b != 0), zero * tenfold.sin(b), imag)
    real = tenfold.where(b == 0, tenfold.expm1(a) + 0.0, tenfold.where(wild, b - b, e * tenfold.cos(b)))
    return tenfold.complex(tenfold.where(gone, -tenfold.ones_like(a), tenfold.where(up & wild, a, real)), imag)


FUNCTIONS = _named(UNARY, _unary) | _named(BINARY, _binary)


FUNCTIONS.update({f.__name__: f for f in (expm1, floor_divide, remainder, sign)})


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """Elements no smaller than `min` and no greater than `max`, in the array's own dtype."""
    for bound, choose in ((min, tenfold.maximum), (max, tenfold.minimum)):
        if bound is not None:
            bound = bound if isinstance(bound, Tensor) else tenfold.full((), bound, dtype=x.dtype, device=x.device)
            x = choose(x, bound.to(x.dtype))
    return x.clone() if min is None and max is None else x
