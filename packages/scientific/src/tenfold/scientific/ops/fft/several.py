"""Transforms along several dimensions."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.operators import composite
from tenfold.scientific.ops.fft.arguments import complex_of, dims_and_sizes, floating, points, real, resized, scaling
from tenfold.scientific.ops.fft.primitives import complex_transform, real_inverse_transform, real_transform
from tenfold.tensor.tensor import Tensor


def _dims(name: str, x: Any, s: Any, dim: Any) -> tuple[list[int], list[int | None]]:
    """Dimensions and sizes of a transform between real and complex, which halves the last dimension."""
    dims, sizes = dims_and_sizes(name, x, s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    return dims, sizes


def _complex(name: str, input: Any, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    dims, sizes = dims_and_sizes(name, input, s, dim)
    return complex_transform(
        resized(name, floating(name, input), dims, sizes), tuple(dims), forward, scaling(name, norm, forward)
    )


def _from_real(name: str, input: Any, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    x = real(name, input, "real-valued")
    dims, sizes = _dims(name, x, s, dim)
    divisor = scaling(name, norm, forward)
    half = real_transform(resized(name, x, dims, sizes), dims[-1], divisor)
    half = half if forward else half.conj()
    return complex_transform(half, tuple(dims[:-1]), forward, divisor) if dims[:-1] else half.resolve_conj()


def _to_real(name: str, input: Any, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    x = complex_of(name, input)
    dims, sizes = _dims(name, x, s, dim)
    last, divisor = sizes[-1], scaling(name, norm, forward)
    size = points(name, 2 * (x.shape[dims[-1]] - 1) if last is None else last)
    x = resized(name, x, dims, [*sizes[:-1], size // 2 + 1])
    if dims[:-1]:
        x = complex_transform(x, tuple(dims[:-1]), forward, divisor)
    return real_inverse_transform(x.conj() if forward else x, dims[-1], size, divisor)


@composite("fft", method=None, out=True)
def fft_fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Transform along several dimensions (all by default), cut or filled with zeros to the sizes `s`.

    >>> import tenfold
    >>> tenfold.fft.fftn(tenfold.ones(2, 2))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    return _complex("fft.fftn", input, s, dim, norm, forward=True)


@composite("fft", method=None, out=True)
def fft_ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Inverse of `fftn`.

    >>> import tenfold
    >>> tenfold.fft.ifftn(tenfold.ones(2, 2)).real
    tensor([[1., 0.],
            [0., 0.]])
    """
    return _complex("fft.ifftn", input, s, dim, norm, forward=False)


@composite("fft", method=None, out=True)
def fft_rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Transform of real numbers along several dimensions; the last keeps size // 2 + 1 values.

    >>> import tenfold
    >>> tenfold.fft.rfftn(tenfold.ones(2, 4)).shape
    tenfold.Size([2, 3])
    """
    return _from_real("fft.rfftn", input, s, dim, norm, forward=True)


@composite("fft", method=None, out=True)
def fft_irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Inverse of `rfftn`. Dtype: real.

    >>> import tenfold
    >>> tenfold.fft.irfftn(tenfold.fft.rfftn(tenfold.ones(2, 2)))
    tensor([[1., 1.],
            [1., 1.]])
    """
    return _to_real("fft.irfftn", input, s, dim, norm, forward=False)


@composite("fft", method=None, out=True)
def fft_hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Transform of a signal that is its own conjugate reversed along several dimensions. Dtype: real.

    >>> import tenfold
    >>> tenfold.fft.hfftn(tenfold.ones(2, 2))
    tensor([[4., 0.],
            [0., 0.]])
    """
    return _to_real("fft.hfftn", input, s, dim, norm, forward=True)


@composite("fft", method=None, out=True)
def fft_ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Inverse of `hfftn`.

    >>> import tenfold
    >>> tenfold.fft.ihfftn(tenfold.ones(2, 2)).real
    tensor([[1., 0.],
            [0., 0.]])
    """
    return _from_real("fft.ihfftn", input, s, dim, norm, forward=False)


@composite("fft", method=None, out=True)
def fft_fft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`fftn` along two dimensions, by default the last two.

    >>> import tenfold
    >>> tenfold.fft.fft2(tenfold.ones(2, 2))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    return fft_fftn(input, s, dim, norm)


@composite("fft", method=None, out=True)
def fft_ifft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`ifftn` along two dimensions, by default the last two.

    >>> import tenfold
    >>> tenfold.fft.ifft2(tenfold.ones(2, 2)).real
    tensor([[1., 0.],
            [0., 0.]])
    """
    return fft_ifftn(input, s, dim, norm)


@composite("fft", method=None, out=True)
def fft_rfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`rfftn` along two dimensions, by default the last two.

    >>> import tenfold
    >>> tenfold.fft.rfft2(tenfold.ones(2, 4)).shape
    tenfold.Size([2, 3])
    """
    return fft_rfftn(input, s, dim, norm)


@composite("fft", method=None, out=True)
def fft_irfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`irfftn` along two dimensions, by default the last two.

    >>> import tenfold
    >>> tenfold.fft.irfft2(tenfold.fft.rfft2(tenfold.ones(2, 2)))
    tensor([[1., 1.],
            [1., 1.]])
    """
    return fft_irfftn(input, s, dim, norm)


@composite("fft", method=None, out=True)
def fft_hfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`hfftn` along two dimensions, by default the last two.

    >>> import tenfold
    >>> tenfold.fft.hfft2(tenfold.ones(2, 2))
    tensor([[4., 0.],
            [0., 0.]])
    """
    return fft_hfftn(input, s, dim, norm)


@composite("fft", method=None, out=True)
def fft_ihfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`ihfftn` along two dimensions, by default the last two.

    >>> import tenfold
    >>> tenfold.fft.ihfft2(tenfold.ones(2, 2)).real
    tensor([[1., 0.],
            [0., 0.]])
    """
    return fft_ihfftn(input, s, dim, norm)
