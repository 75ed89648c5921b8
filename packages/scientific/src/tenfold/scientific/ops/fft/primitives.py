"""The three transforms that all others are made of: complex, real to half of a complex spectrum, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import primitive
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.tensor.tensor import Tensor


def _spectrum(dtype: Any) -> Any:
    return dtype if dtype.kind == "c" else f"c{2 * dtype.itemsize}"


def _with_size(name: str, shape: Sequence[int], dim: int, size: Callable[[int], int]) -> list[int]:
    d = wrap_dim(dim, len(shape), name)
    return [size(n) if i == d else n for i, n in enumerate(shape)]


@primitive("fft", method=None)
def complex_transform(input: Tensor, dim: Any, forward: bool, divisor: str) -> Tensor:
    """Sums over x_j exp(-+2 pi i j k / n) along dimensions, - if `forward`; what `fft.fft` and its like run.

    `dim`: a tuple of dimensions counted from the front. `divisor`: "none", "root" (of the number of points) or "count".

    >>> import tenfold
    >>> tenfold.op.complex_transform(tenfold.tensor([1.0, 2.0]), (0,), True, "none")
    tensor([ 3.+0.j, -1.+0.j])
    """


@complex_transform.rule
def _(input: Any, dim: Any, forward: bool, divisor: str) -> Meta:
    for d in dim:
        wrap_dim(d, len(input.shape), "complex_transform")
    return Meta(input.shape, _spectrum(input.dtype))


@primitive("fft", method=None)
def real_transform(input: Tensor, dim: int, divisor: str) -> Tensor:
    """The first n // 2 + 1 sums over x_j exp(-2 pi i j k / n) of real numbers: what `fft.rfft` runs.

    >>> import tenfold
    >>> tenfold.op.real_transform(tenfold.tensor([1.0, 2.0]), 0, "none")
    tensor([ 3.+0.j, -1.+0.j])
    """


@real_transform.rule
def _(input: Any, dim: int, divisor: str) -> Meta:
    return Meta(_with_size("real_transform", input.shape, dim, lambda n: n // 2 + 1), _spectrum(input.dtype))


@primitive("fft", method=None)
def real_inverse_transform(input: Tensor, dim: int, size: int, divisor: str) -> Tensor:
    """The `size` real sums over a spectrum of which the first half is given: what `fft.irfft` runs.

    >>> import tenfold
    >>> tenfold.op.real_inverse_transform(tenfold.tensor([3.0 + 0j, -1.0]), 0, 2, "count")
    tensor([1., 2.])
    """


@real_inverse_transform.rule
def _(input: Any, dim: int, size: int, divisor: str) -> Meta:
    return Meta(_with_size("real_inverse_transform", input.shape, dim, lambda _: size), f"f{input.dtype.itemsize // 2}")
