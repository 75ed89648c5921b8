"""Derivatives of gamma and beta variates by their shape parameters, with the probability below them held fixed.

Where F(z; a) stays the same, dz/da = -(dF/da) / (dF/dz). The derivative of the distribution function is an integral over the
density, of either tail, since both sum to nothing; divided by the density at z only ratios remain, so that nothing
overflows. With t = z exp(w) for the gamma distribution, and the logit of t moved by w for the beta distribution, the
integrand falls off from w = 0 in the direction of the smaller tail, and a Gauss-Legendre rule over what matters of it is exact to
about 10 digits; arrays of float32 and narrower take a shorter rule, exact to about 5.

Source: M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients" (2018), equation 5.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
F64 = NDArray[np.float64]
_NEGLIGIBLE = 42.0  # exp(-42) is below the last digit
_FEW = 1.5  # up to here the density is a power of the variate, and its other tail is a step
_SLOW = 3.0  # below this exponent a tail is long
_STEPS = 5  # of Newton's method for the reach of the rule, which need not be exact
_POINTS, _POINTS_NARROW = 32, 16
_CHUNK = 4096  # elements whose temporaries stay in the processor's cache


def gamma_derivative(alpha: Array, sample: Array) -> Array:
    """d sample / d alpha for samples of the gamma distribution with scale 1. Shape: broadcast. Dtype: that of alpha.

    >>> gamma_derivative(np.array([1.0]), np.array([1.0])).round(4)
    array([1.1736])
    """
    return _by_chunks(_gamma_derivative, alpha, sample)


def dirichlet_derivative(sample: Array, alpha: Array, total: Array) -> Array:
    """d x / d alpha over 1 - x, for x of the beta distribution of alpha and total - alpha, the second being fixed.

    x is one element of a Dirichlet sample whose parameters sum to `total`. Shape: broadcast. Dtype: that of the sample.

    >>> dirichlet_derivative(np.array([0.5]), np.array([1.0]), np.array([2.0])).round(6)  # x = u^(1 / alpha)
    array([0.693147])
    """
    return _by_chunks(_dirichlet_derivative, sample, alpha, total)


def digamma(x: F64) -> F64:
    """The logarithmic derivative of the gamma function, for x > 0: its recurrence up to 8, then the asymptotic series.

    >>> digamma(np.array([1.0])).round(6)
    array([-0.577216])
    """
    steps = np.zeros_like(x)
    for _ in range(8):
        small = x < 8
        steps[small] -= 1 / x[small]
        x = x + small
    s = 1 / (x * x)
    series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * (691 / 32760 - s / 12))))))
    return np.asarray(steps + np.log(x) - 0.5 / x - series)


def _by_chunks(function: Callable[..., F64], *values: Array) -> Array:
    points = _POINTS if any(v.dtype == np.float64 for v in values) else _POINTS_NARROW
    arrays = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in values))
    flat = [a.ravel() for a in arrays]
    result = np.empty(flat[0].size)
    with np.errstate(all="ignore"):
        for start in range(0, result.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            result[part] = function(*(a[part] for a in flat), points)
    return result.reshape(arrays[0].shape).astype(values[0].dtype)


def _gamma_derivative(a: F64, z: F64, points: int) -> F64:
    above = (z > a) & (z > _FEW)
    result = np.empty_like(z)
    result[above] = _gamma_upper(a[above], z[above], points)
    result[~above] = _gamma_lower(a[~above], z[~above], points)
    return result


def _gamma_upper(a: F64, z: F64, points: int) -> F64:
    """From z up: t = z exp(w)."""
    w, weights = _nodes(_extent(z - a, z, lambda w: z * np.expm1(w) - a * w, lambda w: z * np.exp(w) - a), points)
    center = np.log(z) - digamma(a)
    heights = np.exp(_column(a) * w - _column(z) * np.expm1(w)) * (_column(center) + w)
    return np.asarray(z * (heights * weights).sum(axis=1))


def _gamma_lower(a: F64, z: F64, points: int) -> F64:
    """From z down: t = z exp(-w). For small a what is left far down, exp(z - a w) (center - w), is integrated in closed form."""
    length = _extent(a - z, z, lambda w: a * w + z * np.expm1(-w), lambda w: a - z * np.exp(-w))
    slow = a < _SLOW
    w, weights = _nodes(np.where(slow, np.minimum(length, _NEGLIGIBLE / (1 + a)), length), points)
    fall = _column(a) * w
    heights = np.exp(-_column(z) * np.expm1(-w) - fall)
    heights[slow] -= np.exp(_column(z)[slow] - fall[slow])
    heights *= _column(np.log(z) - digamma(a)) - w
    rest = np.where(slow, np.exp(z) * (np.log(z) - digamma(a + 1)) / a, 0)
    return np.asarray(-z * ((heights * weights).sum(axis=1) + rest))


def _dirichlet_derivative(x: F64, a: F64, total: F64, points: int) -> F64:
    few, many = x * total <= _FEW, (1 - x) * total <= _FEW
    below = np.where(few == many, x * total <= a, few)
    result = np.empty_like(x)
    for tail, lower in ((below, True), (~below, False)):
        result[tail] = _beta_tail(x[tail], a[tail], total[tail], points, lower)
    return result


def _beta_tail(x: F64, a: F64, total: F64, points: int, lower: bool) -> F64:
    """From x down or up: log(t / (1 - t)) moved by w. For a small exponent at that end the limit there in closed form."""
    s, rate = (x, a) if lower else (1 - x, total - a)

    def bend(w: Any, s: Any = s) -> Any:  # of log(1 - t) for the lower tail, of log(t) for the upper one
        return np.log1p(s * np.expm1(-w))

    length = _extent(
        rate - total * s,
        total * s * (1 - s),
        lambda w: rate * w + total * bend(w),
        lambda w: rate - total * s / (np.exp(w) * (1 - s) + s),
    )
    slow = rate < _SLOW
    w, weights = _nodes(np.where(slow, np.minimum(length, _NEGLIGIBLE / (1 + rate)), length), points)
    center, bent, far = np.log(x) - digamma(a) + digamma(total), bend(w, _column(s)), np.log1p(-s)
    slope = w if lower else 0.0
    heights = np.exp(-_column(total) * bent - _column(rate) * w) * (_column(center) - bent - slope)
    limit = np.exp(-_column(total * far) - _column(rate) * w) * (_column(center - far) - slope)
    integral = ((heights - np.where(_column(slow), limit, 0)) * weights).sum(axis=1)
    rest = np.exp(-total * far) * (center - far - (1 / rate if lower else 0.0)) / rate
    integral += np.where(slow, rest, 0)
    return np.asarray(-x * integral if lower else x * integral)


def _column(values: Array) -> Array:
    return values[:, None]


@cache
def _rule(points: int) -> tuple[F64, F64]:
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return (nodes + 1) / 2, weights / 2


def _nodes(length: F64, points: int) -> tuple[F64, F64]:
    """Points and weights of the rule from 0 to each length."""
    nodes, weights = _rule(points)
    return _column(length) * nodes, _column(length) * weights


def _extent(slope: F64, curvature: F64, fall: Callable[[Any], Any], steepness: Callable[[Any], Any]) -> F64:
    """Where a convex function, 0 at 0, reaches what is negligible: from its parabola there, by Newton's steps."""
    w = 2 * _NEGLIGIBLE / (slope + np.sqrt(slope * slope + 2 * _NEGLIGIBLE * curvature))
    for _ in range(_STEPS):
        w = np.maximum(w + (_NEGLIGIBLE - fall(w)) / steepness(w), w / 4)
    return np.asarray(w)
