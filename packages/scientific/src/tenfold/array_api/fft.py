"""Discrete Fourier transforms."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor


def fft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Transform along an axis."""
    return tenfold.fft.fft(x, n, axis, norm)


def ifft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Inverse of `fft`."""
    return tenfold.fft.ifft(x, n, axis, norm)


def rfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Half of the transform of real numbers."""
    return tenfold.fft.rfft(x, n, axis, norm)


def irfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Inverse of `rfft`."""
    return tenfold.fft.irfft(x, n, axis, norm)


def hfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Transform of half of what has real numbers for its transform."""
    return tenfold.fft.hfft(x, n, axis, norm)


def ihfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Inverse of `hfft`."""
    return tenfold.fft.ihfft(x, n, axis, norm)


def _last(s: Any, axes: Any) -> Any:
    """The axes that sizes without axes mean: the last ones."""
    return axes if axes is not None or s is None else tuple(range(-len(s), 0))


def fftn(x: Tensor, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
    """Transform along several axes."""
    return tenfold.fft.fftn(x, s, _last(s, axes), norm)


def ifftn(x: Tensor, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
    """Inverse of `fftn`."""
    return tenfold.fft.ifftn(x, s, _last(s, axes), norm)


def rfftn(x: Tensor, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
    """Half of the transform of real numbers along several axes."""
    return tenfold.fft.rfftn(x, s, _last(s, axes), norm)


def irfftn(x: Tensor, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
    """Inverse of `rfftn`."""
    return tenfold.fft.irfftn(x, s, _last(s, axes), norm)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of a transform's elements."""
    return tenfold.fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of the elements of half a transform."""
    return tenfold.fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x: Tensor, /, *, axes: Any = None) -> Tensor:
    """Frequencies in order, 0 in the middle."""
    return tenfold.fft.fftshift(x, axes)


def ifftshift(x: Tensor, /, *, axes: Any = None) -> Tensor:
    """Inverse of `fftshift`."""
    return tenfold.fft.ifftshift(x, axes)
