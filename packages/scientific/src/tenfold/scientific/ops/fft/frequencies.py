"""The frequencies of a spectrum's values, and spectra with the zero frequency in the middle."""

from __future__ import annotations

from math import inf
from typing import Any

from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.dispatch.spellings import as_dims
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes


def _scaled(name: str, counts: Any, n: int, d: float, dtype: Any) -> Any:
    dtype = dtype or dtypes.get_default_dtype()
    if dtype.category < 2:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    return counts.to(dtype) * (1.0 / (n * d) if n * d else inf)  # 0 points, or all at one place, have no frequency


@composite("fft", method=None, out="filled")
def fft_fftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The frequencies of `fft` of n points at distances d: 0, 1, ... and then the negative ones up to -1, over n d.

    >>> import tenfold
    >>> tenfold.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    half = (n + 1) // 2
    counts = op.cat([op.arange(half, device=device), op.arange(half - n, 0, device=device)])
    return _scaled("fft.fftfreq", counts, n, d, dtype).requires_grad_(requires_grad)


@composite("fft", method=None, out="filled")
def fft_rfftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The frequencies of `rfft` of n points at distances d: 0, 1, ..., n // 2 over n d.

    >>> import tenfold
    >>> tenfold.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    return _scaled("fft.rfftfreq", op.arange(n // 2 + 1, device=device), n, d, dtype).requires_grad_(requires_grad)


@composite("fft", method=None)
def fft_fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """A spectrum with the zero frequency in the middle of the dimensions `dim`, by default all.

    >>> import tenfold
    >>> tenfold.fft.fftshift(tenfold.tensor([0, 1, 2, -2, -1]))
    tensor([-2, -1,  0,  1,  2])
    """
    dims = _dims("fft.fftshift", input, dim)
    return input.roll([input.size(d) // 2 for d in dims], dims)


@composite("fft", method=None)
def fft_ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Inverse of `fftshift`.

    >>> import tenfold
    >>> tenfold.fft.ifftshift(tenfold.tensor([-2, -1, 0, 1, 2]))
    tensor([ 0,  1,  2, -2, -1])
    """
    dims = _dims("fft.ifftshift", input, dim)
    return input.roll([(input.size(d) + 1) // 2 for d in dims], dims)


def _dims(name: str, input: Any, dim: Any) -> list[int]:
    given = range(input.dim()) if dim is None else as_dims(dim, name, "dim")
    dims = [given] if isinstance(given, int) else given
    if not len(dims):
        raise RuntimeError(f"{name}: `shifts` required: there is no dimension to shift along; pass dim= or a tensor that has one")
    return [wrap_dim(d, input.dim(), name) for d in dims]
