"""`tenfold.signal.windows`: windows by their number of points M, symmetric unless `sym` is False."""

from __future__ import annotations

from collections.abc import Iterable
from math import pi
from typing import Any

import numpy as np

from tenfold.ops.creation.factories import place
from tenfold.scientific.ops.signal.windows import cosine_sum
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes
from tenfold.types.memory_format import strided

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]  # fmt: skip


def _window(name: str, M: int, sym: bool, values: Any, options: dict[str, Any]) -> Tensor:
    """The window values(k, N) at k = 0 ... M - 1, N = M - 1, or M unless `sym`."""
    dtype, layout = options.get("dtype") or dtypes.get_default_dtype(), options.get("layout", strided)
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype!r}")
    unknown = options.keys() - {"dtype", "layout", "device", "requires_grad"}
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument '{min(unknown)}'")
    array = np.ones(M) if M == 1 else values(np.arange(M, dtype=np.float64), max(M - 1 if sym else M, 1))
    return place(np.asarray(array).astype(dtype.numpy), options.get("device"), options.get("requires_grad", False))


def _cosines(name: str, M: int, coefficients: Iterable[float], sym: bool, options: dict[str, Any]) -> Tensor:
    return _window(name, M, sym, lambda k, n: cosine_sum(2 * pi * k / n, coefficients), options)


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: Any) -> Tensor:
    """Sum of cosines: sum over (-1)^i a_i cos(2 pi i k / N).

    >>> from tenfold.signal import windows
    >>> windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    coefficients = tuple(a)
    if not coefficients:
        raise ValueError("Coefficients cannot be empty")
    return _cosines("general_cosine", M, coefficients, sym, options)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Tensor:
    """General Hamming window: alpha - (1 - alpha) cos(2 pi k / N)."""
    return _cosines("general_cosine", M, (alpha, 1 - alpha), sym, options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Hamming window: 0.54 - 0.46 cos(2 pi k / N)."""
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Hann window: (1 - cos(2 pi k / N)) / 2."""
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Blackman window: 0.42 - 0.5 cos(2 pi k / N) + 0.08 cos(4 pi k / N)."""
    return _cosines("blackman", M, (0.42, 0.5, 0.08), sym, options)


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Nuttall's minimum 4-term Blackman-Harris window.

    Source: G. Heinzel et al., Spectrum and spectral density estimation by the discrete Fourier transform, 2002.
    """
    return _cosines("general_cosine", M, (0.3635819, 0.4891775, 0.1365995, 0.0106411), sym, options)


def bartlett(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Bartlett window, a triangle: 1 - |2 k / N - 1|."""
    return _window("bartlett", M, sym, lambda k, n: 1 - np.abs(2 * k / n - 1), options)


def cosine(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Cosine window: sin(pi (k + 1/2) / (N + 1))."""
    return _window("cosine", M, sym, lambda k, n: np.sin(pi * (k + 0.5) / (n + 1)), options)


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """Exponential window: exp(-|k - center| / tau), by default around the middle."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _window("exponential", M, sym, lambda k, n: np.exp(-np.abs(k - (n / 2 if center is None else center)) / tau), options)


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """Gaussian window: exp(-((k - N / 2) / std)^2 / 2)."""
    std = float(std)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _window("gaussian", M, sym, lambda k, n: np.exp(-0.5 * ((k - n / 2) / std) ** 2), options)


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Tensor:
    """Kaiser window: I0(beta sqrt(1 - (2 k / N - 1)^2)) / I0(beta), I0 the modified Bessel function of order 0."""
    beta = float(beta)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def values(k: Any, n: int) -> Any:
        return np.i0(beta * np.sqrt(np.maximum(1 - (2 * k / n - 1) ** 2, 0))) / np.i0(beta)

    return _window("kaiser", M, sym, values, options)
