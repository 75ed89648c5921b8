"""The error function, its complement and its inverse for NumPy arrays, which NumPy itself lacks.

Sources: W. J. Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 23 (1969) 631-637, in float64;
M. J. Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Appl. Statist. 37 (1988) 477-484, for
the inverse. In float32 erf(x) is tanh(x p(x^2)) with p our own weighted least-squares fit of artanh(erf(x)) / x on [0, 4.3]:
no branches, and tanh saturates where erf does.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any

import numpy as np

from tenfold.cpu.blocks import blockwise
from tenfold.types.numbers import ARRAYS

Array = np.ndarray[Any, Any]
Coefficients = tuple[float, ...]

# Highest power first.
TANH_POLYNOMIAL: Coefficients = (
    5.4223829e-09,
    2.75556423e-08,
    -4.79440661e-06,
    8.45956782e-05,
    -0.000614836215,
    -0.000195290283,
    0.102769865,
    1.12837925,
)

SMALL = 0.46875
NEAR = 4.0
SMALL_NUMERATOR = (
    1.85777706184603153e-1,
    3.16112374387056560e0,
    1.13864154151050156e2,
    3.77485237685302021e2,
    3.20937758913846947e3,
)
SMALL_DENOMINATOR = (
    1.0,
    2.36012909523441209e1,
    2.44024637934444173e2,
    1.28261652607737228e3,
    2.84423683343917062e3,
)
NEAR_NUMERATOR = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594e0,
    6.61191906371416295e1,
    2.98635138197400131e2,
    8.81952221241769090e2,
    1.71204761263407058e3,
    2.05107837782607147e3,
    1.23033935479799725e3,
)
NEAR_DENOMINATOR = (
    1.0,
    1.57449261107098347e1,
    1.17693950891312499e2,
    5.37181101862009858e2,
    1.62138957456669019e3,
    3.29079923573345963e3,
    4.36261909014324716e3,
    3.43936767414372164e3,
    1.23033935480374942e3,
)
FAR_NUMERATOR = (
    1.63153871373020978e-2,
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4,
)
FAR_DENOMINATOR = (
    1.0,
    2.56852019228982242e0,
    1.87295284992346725e0,
    5.27905102951428412e-1,
    6.05183413124413191e-2,
    2.33520497626869185e-3,
)

CENTRAL_NUMERATOR = (
    2.5090809287301226727e3,
    3.3430575583588128105e4,
    6.7265770927008700853e4,
    4.5921953931549871457e4,
    1.3731693765509461125e4,
    1.9715909503065514427e3,
    1.3314166789178437745e2,
    3.3871328727963666080e0,
)
CENTRAL_DENOMINATOR = (
    5.2264952788528545610e3,
    2.8729085735721942674e4,
    3.9307895800092710610e4,
    2.1213794301586595867e4,
    5.3941960214247511077e3,
    6.8718700749205790830e2,
    4.2313330701600911252e1,
    1.0,
)
TAIL_NUMERATOR = (
    7.74545014278341407640e-4,
    2.27238449892691845833e-2,
    2.41780725177450611770e-1,
    1.27045825245236838258e0,
    3.64784832476320460504e0,
    5.76949722146069140550e0,
    4.63033784615654529590e0,
    1.42343711074968357734e0,
)
TAIL_DENOMINATOR = (
    1.05075007164441684324e-9,
    5.47593808499534494600e-4,
    1.51986665636164571966e-2,
    1.48103976427480074590e-1,
    6.89767334985100004550e-1,
    1.67638483018380384940e0,
    2.05319162663775882187e0,
    1.0,
)
EXTREME_NUMERATOR = (
    2.01033439929228813265e-7,
    2.71155556874348757815e-5,
    1.24266094738807843860e-3,
    2.65321895265761230930e-2,
    2.96560571828504891230e-1,
    1.78482653991729133580e0,
    5.46378491116411436990e0,
    6.65790464350110377720e0,
)
EXTREME_DENOMINATOR = (
    2.04426310338993978564e-15,
    1.42151175831644588870e-7,
    1.84631831751005468180e-5,
    7.86869131145613259100e-4,
    1.48753612908506148525e-2,
    1.36929880922735805310e-1,
    5.99832206555887937690e-1,
    1.0,
)


def erf(input: Array) -> Array:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to the input; float16 to float64, dtype kept.

    >>> erf(np.array([0.0, 0.5, 1.0])).round(6)
    array([0.      , 0.5205  , 0.842701])
    """
    if input.dtype == np.float64:
        return _quietly(_erf_double, input)
    return _quietly(erf_single, input.astype(np.float32, copy=False)).astype(input.dtype, copy=False)


def erfc(input: Array) -> Array:
    """1 - erf(input) without the loss of digits for large numbers; float16 to float64, dtype kept.

    >>> float(erfc(np.array(5.0)).round(17))
    1.53746e-12
    """
    return _quietly(_erfc_double, input.astype(np.float64, copy=False)).astype(input.dtype, copy=False)


def erfinv(input: Array) -> Array:
    """The y with erf(y) = input: infinite at -1 and 1, NaN beyond; float16 to float64, dtype kept.

    >>> float(erfinv(np.array(0.5)).round(6))
    0.476936
    """
    return _quietly(_erfinv_double, input.astype(np.float64, copy=False)).astype(input.dtype, copy=False)


def _quietly(body: Callable[..., None], x: Array) -> Array:
    with np.errstate(all="ignore"):
        return blockwise(body, x)


def erf_single(out: Array, x: Array) -> None:
    """Write erf(x) to `out`, both float32, within 2.5e-7 of the value; `out` must not be `x`."""
    square = x * x
    _horner(TANH_POLYNOMIAL, square, out)
    out *= x
    np.tanh(out, out=out)


# -2 artanh(erf(x / sqrt(2))) / x, by powers of x^2: the same fit with its argument scaled.
EXPONENT_POLYNOMIAL: Coefficients = tuple(
    -2 * sqrt(0.5) * c * 0.5**power for power, c in zip(range(len(TANH_POLYNOMIAL) - 1, -1, -1), TANH_POLYNOMIAL, strict=True)
)


def inverse_phi(out: Array, x: Array) -> None:
    """Write one over the normal distribution function of x, 1 + exp(-2 artanh(erf(x / sqrt(2)))), both float32; not in place."""
    _horner(EXPONENT_POLYNOMIAL, x * x, out)
    np.multiply(out, x, out)
    np.exp(out, out)
    np.add(out, ARRAYS[x.dtype][1.0], out)


def _horner(coefficients: Coefficients, x: Array, out: Array) -> Array:
    """Write the polynomial's value to `out`, which must not be `x`, and return it."""
    numbers = ARRAYS[x.dtype]
    first, second, *rest = coefficients
    np.multiply(x, numbers[first], out)
    np.add(out, numbers[second], out)
    for coefficient in rest:
        np.multiply(out, x, out)
        np.add(out, numbers[coefficient], out)
    return out


def _ratio(numerator: Coefficients, denominator: Coefficients, x: Array) -> Array:
    top = _horner(numerator, x, np.empty_like(x))
    top /= _horner(denominator, x, np.empty_like(x))
    return top


def _erf_double(out: Array, x: Array) -> None:
    """Both forms everywhere and a choice between them: cheaper than sorting the elements by their range."""
    size = np.abs(x)
    outer = np.subtract(1, _upper_erfc(np.maximum(size, SMALL)))
    np.copysign(outer, x, out=outer)
    out[...] = np.where(size <= SMALL, _inner_erf(x), outer)


def _erfc_double(out: Array, x: Array) -> None:
    size = np.abs(x)
    upper = _upper_erfc(np.maximum(size, SMALL))
    np.subtract(2, upper, out=upper, where=x < 0)
    out[...] = np.where(size <= SMALL, 1 - _inner_erf(x), upper)


def _inner_erf(x: Array) -> Array:
    """erf(x) for x up to SMALL."""
    return x * _ratio(SMALL_NUMERATOR, SMALL_DENOMINATOR, x * x)


def _upper_erfc(y: Array) -> Array:
    """erfc(y) for y above SMALL: exp(-y^2) times a rational function of y, or of 1 / y^2 beyond NEAR."""
    far = y > NEAR
    if not far.any():
        return _ratio(NEAR_NUMERATOR, NEAR_DENOMINATOR, y) * _exp_minus_square(y)
    out = np.empty_like(y)
    near, beyond = y[~far], y[far]
    out[~far] = _ratio(NEAR_NUMERATOR, NEAR_DENOMINATOR, near)
    inverse = 1 / (beyond * beyond)
    out[far] = (1 / sqrt(pi) - inverse * _ratio(FAR_NUMERATOR, FAR_DENOMINATOR, inverse)) / beyond
    out *= _exp_minus_square(y)
    return out


def _exp_minus_square(y: Array) -> Array:
    """exp(-y^2) with the rounding error of the square taken out: y is split into sixteenths, whose square is exact."""
    y = np.minimum(y, 30.0)  # exp(-900) is 0
    coarse = np.trunc(y * 16) / 16
    rest = (y - coarse) * (y + coarse)
    power: Array = np.exp(-coarse * coarse)
    power *= np.exp(-rest)
    return power


def _erfinv_double(out: Array, x: Array) -> None:
    q = x / 2
    tail = np.abs(q) > 0.425
    center = q[~tail]
    out[~tail] = center * _ratio(CENTRAL_NUMERATOR, CENTRAL_DENOMINATOR, 0.180625 - center * center)
    outer = x[tail]
    r = np.sqrt(-np.log((1 - np.abs(outer)) / 2))
    near = _ratio(TAIL_NUMERATOR, TAIL_DENOMINATOR, r - 1.6)
    beyond = _ratio(EXTREME_NUMERATOR, EXTREME_DENOMINATOR, r - 5)
    far = np.where(np.isinf(r), np.inf, np.where(r > 5, beyond, near))
    out[tail] = np.copysign(far, outer)
    out /= sqrt(2)
