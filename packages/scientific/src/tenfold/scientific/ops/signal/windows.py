"""Windows: weights that fade out towards both ends of a stretch of signal."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from tenfold.dispatch.operators import composite
from tenfold.ops.creation.factories import place
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes
from tenfold.types.memory_format import strided


def _positions(name: str, length: int, periodic: bool, dtype: Any, layout: Any) -> tuple[Any, int]:
    """0, 1, ... and the last place of the symmetric window; a periodic window is one longer, without its last value."""
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    if dtype is not None and dtype.category != 2:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype.name}")
    if layout not in (None, strided):
        raise RuntimeError(f"{name} is not implemented for sparse types, got: {layout}")
    return np.arange(length, dtype=np.float64), max(length if periodic else length - 1, 1)


def _made(values: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    if values.size == 1:
        values = np.ones(1)
    return place(values.astype((dtype or dtypes.get_default_dtype()).numpy), device, requires_grad)


def cosine_sum(angles: Any, coefficients: Any) -> Any:
    """The sum of (-1)^k a_k cos(k angle)."""
    return np.sum([(-1) ** k * a * np.cos(k * angles) for k, a in enumerate(coefficients)], axis=0)


@composite("signal", method=None)
def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Hann window: (1 - cos(2 pi k / N)) / 2 with N = `window_length`, or one less unless `periodic`.

    >>> import tenfold
    >>> tenfold.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    k, n = _positions("hann_window", window_length, periodic, dtype, layout)
    return _made(cosine_sum(2 * pi * k / n, (0.5, 0.5)), dtype, device, requires_grad)


@composite("signal", method=None)
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Hamming window: alpha - beta cos(2 pi k / N).

    >>> import tenfold
    >>> tenfold.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    k, n = _positions("hamming_window", window_length, periodic, dtype, layout)
    return _made(cosine_sum(2 * pi * k / n, (alpha, beta)), dtype, device, requires_grad)


@composite("signal", method=None)
def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Blackman window: 0.42 - 0.5 cos(2 pi k / N) + 0.08 cos(4 pi k / N).

    >>> import tenfold
    >>> tenfold.blackman_window(4)[1:]
    tensor([0.3400, 1.0000, 0.3400])
    """
    k, n = _positions("blackman_window", window_length, periodic, dtype, layout)
    return _made(cosine_sum(2 * pi * k / n, (0.42, 0.5, 0.08)), dtype, device, requires_grad)


@composite("signal", method=None)
def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Bartlett window, a triangle: 1 - |2 k / N - 1|.

    >>> import tenfold
    >>> tenfold.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    k, n = _positions("bartlett_window", window_length, periodic, dtype, layout)
    return _made(1 - np.abs(2 * k / n - 1), dtype, device, requires_grad)


@composite("signal", method=None)
def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Kaiser window: I0(beta sqrt(1 - (2 k / N - 1)^2)) / I0(beta), I0 the modified Bessel function of order 0.

    >>> import tenfold
    >>> tenfold.kaiser_window(4, beta=1.0)
    tensor([0.7898, 0.9450, 1.0000, 0.9450])
    """
    k, n = _positions("kaiser_window", window_length, periodic, dtype, layout)
    values = np.i0(beta * np.sqrt(np.maximum(1 - (2 * k / n - 1) ** 2, 0))) / np.i0(beta)
    return _made(values, dtype, device, requires_grad)
