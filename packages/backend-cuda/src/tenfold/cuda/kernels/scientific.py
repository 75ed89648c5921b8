"""Operators of tenfold-scientific: Fourier transforms by cuFFT."""

from __future__ import annotations

from typing import Any

from tenfold.cuda.attaching import kernel
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op

# The array module's name for a divisor depends on the direction: "backward" leaves the forward transform as it is.
FORWARD = {"none": "backward", "root": "ortho", "count": "forward"}
BACKWARD = {"none": "forward", "root": "ortho", "count": "backward"}


@kernel(op.complex_transform, device="cuda")
def complex_transform(input: Any, dim: Any, forward: bool, divisor: str) -> Any:
    transform, norm = (xp.fft.fft, FORWARD[divisor]) if forward else (xp.fft.ifft, BACKWARD[divisor])
    for d in reversed(dim):
        input = transform(input, axis=d, norm=norm)
    return input if dim else input.astype("c16" if input.dtype.itemsize * (1 + (input.dtype.kind != "c")) == 16 else "c8")


@kernel(op.real_transform, device="cuda")
def real_transform(input: Any, dim: int, divisor: str) -> Any:
    return xp.fft.rfft(input, axis=dim, norm=FORWARD[divisor])


@kernel(op.real_inverse_transform, device="cuda")
def real_inverse_transform(input: Any, dim: int, size: int, divisor: str) -> Any:
    return xp.fft.irfft(input, size, axis=dim, norm=BACKWARD[divisor])
