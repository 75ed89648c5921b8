"""Cauchy, geometric and log-normal samples, in PyTorch's order and with its rounding; as in `tenfold.random.sampling`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import DTypeLike

from tenfold.random.boxmuller import fma64, libm
from tenfold.random.checks import real_floating
from tenfold.random.generator import Generator
from tenfold.random.sampling import Array, Shape, narrowed, serial_normals, sizes_of, units64


def log_normal(generator: Generator, shape: Shape, dtype: DTypeLike = np.float32, mean: float = 1.0, std: float = 2.0) -> Array:
    """Samples whose logarithm is normal: exp(mean + std z).

    Shape: `shape`. Dtype: any floating point. Raises: RuntimeError if std <= 0.

    >>> log_normal(Generator().manual_seed(0), 2, np.float64, 0.0, 1.0).round(4).tolist()
    [4.6692, 0.7457]
    """
    dtype = real_floating("log_normal", dtype)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    exponent = fma64(serial_normals(generator, math.prod(sizes_of(shape))), std, mean)
    with np.errstate(over="ignore", invalid="ignore"):
        samples: Array = np.exp(exponent.astype(np.complex128)).real  # the C library's exp
    return narrowed(samples, dtype).reshape(sizes_of(shape))


def cauchy(generator: Generator, shape: Shape, dtype: DTypeLike = np.float32, median: float = 0.0, sigma: float = 1.0) -> Array:
    """Cauchy samples: median + sigma tan(pi (u - 1/2)).

    Shape: `shape`. Dtype: any floating point. Raises: RuntimeError if sigma <= 0.

    >>> cauchy(Generator().manual_seed(0), 2, np.float64).round(4).tolist()
    [10.5977, 0.7648]
    """
    dtype = real_floating("cauchy", dtype)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    angle = np.pi * (units64(generator, math.prod(sizes_of(shape))) - 0.5)
    tangent = libm(math.tan, angle) if dtype == np.float64 else np.tan(angle)
    return narrowed(fma64(tangent, sigma, median), dtype).reshape(sizes_of(shape))


def geometric(generator: Generator, shape: Shape, dtype: DTypeLike = np.float32, p: float = 0.5) -> Array:
    """The number of trials up to the first success: ceil(log(u) / log(1 - p)).

    Shape: `shape`. Dtype: any real. Raises: RuntimeError if p is not in (0, 1).

    >>> geometric(Generator().manual_seed(0), 4, np.int64, 0.25).tolist()
    [1, 2, 3, 1]
    """
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    with np.errstate(divide="ignore"):
        trials = np.ceil(np.log(units64(generator, math.prod(sizes_of(shape)))) / math.log1p(-p))
    return narrowed(trials, np.dtype(dtype)).reshape(sizes_of(shape))
