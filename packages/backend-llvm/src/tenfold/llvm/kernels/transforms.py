"""Fourier transforms of tensors of which nothing is recorded: quick functions that ask NumPy at once, for tenfold-scientific's.

They are those that the operators' kernels call, with the same arguments. What they do not know is left to the composites, by
NotImplemented or by any exception.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.llvm.kernels.attaching import quickly
from tenfold.llvm.quick_views import INTS, free, quietly
from tenfold.tensor.tensor import wrap

REAL = frozenset(np.dtype(name) for name in ("f4", "f8"))
COMPLEX = frozenset(np.dtype(name) for name in ("c8", "c16"))
ANY = REAL | COMPLEX
SPECTRA = {np.dtype(given): np.dtype(made) for given, made in (("f4", "c8"), ("f8", "c16"), ("c8", "c8"), ("c16", "c16"))}
Dims = tuple[int, ...]


def _alone(transform: Any, dtypes: frozenset[Any], input: Any, n: Any, dim: Any, norm: Any) -> Any:
    """A transform along one dimension."""
    array = input._array
    if not free(input) or array.dtype not in dtypes or type(dim) is not int or not array.size or not array.ndim:
        return NotImplemented
    if n is not None and (type(n) is not int or not array.flags.c_contiguous):  # cut or filled, it lies row by row
        return NotImplemented
    return wrap(quietly(transform, array, n, dim, norm), CPU)


def _complex(transform: Any, input: Any, n: Any, dim: Any, norm: Any) -> Any:
    """The same, between complex numbers: where sizes stay, into a new array that NumPy need not find out about."""
    array = input._array
    if n is not None or not array.flags.c_contiguous or array.dtype not in SPECTRA:
        return _alone(transform, ANY, input, n, dim, norm)
    if not free(input) or type(dim) is not int or not array.size or not array.ndim:
        return NotImplemented
    made = np.empty(array.shape, SPECTRA[array.dtype])
    quietly(transform, array, None, dim, norm, made)
    return wrap(made, CPU)


def fft_fft(input: Any, n: Any = None, dim: Any = -1, norm: Any = None) -> Any:
    """`fft`."""
    return _complex(np.fft.fft, input, n, dim, norm)


def fft_ifft(input: Any, n: Any = None, dim: Any = -1, norm: Any = None) -> Any:
    """`ifft`."""
    return _complex(np.fft.ifft, input, n, dim, norm)


def fft_rfft(input: Any, n: Any = None, dim: Any = -1, norm: Any = None) -> Any:
    """`rfft`."""
    return _alone(np.fft.rfft, REAL, input, n, dim, norm)


def fft_irfft(input: Any, n: Any = None, dim: Any = -1, norm: Any = None) -> Any:
    """`irfft`."""
    return _alone(np.fft.irfft, COMPLEX, input, n, dim, norm)


def fft_hfft(input: Any, n: Any = None, dim: Any = -1, norm: Any = None) -> Any:
    """`hfft`."""
    return _alone(np.fft.hfft, COMPLEX, input, n, dim, norm)


def fft_ihfft(input: Any, n: Any = None, dim: Any = -1, norm: Any = None) -> Any:
    """`ihfft`."""
    return _alone(np.fft.ihfft, REAL, input, n, dim, norm)


def _dims(input: Any, dtypes: frozenset[Any], s: Any, dim: Any) -> Dims | None:
    """The dimensions to transform, counted from the front; None where the composite has to see, also where sizes are given."""
    array = input._array
    if not free(input) or array.dtype not in dtypes or s is not None or not array.size:
        return None
    n = array.ndim
    if dim is None:
        return tuple(range(n)) or None
    if type(dim) not in (tuple, list) or set(map(type, dim)) != INTS or min(dim) < -n or max(dim) >= n:
        return None
    found = tuple([d % n for d in dim])
    return found if len(set(found)) == len(found) else None


def _each(transform: Any, array: Any, dims: Dims, norm: Any) -> Any:
    """One transform after the other, along the last dimension first; `array` is nobody else's and of complex numbers."""
    for d in reversed(dims):
        array = transform(array, None, d, norm, array)
    return array


def _several(transform: Any, input: Any, s: Any, dim: Any, norm: Any) -> Any:
    dims = _dims(input, ANY, s, dim)
    return NotImplemented if dims is None else wrap(quietly(_all, transform, input._array, dims, norm), CPU)


def _all(transform: Any, array: Any, dims: Dims, norm: Any) -> Any:
    return _each(transform, transform(array, None, dims[-1], norm), dims[:-1], norm)


def fft_fftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
    """`fftn`."""
    return _several(np.fft.fft, input, s, dim, norm)


def fft_ifftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
    """`ifftn`."""
    return _several(np.fft.ifft, input, s, dim, norm)


def fft_fft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None) -> Any:
    """`fft2`."""
    return _several(np.fft.fft, input, s, dim, norm)


def fft_ifft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None) -> Any:
    """`ifft2`."""
    return _several(np.fft.ifft, input, s, dim, norm)


def _half(array: Any, dims: Dims, norm: Any) -> Any:
    return _each(np.fft.fft, np.fft.rfft(array, None, dims[-1], norm), dims[:-1], norm)


def _whole(array: Any, dims: Dims, norm: Any) -> Any:
    if len(dims) > 1:
        array = _all(np.fft.ifft, array, dims[:-1], norm)
    return np.fft.irfft(array, None, dims[-1], norm)


def fft_rfftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
    """`rfftn`."""
    dims = _dims(input, REAL, s, dim)
    return NotImplemented if dims is None else wrap(quietly(_half, input._array, dims, norm), CPU)


def fft_irfftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
    """`irfftn`."""
    dims = _dims(input, COMPLEX, s, dim)
    return NotImplemented if dims is None else wrap(quietly(_whole, input._array, dims, norm), CPU)


def fft_rfft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None) -> Any:
    """`rfft2`."""
    return fft_rfftn(input, s, dim, norm)


def fft_irfft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None) -> Any:
    """`irfft2`."""
    return fft_irfftn(input, s, dim, norm)


def _turned(input: Any, dim: Any, up: int) -> Any:
    """The places of dimensions moved by half of them, `up` more where that is half of an odd number."""
    array = input._array
    if not free(input) or not array.flags.c_contiguous or not array.ndim or not array.size:
        return NotImplemented
    dims = range(array.ndim) if dim is None else (dim,) if type(dim) is int else dim
    if type(dims) not in (range, tuple, list) or not dims or set(map(type, dims)) != INTS:
        return NotImplemented
    for d in dims:
        array = _moved(array, d, (array.shape[d] + up) // 2)
    return wrap(array, CPU)


def _moved(array: Any, d: int, shift: int) -> Any:
    lead = (slice(None),) * (d % array.ndim)
    first = array.shape[d] - shift
    return np.concatenate((array[(*lead, slice(first, None))], array[(*lead, slice(first))]), d)


def fft_fftshift(input: Any, dim: Any = None) -> Any:
    """`fftshift`."""
    return _turned(input, dim, 0)


def fft_ifftshift(input: Any, dim: Any = None) -> Any:
    """`ifftshift`."""
    return _turned(input, dim, 1)


quickly(
    fft_fft, fft_ifft, fft_rfft, fft_irfft, fft_hfft, fft_ihfft, fft_fftn, fft_ifftn, fft_fft2, fft_ifft2, fft_rfftn, fft_irfftn,
    fft_rfft2, fft_irfft2, fft_fftshift, fft_ifftshift,
)  # fmt: skip
