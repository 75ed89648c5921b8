"""Samples that take as many random numbers as it needs: gamma, Dirichlet, Poisson and binomial, one element after another.

Elements come in the order of a contiguous tensor. Each takes 53-bit uniforms from one stream, and the gamma distribution
also normals of Box and Muller, whose second of a pair waits in the generator. That is PyTorch's order, and so its numbers.
How many numbers an element takes depends on those before it, so that this is a Python loop of about a microsecond an element,
some fifteen times as long as PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import ceil, cos, exp, floor, inf, isnan, lgamma, log, log1p, nan, pi, sin, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenfold.random.checks import least, precision
from tenfold.random.generator import Generator

Array = NDArray[Any]
F64 = NDArray[np.float64]
_FEW, _MOST = 32, 1 << 16  # elements from which on uniforms are drawn in blocks; the largest block
_THIRD, _SQUEEZE = float(np.float32(1 / 3)), float(np.float32(0.0331))  # PyTorch has them in float32
_LOG_FACTORIALS = [lgamma(k + 1) for k in range(10)]


class Uniforms:
    """Uniforms in [0, 1) one by one, by `draw`; `close` leaves the generator behind the last one handed out.

    Those of many elements are drawn in blocks, and at the end the generator goes back and draws what was used. The blocks are
    chained, so that a number of one costs no call of Python.

    >>> generator = Generator().manual_seed(0)
    >>> uniforms = Uniforms(generator, elements=100)
    >>> first = uniforms.draw()
    >>> uniforms.close()
    >>> int(generator.words64(1)[0] & np.uint64(2**53 - 1)) * 2.0**-53 == uniforms.draw()
    True
    """

    def __init__(self, generator: Generator, elements: int) -> None:
        no_more: Iterator[float] = iter(())
        self.generator, self.normal = generator, generator.normal_sample
        self.size = 1 if elements < _FEW else min(elements, _MOST)
        self.start = None if self.size == 1 else generator.engine_state()
        self.drawn, self.left = 0, no_more
        self.draw: Callable[[], float] = chain.from_iterable(self._blocks()).__next__

    def _blocks(self) -> Iterator[Iterator[float]]:
        while True:
            if self.start is None:
                high, low = self.generator.words32(2).tolist()
                yield iter((float(((high << 32 | low) & (2**53 - 1)) * 2.0**-53),))
                continue
            bits = self.generator.words64(self.size) & np.uint64(2**53 - 1)
            self.left = iter((bits.view(np.int64) * 2.0**-53).tolist())
            self.drawn += self.size
            yield self.left

    def close(self) -> None:
        """Put the generator where one would be that has drawn only what was used."""
        self.generator.normal_sample = self.normal
        if self.start is None:
            return
        unused = list(self.left)
        self.draw = iter(unused).__next__
        self.generator.restore_engine(self.start)
        self.generator.words64(self.drawn - len(unused))


def each(sample: Callable[..., Iterator[float]], generator: Generator, *parameters: Array) -> F64:
    """The variates that `sample(uniforms, elements)` makes, one for each element of the parameters, which have one shape."""
    first = parameters[0]
    uniforms = Uniforms(generator, first.size)
    try:
        made = list(sample(uniforms, zip(*(p.astype(np.float64).ravel().tolist() for p in parameters))))
    finally:
        uniforms.close()
    return np.array(made, np.float64).reshape(first.shape)


def gamma(generator: Generator, alpha: Array) -> F64:
    """Gamma variates of these shape parameters and scale 1, whose dtype their constants are rounded to. Shape: that of alpha.

    Below 1 by Gamma(alpha) = Gamma(alpha + 1) * U^(1 / alpha).
    """
    one = alpha.dtype.type(1)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        exponent = np.where(alpha < 1, one / alpha, 0)
        d = np.where(alpha < 1, alpha + one, alpha) - alpha.dtype.type(_THIRD)
    return each(_gammas, generator, np.where(alpha > 0, d, np.nan), exponent)


def standard_gamma(generator: Generator, alpha: Array) -> Array:
    """Gamma variates in the dtype of their shape parameters, none of them zero."""
    return _inside(gamma(generator, alpha), alpha.dtype)


def dirichlet(generator: Generator, alpha: Array) -> Array:
    """Gamma variates of the parameters in the last dimension, divided by their sum; none of them zero or one."""
    gammas = _inside(gamma(generator, alpha.astype(np.float64)), np.dtype(np.float64))
    shares = gammas / gammas.sum(axis=-1, keepdims=True)
    return _inside(shares, alpha.dtype, 1 - 2.0 ** -precision(alpha.dtype))


def _inside(samples: F64, dtype: Any, high: Any = None) -> Array:
    """Rounded to the dtype, and not to zero or above `high`, where logarithms end."""
    with np.errstate(over="ignore"):
        return samples.astype(dtype).clip(least(dtype), high)


def _gammas(uniforms: Uniforms, elements: Iterable[tuple[float, float]]) -> Iterator[float]:
    """Source: G. Marsaglia, W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000)."""
    draw, spare = uniforms.draw, uniforms.normal
    for d, exponent in elements:
        if not d < inf:
            yield d if d == inf else 0.0
            continue
        scale = (1 - draw()) ** exponent if exponent else 1.0
        c = 1 / sqrt(9 * d)
        while True:
            if spare is None:  # a new pair of normals
                turn, radius = 2 * pi * draw(), sqrt(-2 * log1p(-draw()))
                x, spare = radius * cos(turn), radius * sin(turn)
            else:
                x, spare = spare, None
            root = 1 + c * x
            if root <= 0:
                continue
            v, u, square = root * root * root, 1 - draw(), x * x
            if u < 1 - _SQUEEZE * square * square or log(u) < 0.5 * square + d * (1 - v + log(v)):
                break
        uniforms.normal = spare
        yield scale * d * v


def poisson(generator: Generator, rate: Array) -> F64:
    """Poisson variates of these rates. Shape: that of rate."""
    return each(_poissons, generator, rate)


def _poissons(uniforms: Uniforms, elements: Iterable[tuple[float]]) -> Iterator[float]:
    """By counting below rate 10, by transformed rejection from there on.

    Source: D. Knuth, The Art of Computer Programming 2, 3.4.1; W. Hörmann, "The transformed rejection method for
    generating Poisson random variables", Insurance: Mathematics and Economics 12 (1993), algorithm PTRS.
    """
    draw = uniforms.draw
    for (rate,) in elements:
        if not 0 < rate < inf:
            yield 0.0 if rate == 0 else nan
        elif rate >= 10:
            yield _transformed_poisson(draw, rate)
        else:
            limit, product, count = exp(-rate), draw(), 0.0
            while product > limit:
                product *= draw()
                count += 1
            yield count


def _transformed_poisson(draw: Callable[[], float], rate: float) -> float:
    b = 0.931 + 2.53 * sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha, least = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = draw() - 0.5, draw()
        us = 0.5 - abs(u)
        k = floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= least:
            return float(k)
        if k < 0 or (us < 0.013 and v > us) or v == 0:
            continue
        height = log(v) + log(inverse_alpha) - log(a / (us * us) + b)
        if height <= -rate + k * log(rate) - lgamma(k + 1):
            return float(k)


def binomial(generator: Generator, count: Array, p: Array) -> F64:
    """Numbers of successes in `count` trials. Shape: that of both."""
    return each(_binomials, generator, count, p)


def _binomials(uniforms: Uniforms, elements: Iterable[tuple[float, float]]) -> Iterator[float]:
    draw = uniforms.draw
    return (_binomial(draw, count, p) for count, p in elements)


def _binomial(draw: Callable[[], float], count: float, p: float) -> float:
    """Waiting times are counted where few successes are expected; else by transformed rejection."""
    if isnan(count) or isnan(p) or count == inf:
        return nan
    if count <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return count
    if p > 0.5:
        return count - _binomial_below_half(draw, count, 1 - p)
    return _binomial_below_half(draw, count, p)


def _binomial_below_half(draw: Callable[[], float], count: float, p: float) -> float:
    """Source: L. Devroye, Non-Uniform Random Variate Generation (1986), X.4: waiting times are geometric."""
    if count * p >= 10:
        return _transformed_binomial(draw, count, p)
    trials, successes, log_failure = 0.0, 0, log1p(-p)
    while True:
        u = draw()
        trials += ceil(log(u) / log_failure) if u else inf
        if trials > count:
            return float(successes)
        successes += 1


def _transformed_binomial(draw: Callable[[], float], count: float, p: float) -> float:
    """Source: W. Hörmann, "The generation of binomial random variates", J. Statistical Computation 46 (1993), algorithm BTRS."""
    deviation = sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    center, least, odds = count * p + 0.5, 0.92 - 4.2 / b, p / (1 - p)
    alpha, mode = (2.83 + 5.1 / b) * deviation, floor((count + 1) * p)
    while True:
        u, v = draw() - 0.5, draw()
        us = 0.5 - abs(u)
        k = floor((2 * a / us + b) * u + center)
        if us >= 0.07 and v <= least:
            return float(k)
        if k < 0 or k > count or v == 0:
            continue
        height = log(v * alpha / (a / (us * us) + b))
        if height <= _binomial_log_ratio(count, odds, mode, k):
            return float(k)


def _binomial_log_ratio(n: float, odds: float, mode: int, k: int) -> float:
    """log of the probability of k over that of the mode, by Stirling's formula with corrections."""
    ratio = (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1)))
    ratio += (n + 1) * log((n - mode + 1) / (n - k + 1))
    ratio += (k + 0.5) * log(odds * (n - k + 1) / (k + 1))
    return ratio + _stirling(mode) + _stirling(n - mode) - _stirling(k) - _stirling(n - k)


def _stirling(k: float) -> float:
    """log k! less ((k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2)."""
    if k < 10 and k == int(k):
        return _LOG_FACTORIALS[int(k)] - ((k + 0.5) * log(k + 1) - (k + 1) + 0.5 * log(2 * pi))
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
