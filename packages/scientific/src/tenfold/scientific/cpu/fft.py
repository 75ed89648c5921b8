"""NumPy (pocketfft) kernels of the Fourier transforms, in the precision of their input."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op

# NumPy's name for a divisor depends on the direction: "backward" leaves the forward transform as it is.
_FORWARD: dict[str, Any] = {"none": "backward", "root": "ortho", "count": "forward"}
_BACKWARD: dict[str, Any] = {"none": "forward", "root": "ortho", "count": "backward"}


@kernel(op.complex_transform, device="cpu")
@quiet
def complex_transform(input: Any, dim: Any, forward: bool, divisor: str) -> Any:
    transform, norm = (np.fft.fft, _FORWARD[divisor]) if forward else (np.fft.ifft, _BACKWARD[divisor])
    for d in reversed(dim):
        input = transform(input, axis=d, norm=norm)
    return input if dim else input.astype(np.result_type(input.dtype, np.complex64))


@kernel(op.real_transform, device="cpu")
@quiet
def real_transform(input: Any, dim: int, divisor: str) -> Any:
    return np.fft.rfft(input, axis=dim, norm=_FORWARD[divisor])


@kernel(op.real_inverse_transform, device="cpu")
@quiet
def real_inverse_transform(input: Any, dim: int, size: int, divisor: str) -> Any:
    return np.fft.irfft(input, size, axis=dim, norm=_BACKWARD[divisor])
