"""Transforms along one dimension."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.operators import composite
from tenfold.scientific.ops.fft.arguments import complex_of, floating, one_dim, points, real, resized, scaling
from tenfold.scientific.ops.fft.primitives import complex_transform, real_inverse_transform, real_transform
from tenfold.tensor.tensor import Tensor


@composite("fft", method=None, out=True)
def fft_fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Discrete Fourier transform: y_k = sum over x_j exp(-2 pi i j k / n).

    `n`: the number of points, for which the input is cut or filled with zeros. `norm`: "backward" (the default) divides
    the inverse by n, "forward" the transform, "ortho" both by the root of n. Dtype: complex.

    >>> import tenfold
    >>> tenfold.fft.fft(tenfold.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    return _complex("fft.fft", input, n, dim, norm, forward=True)


@composite("fft", method=None, out=True)
def fft_ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Inverse of `fft`: x_j = (1 / n) sum over y_k exp(2 pi i j k / n).

    >>> import tenfold
    >>> tenfold.fft.ifft(tenfold.tensor([3.0, -1.0]))
    tensor([1.+0.j, 2.+0.j])
    """
    return _complex("fft.ifft", input, n, dim, norm, forward=False)


def _complex(name: str, input: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    d = one_dim(name, input, dim)
    x = resized(name, floating(name, input), [d], [n])
    return complex_transform(x, (d,), forward, scaling(name, norm, forward))


@composite("fft", method=None, out=True)
def fft_rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Transform of real numbers: the first n // 2 + 1 values of `fft`, of which the others are conjugates.

    >>> import tenfold
    >>> tenfold.fft.rfft(tenfold.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return _from_real("fft.rfft", input, n, dim, norm, forward=True)


def _from_real(name: str, input: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    x = real(name, input)
    d = one_dim(name, x, dim)
    return real_transform(resized(name, x, [d], [n]), d, scaling(name, norm, forward))


@composite("fft", method=None, out=True)
def fft_irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Inverse of `rfft`: n real numbers (2 (size - 1) by default) from half a spectrum. Dtype: real.

    >>> import tenfold
    >>> tenfold.fft.irfft(tenfold.tensor([10.0 + 0j, -2.0 + 2j, -2.0]))
    tensor([1., 2., 3., 4.])
    """
    return _to_real("fft.irfft", input, n, dim, norm, forward=False)


def _to_real(name: str, input: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    x = complex_of(name, input)
    d = one_dim(name, x, dim)
    size = points(name, 2 * (x.shape[d] - 1) if n is None else n)
    x = resized(name, x, [d], [size // 2 + 1])
    return real_inverse_transform(x.conj() if forward else x, d, size, scaling(name, norm, forward))


@composite("fft", method=None, out=True)
def fft_hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Transform of a signal that is its own conjugate reversed, of which half is given. Dtype: real.

    >>> import tenfold
    >>> tenfold.fft.hfft(tenfold.tensor([1.0 + 0j, 2.0, 3.0]))
    tensor([ 8., -2.,  0., -2.])
    """
    return _to_real("fft.hfft", input, n, dim, norm, forward=True)


@composite("fft", method=None, out=True)
def fft_ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Inverse of `hfft`: half of a signal that is its own conjugate reversed, from its real spectrum.

    >>> import tenfold
    >>> tenfold.fft.ihfft(tenfold.tensor([3.0, -1.0]))
    tensor([1.-0.j, 2.-0.j])
    """
    return _from_real("fft.ihfft", input, n, dim, norm, forward=False).conj_physical()
